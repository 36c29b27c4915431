//! Which of two sessions that merge comes first in the order of values.
//!
//! Flink keeps the two in a Java `HashSet` and merges them in the order in which that gives them out: by the low bits
//! of their hashes, which say nothing. LISTAGG, ARRAY_AGG and the like show it (`638-agg-session-order`).

/// Buckets of a small `HashSet`.
const BUCKETS: u32 = 16;

/// Whether the values of the session `earlier` (start and end) come before those of `later`.
pub(super) fn earlier_first(earlier: [i64; 2], later: [i64; 2]) -> bool {
    // In one bucket, the later one was put in first.
    bucket(earlier) < bucket(later)
}

fn bucket([start, end]: [i64; 2]) -> u32 {
    let odd = ((end << 1) as u32).wrapping_add(1);
    let hash = (start as u32).wrapping_add(inverse(odd));
    (hash ^ (hash >> 16)) & (BUCKETS - 1)
}

/// The number that gives 1 when multiplied with an odd one.
fn inverse(odd: u32) -> u32 {
    // Right in the lowest three bits, which each step doubles.
    let mut inverse = odd;
    for _ in 0..4 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_an_odd_number_undoes_it() {
        for odd in [1, 3, 5, 0xdead_beef, u32::MAX] {
            assert_eq!(odd.wrapping_mul(inverse(odd)), 1);
        }
    }

    #[test]
    fn sessions_merge_in_flinks_order() {
        // As Flink 2.3 answered in case 638: seconds after 2024-05-01 12:00:00.
        let session = |from: i64, to: i64| [from, to].map(|second| 1_714_564_800_000 + second * 1000);
        assert!(!earlier_first(session(1, 6), session(9, 13)));
        assert!(!earlier_first(session(1, 17), session(20, 24)));
        assert!(earlier_first(session(30, 34), session(35, 39)));
        assert!(!earlier_first(session(30, 39), session(40, 44)));
    }
}
