use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use super::*;
use crate::random::Random;
use crate::sketch::HyperLogLog;
use crate::windowing::contract::check_aggregate;
use crate::windowing::function::AggregateFunction;
use crate::windowing::hash::key_hash;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Payment {
    user: String,
    amount: i64,
    price: f64,
    time: i64,
    failed: bool,
    number: usize,
}

fn payments(random: &mut Random, count: usize) -> Vec<Payment> {
    let payment = |number| Payment {
        user: format!("user-{}", random.below(6)),
        amount: random.between(-9, 9),
        // Eighths, so that sums do not depend on their order.
        price: random.between(-800, 800) as f64 / 8.0,
        time: random.between(0, 20),
        failed: random.below(4) == 0,
        number,
    };
    (0..count).map(payment).collect()
}

fn add<A: AggregateFunction<Payment>>(aggregate: &A, payments: &[Payment]) -> A::Accumulator {
    let mut accumulator = aggregate.create_accumulator();
    payments.iter().for_each(|payment| aggregate.add(payment, &mut accumulator));
    accumulator
}

fn result<A: AggregateFunction<Payment>>(aggregate: &A, payments: &[Payment]) -> A::Output {
    aggregate.get_result(&add(aggregate, payments))
}

/// Checks the contract of aggregate functions, and that the result is what `expected` says.
fn check<A>(aggregate: &A, expected: impl Fn(&[Payment]) -> A::Output, equal: impl Fn(&A::Output, &A::Output) -> bool)
where
    A: AggregateFunction<Payment>,
    A::Output: Debug + PartialEq,
{
    for seed in 0..40 {
        let payments = payments(&mut Random::new(seed), [0, 1, 2, 5, 12][seed as usize % 5]);
        assert_eq!(check_aggregate(aggregate, &payments), Ok(()), "seed {seed}");
        let (found, expected) = (result(aggregate, &payments), expected(&payments));
        assert!(equal(&found, &expected), "seed {seed}: {found:?}, expected {expected:?}");
    }
}

fn check_exactly<A>(aggregate: &A, expected: impl Fn(&[Payment]) -> A::Output)
where
    A: AggregateFunction<Payment>,
    A::Output: Debug + PartialEq,
{
    check(aggregate, expected, |a, b| a == b);
}

/// But for rounding.
fn near(a: &Option<f64>, b: &Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * b.abs().max(1.0),
        _ => a == b,
    }
}

/// The same however it was added up: rounded to steps that no value of the tests lies half-way between.
fn rounded(value: Option<f64>) -> Option<f64> {
    value.map(|value| (value * 987_654.321).round())
}

fn amount(payment: &Payment) -> i64 {
    payment.amount
}

fn price(payment: &Payment) -> f64 {
    payment.price
}

fn prices(payments: &[Payment]) -> Vec<f64> {
    let mut prices: Vec<f64> = payments.iter().map(price).collect();
    prices.sort_by(f64::total_cmp);
    prices
}

#[test]
fn counts_and_sums_are_0_for_no_elements() {
    check_exactly(&Count, |all| all.len() as u64);
    check_exactly(&Sum::of(amount), |all| all.iter().map(amount).sum());
    check_exactly(&Sum::of(price), |all| all.iter().map(price).sum());
    check_exactly(&Sum::of(|p: &Payment| p.time as u64), |all| all.iter().map(|p| p.time as u64).sum());
    check_exactly(&Sum::of(|p: &Payment| i128::from(p.amount) << 70), |all| {
        all.iter().map(|p| i128::from(p.amount) << 70).sum()
    });
}

#[test]
fn sums_of_integers_wrap_around_as_in_flink() {
    let mut two = payments(&mut Random::new(1), 2);
    (two[0].amount, two[1].amount) = (i64::MAX, 1);
    assert_eq!(result(&Sum::of(amount), &two), i64::MIN);
    assert_eq!(result(&Sum::of(|p: &Payment| p.amount as i32), &two), 0);
}

#[test]
fn the_lowest_and_the_highest_values_and_elements() {
    check_exactly(&Min::of(amount), |all| all.iter().map(amount).min());
    check_exactly(&Max::of(amount), |all| all.iter().map(amount).max());
    check_exactly(&Max::of(|p: &Payment| p.user.clone()), |all| all.iter().map(|p| p.user.clone()).max());
    check_exactly(&Min::of(price), |all| prices(all).first().copied());
    // Iterators take the last of equal maxima, Flink the first.
    check_exactly(&MinBy::of(amount), |all| all.iter().min_by_key(|p| p.amount).cloned());
    check_exactly(&MaxBy::of(amount), |all| all.iter().rev().max_by_key(|p| p.amount).cloned());
    check_exactly(&FirstBy::of(|p: &Payment| p.time), |all| all.iter().min_by_key(|p| p.time).cloned());
    check_exactly(&LastBy::of(|p: &Payment| p.time), |all| all.iter().max_by_key(|p| p.time).cloned());
}

#[test]
fn nan_is_the_highest_value() {
    let mut three = payments(&mut Random::new(1), 3);
    (three[0].price, three[1].price, three[2].price) = (1.0, f64::NAN, f64::INFINITY);
    assert_eq!(result(&Min::of(price), &three), Some(1.0));
    assert!(result(&Max::of(price), &three).is_some_and(f64::is_nan));
    assert_eq!(result(&MaxBy::of(price), &three).map(|p| p.number), Some(1));
}

#[test]
fn averages_and_variances() {
    fn squares(all: &[Payment]) -> f64 {
        let mean = all.iter().map(price).sum::<f64>() / all.len() as f64;
        all.iter().map(|p| (p.price - mean).powi(2)).sum()
    }
    let count = |all: &[Payment]| all.len() as f64;
    let population = |all: &[Payment]| (!all.is_empty()).then(|| squares(all) / count(all));
    let sample = |all: &[Payment]| (all.len() > 1).then(|| squares(all) / (count(all) - 1.0));
    check_exactly(&Average::of(amount), |all| {
        (!all.is_empty()).then(|| all.iter().map(amount).sum::<i64>() as f64 / count(all))
    });
    let root = |variance: Option<f64>| rounded(variance.map(f64::sqrt));
    check_exactly(&Variance::population(price).map_result(rounded), |all| rounded(population(all)));
    check_exactly(&Variance::sample(price).map_result(rounded), |all| rounded(sample(all)));
    check_exactly(&StdDev::population(price).map_result(rounded), |all| root(population(all)));
    check_exactly(&StdDev::sample(price).map_result(rounded), |all| root(sample(all)));
}

#[test]
fn a_variance_far_from_0_keeps_its_digits() {
    let far = Variance::population(|p: &Payment| 1e9 + p.number as f64);
    let (one, two) = (payments(&mut Random::new(1), 1_000), payments(&mut Random::new(2), 500));
    let mut accumulator = add(&far, &one);
    far.merge(&mut accumulator, &add(&far, &two));
    // 0 to 999 and 0 to 499.
    let numbers = || (0..1_000).chain(0..500).map(f64::from);
    let mean = numbers().sum::<f64>() / 1_500.0;
    let expected = numbers().map(|n| (n - mean).powi(2)).sum::<f64>() / 1_500.0;
    assert!((far.get_result(&accumulator).expect("values") / expected - 1.0).abs() < 1e-9);
}

#[test]
fn distinct_values_are_counted_exactly_or_about() {
    let user = |p: &Payment| p.user.clone();
    let users = |all: &[Payment]| all.iter().map(|p| &p.user).collect::<std::collections::HashSet<_>>().len() as u64;
    check_exactly(&CountDistinct::of(user), users);
    check_exactly(&ApproxCountDistinct::of(user), users);
    check(&ApproxCountDistinct::of(user).precision(4).expect("a good precision"), users, |&about, &exact| {
        about.abs_diff(exact) <= exact
    });
    assert!(ApproxCountDistinct::of(user).precision(3).is_err());
}

/// Numbers in a row and texts that are alike are what people count.
#[test]
fn hashes_of_keys_are_good_enough_for_hyper_log_log() {
    for seed in 0..8u64 {
        let (mut numbers, mut texts, mut pairs) =
            (HyperLogLog::default(), HyperLogLog::default(), HyperLogLog::default());
        let count = 30_000;
        for number in (0..count).map(|n| n + seed * 1_000_000_007) {
            numbers.add(key_hash(&number));
            texts.add(key_hash(&format!("user-{number}")));
            pairs.add(key_hash(&(number as u32 % 173, number as u32)));
        }
        for (name, sketch) in [("numbers", numbers), ("texts", texts), ("pairs", pairs)] {
            let error = sketch.estimate() / count as f64 - 1.0;
            assert!(error.abs() < 4.0 * sketch.standard_error(), "{name} {seed}: {error}");
        }
    }
}

#[test]
fn the_highest_elements_and_the_most_frequent_values() {
    let ranked = |all: &[Payment], k: usize| {
        let mut all = all.to_vec();
        all.sort_by_key(|p| Reverse(p.amount));
        all.truncate(k);
        all
    };
    check_exactly(&TopK::of(3, amount), |all| ranked(all, 3));
    check_exactly(&TopK::of(0, amount), |_| Vec::new());
    check_exactly(&TopK::of(2, |p: &Payment| Reverse(p.amount)), |all| {
        let mut all = all.to_vec();
        all.sort_by_key(|p| p.amount);
        all.truncate(2);
        all
    });

    let hitters = HeavyHitters::of(6, 6, |p: &Payment| p.user.clone()).expect("counters");
    let counts = hitters.map_result(|hitters| {
        assert!(hitters.is_sorted_by(|a, b| a.count >= b.count) && hitters.iter().all(|h| h.error == 0));
        hitters.into_iter().map(|h| (h.value, h.count)).collect::<HashMap<String, u64>>()
    });
    check_exactly(&counts, |all| {
        let mut counts = HashMap::new();
        all.iter().for_each(|p| *counts.entry(p.user.clone()).or_default() += 1);
        counts
    });
    assert_eq!(result(&HeavyHitters::of(2, 6, amount).expect("counters"), &payments(&mut Random::new(1), 50)).len(), 2);
    assert!(HeavyHitters::of(2, 0, amount).is_err());
}

#[test]
fn quantiles_by_each_sketch() {
    fn middle(all: &[Payment]) -> Option<[f64; 2]> {
        let prices = prices(all);
        let last = prices.len().checked_sub(1)?;
        let at = |place: f64| {
            prices[place.floor() as usize]
                + place.fract() * (prices[place.ceil() as usize] - prices[place.floor() as usize])
        };
        Some([at(0.5 * last as f64), at(0.95 * last as f64)])
    }
    let both_near =
        |a: &Option<[f64; 2]>, b: &Option<[f64; 2]>| (0..2).all(|i| near(&a.map(|a| a[i]), &b.map(|b| b[i])));
    check(&Quantiles::t_digest([0.5, 0.95], price).expect("good quantiles"), middle, both_near);
    check(
        &Quantiles::dd_sketch(0.01, [0.0, 0.5, 1.0], price).expect("good settings"),
        |all| {
            let prices = prices(all);
            let last = prices.len().checked_sub(1)?;
            Some([prices[0], prices[last / 2], prices[last]])
        },
        |a, b| match (a, b) {
            (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 0.01 * b.abs() + 1e-9),
            _ => a == b,
        },
    );
    let bounds = [-50.0, 0.0, 50.0, 100.0];
    let by_histogram = |all: &[Payment]| {
        let mut histogram = crate::sketch::FixedHistogram::new(&bounds).expect("good bounds");
        all.iter().for_each(|p| histogram.add(p.price));
        histogram.quantile(0.95)
    };
    check_exactly(&HistogramQuantile::of(&bounds, 0.95, price).expect("good bounds"), by_histogram);
    check_exactly(&Quantiles::histogram(&bounds, [0.95], price).expect("good bounds"), |all| {
        by_histogram(all).map(|quantile| [quantile])
    });
    let error = Quantiles::t_digest([0.5, 95.0], price).err().expect("no quantile");
    assert_eq!(error.message(), "expected a quantile from 0 to 1, found 95");
    assert!(Quantiles::t_digest([0.5], price).and_then(|q| q.compression(1.0)).is_err());
}

#[test]
fn error_rates_and_lists() {
    check_exactly(&ErrorRate::of(|p: &Payment| p.failed), |all| {
        let (total, errors) = (all.len() as u64, all.iter().filter(|p| p.failed).count() as u64);
        ErrorShare { total, errors, rate: (total > 0).then(|| errors as f64 / total as f64) }
    });
    check_exactly(&Collect::of(|p: &Payment| p.number), |all| all.iter().map(|p| p.number).collect());
}

#[test]
fn aggregates_are_made_of_aggregates() {
    let aggregate = (
        Count.filter(|p: &Payment| p.failed),
        Sum::of(amount).filter(|p: &Payment| p.amount > 0).map_result(|sum: i64| format!("{sum} in all")),
        // The type of the elements comes from where it is used.
        Count.map_result(|count| count > 3),
        Min::of(amount),
        (Max::of(amount), Count),
        Collect::of(|p: &Payment| p.number),
        MaxBy::of(amount),
        ErrorRate::of(|p: &Payment| p.failed).map_result(|share: ErrorShare| share.rate),
    );
    check_exactly(&aggregate, |all| {
        let failed = all.iter().filter(|p| p.failed).count() as u64;
        (
            failed,
            format!("{} in all", all.iter().map(amount).filter(|amount| *amount > 0).sum::<i64>()),
            all.len() > 3,
            all.iter().map(amount).min(),
            (all.iter().map(amount).max(), all.len() as u64),
            all.iter().map(|p| p.number).collect(),
            all.iter().rev().max_by_key(|p| p.amount).cloned(),
            (!all.is_empty()).then(|| failed as f64 / all.len() as f64),
        )
    });
}

#[test]
fn four_closures_are_an_aggregate() {
    let longest = Aggregate::new(
        String::new,
        |longest: &mut String, p: &Payment| {
            if p.user.len() > longest.len() {
                longest.clone_from(&p.user);
            }
        },
        |longest: &mut String, other: &String| {
            if other.len() > longest.len() {
                longest.clone_from(other);
            }
        },
        |longest: &String| longest.len(),
    );
    check_exactly(&longest, |all| all.iter().map(|p| p.user.len()).max().unwrap_or_default());
}

#[test]
fn accumulators_have_the_sizes_that_the_guide_says() {
    fn size<T, A: AggregateFunction<T>>(_: &A) -> usize {
        size_of::<A::Accumulator>()
    }
    let user = |p: &Payment| p.user.clone();
    assert_eq!(size::<Payment, _>(&Count), 8);
    assert_eq!(size(&Average::of(amount)), 16);
    assert_eq!(size(&Variance::population(amount)), 24);
    assert_eq!(size(&CountDistinct::of(user)), 48);
    assert_eq!(size(&ApproxCountDistinct::of(user)), 32);
    assert_eq!(size(&TopK::of(3, amount)), 32);
    assert_eq!(size(&HeavyHitters::of(3, 10, user).expect("counters")), 136);
    assert_eq!(size(&Quantiles::t_digest([0.5], amount).expect("good quantiles")), 104);
    assert_eq!(size(&Quantiles::dd_sketch(0.01, [0.5], amount).expect("good settings")), 160);
    assert_eq!(size(&HistogramQuantile::of(&[1.0], 0.5, amount).expect("good bounds")), 40);
    assert_eq!(size(&ErrorRate::of(|p: &Payment| p.failed)), 16);
}
