//! Cases by seed: all windows with all triggers, evictors and functions, and elements around a clock that moves on.

use super::case::{Case, Ev, Evicting, Firing, Function, Step, Windows};
use crate::random::Random;

fn pick<T: Clone>(random: &mut Random, of: &[T]) -> T {
    of[random.below(of.len() as u64) as usize].clone()
}

fn windows(random: &mut Random) -> Windows {
    let size = pick(random, &[1, 7, 10, 20, 50]);
    let (long, slide) = pick(random, &[(10, 5), (20, 5), (10, 4), (7, 3), (15, 10), (5, 8), (3, 10), (12, 12)]);
    let offset = if random.below(2) == 0 { 0 } else { random.between(1 - size, size - 1) };
    let shift = if random.below(2) == 0 { 0 } else { random.between(1 - slide, slide - 1) };
    let (count, every) = (1 + random.below(4), 1 + random.below(4));
    match random.below(16) {
        0 | 1 => Windows::Tumbling { size, offset },
        2..=4 => Windows::Sliding { size: long, slide, offset: shift },
        5 => Windows::Cumulating { size: 20, step: pick(random, &[5, 10, 20]), offset: random.between(-19, 19) },
        6..=8 => Windows::Session { gap: pick(random, &[2, 5, 10, 15]) },
        9 => Windows::DynamicSession,
        10 => Windows::Global { end_of_stream: random.below(2) == 0 },
        11 => Windows::CountTumbling { size: count },
        12 => Windows::CountSliding { size: count, slide: every },
        13 => Windows::ClockTumbling { size, offset },
        14 => Windows::ClockSliding { size: long, slide, offset: shift },
        _ => Windows::ClockSession { gap: pick(random, &[1, 3, 10]) },
    }
}

fn firing(random: &mut Random, windows: &Windows) -> Firing {
    let interval = pick(random, &[2, 3, 5, 7, 30]);
    let n = 1 + random.below(4);
    loop {
        let firing = match random.below(9) {
            0 => Firing::EventTime,
            1 => Firing::ProcessingTime,
            2 => Firing::Count(n),
            3 => Firing::Continuous(interval),
            4 => Firing::ContinuousClock(interval),
            5 => Firing::Delta(random.between(0, 6)),
            6 => Firing::EarlyCount(n),
            7 => Firing::SessionCap(pick(random, &[4, 15, 20, 30])),
            _ => Firing::Never,
        };
        let fits = match firing {
            Firing::Delta(_) | Firing::Never => !windows.is_merging(),
            Firing::EventTime | Firing::ProcessingTime | Firing::SessionCap(_) => !windows.is_global(),
            _ => true,
        };
        if fits {
            return firing;
        }
    }
}

/// The clock of the elements stands here at first: around 0 mostly, sometimes near the ends of time.
fn origin(random: &mut Random) -> i64 {
    pick(random, &[0, 0, 0, 0, -40, 1000, i64::MIN + 200, i64::MAX - 1000])
}

fn steps(random: &mut Random, lateness: i64) -> Vec<Step> {
    let (keys, spread) = (1 + random.below(4), pick(random, &[3, 8, 20]));
    let origin = origin(random);
    let near_the_start = origin < -1000;
    let (mut now, mut clock, mut steps) = (origin, 0, Vec::new());
    let reach = lateness.min(40);
    for _ in 0..5 + random.below(36) {
        now = now.saturating_add(pick(random, &[0, 0, 1, 1, 2, 5, 12]));
        steps.push(match random.below(20) {
            0..=5 => {
                let behind = pick(random, &[0, 1, spread, spread + reach]);
                Step::Watermark(if random.below(40) == 0 { now.saturating_add(60) } else { now - behind })
            }
            6 | 7 => {
                clock += random.between(-2, 12);
                Step::Clock(clock)
            }
            _ => {
                let far = if random.below(5) == 0 && !near_the_start { 3 * spread + reach } else { spread };
                let (t, v) = (now - random.between(0, far), random.between(-9, 20));
                let gap = pick(random, &[1, 2, 5, 10, 20]);
                Step::Element(Ev { k: pick(random, &["a", "b", "c", "d"][..keys as usize]).to_string(), t, v, gap })
            }
        });
    }
    steps
}

pub fn case(random: &mut Random) -> Case {
    let windows = windows(random);
    let counts = matches!(windows, Windows::CountTumbling { .. } | Windows::CountSliding { .. });
    let trigger = (!counts && random.below(5) < 3).then(|| {
        let firing = firing(random, &windows);
        if random.below(4) == 0 { Firing::Purging(Box::new(firing)) } else { firing }
    });
    let evictor = (random.below(3) == 0).then(|| {
        let evicting = match random.below(3) {
            0 => Evicting::Count(random.below(4)),
            1 => Evicting::Time(pick(random, &[0, 3, 8, 15])),
            _ => Evicting::Delta(random.between(0, 6)),
        };
        (evicting, random.below(2) == 0)
    });
    let lateness = pick(random, &[0, 0, 0, 1, 5, 10, 30, i64::MAX]);
    let function = [Function::Count, Function::Sum, Function::Min, Function::Max, Function::Avg, Function::List];
    Case {
        windows,
        trigger,
        evictor,
        lateness,
        side_output: random.below(2) == 0,
        function: pick(random, &function),
        steps: steps(random, lateness),
    }
}
