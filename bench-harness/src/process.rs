//! What the kernel says about a process.

use std::fs;
use std::time::Duration;

/// The kernel reports CPU time to user space in hundredths of a second, whatever its own clock.
const TICK: Duration = Duration::from_millis(10);

/// User and system time of all threads, those that have ended included. Zero where the kernel does not tell.
pub fn cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    TICK * u32::try_from(cpu_ticks(&stat).unwrap_or(0)).unwrap_or(u32::MAX)
}

/// Fields 14 and 15; the program's name before them may contain blanks and parentheses.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(ticks()? + ticks()?)
}

/// The most memory this process ever had resident. Zero where the kernel does not tell.
pub fn peak_rss_bytes() -> u64 {
    status_bytes(&fs::read_to_string("/proc/self/status").unwrap_or_default(), "VmHWM:")
}

/// A size in the text of `/proc/PID/status`; 0 if it is not there.
pub fn status_bytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_read_behind_any_program_name() {
        let stat = "7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 40 2 0 0 20 0";
        assert_eq!(cpu_ticks(stat), Some(42));
        assert_eq!(cpu_ticks(""), None);
    }

    #[test]
    fn this_process_has_used_memory() {
        assert!(peak_rss_bytes() > 0);
    }
}
