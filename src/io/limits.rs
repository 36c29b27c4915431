//! What the system allows this process.

/// How many files the process may have open at once (`ulimit -n`); `None` where the system does not say.
pub fn open_files() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_system_says_how_many_files_may_be_open() {
        assert!(super::open_files().is_none_or(|most| most > 3));
    }
}
