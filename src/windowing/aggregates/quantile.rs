//! Quantiles, by one of three sketches.

use crate::error::Result;
use crate::sketch::{DdSketch, FixedHistogram, TDigest, check_quantiles};
use crate::windowing::aggregates::Number;
use crate::windowing::function::AggregateFunction;
use crate::windowing::{Data, StateData};

/// A sketch that answers quantiles.
pub trait QuantileSketch: StateData {
    fn add(&mut self, value: f64);
    fn merge(&mut self, other: &Self);
    /// `None` for an empty sketch.
    fn quantiles<const N: usize>(&self, quantiles: &[f64; N]) -> Option<[f64; N]>;
}

impl QuantileSketch for TDigest {
    fn add(&mut self, value: f64) {
        TDigest::add(self, value);
    }
    fn merge(&mut self, other: &Self) {
        TDigest::merge(self, other);
    }
    fn quantiles<const N: usize>(&self, quantiles: &[f64; N]) -> Option<[f64; N]> {
        let answers: Option<Vec<f64>> = TDigest::quantiles(self, quantiles).into_iter().collect();
        answers?.try_into().ok()
    }
}

macro_rules! one_by_one {
    ($($sketch:ty),+) => {
        $(impl QuantileSketch for $sketch {
            fn add(&mut self, value: f64) {
                <$sketch>::add(self, value);
            }
            fn merge(&mut self, other: &Self) {
                <$sketch>::merge(self, other);
            }
            fn quantiles<const N: usize>(&self, quantiles: &[f64; N]) -> Option<[f64; N]> {
                let answers: Option<Vec<f64>> = quantiles.iter().map(|q| self.quantile(*q)).collect();
                answers?.try_into().ok()
            }
        })+
    };
}

one_by_one!(DdSketch, FixedHistogram);

/// Quantiles of a field, from 0 to 1, in the order in which they are named; `None` for no elements. NaN is left out.
///
/// [`t_digest`](Self::t_digest) bounds the error in rank and is exact for small windows, [`dd_sketch`](Self::dd_sketch)
/// bounds the relative error of the value, [`histogram`](Self::histogram) answers as Prometheus would.
#[derive(Debug, Clone)]
pub struct Quantiles<S, F, const N: usize> {
    empty: S,
    quantiles: [f64; N],
    field: F,
}

impl<F, const N: usize> Quantiles<TDigest, F, N> {
    /// By a [`TDigest`] of compression 200: exact for up to 400 elements.
    ///
    /// # Errors
    /// Kind Usage for a quantile outside 0 to 1.
    pub fn t_digest<T, V: Number>(quantiles: [f64; N], field: F) -> Result<Self>
    where
        F: Fn(&T) -> V,
    {
        check_quantiles(&quantiles)?;
        Ok(Quantiles { empty: TDigest::default(), quantiles, field })
    }

    /// With another compression: twice as much halves the error and doubles the memory.
    ///
    /// # Errors
    /// Kind Usage for a compression outside 20 to 10000.
    pub fn compression(self, compression: f64) -> Result<Self> {
        Ok(Quantiles { empty: TDigest::new(compression)?, ..self })
    }
}

impl<F, const N: usize> Quantiles<DdSketch, F, N> {
    /// By a [`DdSketch`] with that relative accuracy, for instance 0.01.
    ///
    /// # Errors
    /// Kind Usage for a quantile outside 0 to 1, or an accuracy outside 0.001 to 0.5.
    pub fn dd_sketch<T, V: Number>(accuracy: f64, quantiles: [f64; N], field: F) -> Result<Self>
    where
        F: Fn(&T) -> V,
    {
        check_quantiles(&quantiles)?;
        Ok(Quantiles { empty: DdSketch::new(accuracy)?, quantiles, field })
    }
}

impl<F, const N: usize> Quantiles<FixedHistogram, F, N> {
    /// By a [`FixedHistogram`] with these upper bounds.
    ///
    /// # Errors
    /// Kind Usage for a quantile outside 0 to 1, or bounds that are not finite and ascending.
    pub fn histogram<T, V: Number>(bounds: &[f64], quantiles: [f64; N], field: F) -> Result<Self>
    where
        F: Fn(&T) -> V,
    {
        check_quantiles(&quantiles)?;
        Ok(Quantiles { empty: FixedHistogram::new(bounds)?, quantiles, field })
    }
}

impl<T, V, S, F, const N: usize> AggregateFunction<T> for Quantiles<S, F, N>
where
    V: Number,
    S: QuantileSketch,
    F: Fn(&T) -> V + Data,
{
    type Accumulator = S;
    type Output = Option<[f64; N]>;

    fn create_accumulator(&self) -> S {
        self.empty.clone()
    }
    #[inline]
    fn add(&self, element: &T, sketch: &mut S) {
        sketch.add((self.field)(element).to_f64());
    }
    fn get_result(&self, sketch: &S) -> Option<[f64; N]> {
        sketch.quantiles(&self.quantiles)
    }
    fn merge(&self, sketch: &mut S, other: &S) {
        sketch.merge(other);
    }
}

/// One quantile of a field, by a histogram with fixed bounds, as `histogram_quantile` of PromQL; `None` for no elements.
#[derive(Debug, Clone)]
pub struct HistogramQuantile<F>(Quantiles<FixedHistogram, F, 1>);

impl<F> HistogramQuantile<F> {
    /// # Errors
    /// Kind Usage for a quantile outside 0 to 1, or upper bounds that are not finite and ascending.
    pub fn of<T, V: Number>(bounds: &[f64], quantile: f64, field: F) -> Result<Self>
    where
        F: Fn(&T) -> V,
    {
        Ok(HistogramQuantile(Quantiles::histogram(bounds, [quantile], field)?))
    }
}

impl<T, V: Number, F: Fn(&T) -> V + Data> AggregateFunction<T> for HistogramQuantile<F> {
    type Accumulator = FixedHistogram;
    type Output = Option<f64>;

    fn create_accumulator(&self) -> FixedHistogram {
        self.0.create_accumulator()
    }
    #[inline]
    fn add(&self, element: &T, histogram: &mut FixedHistogram) {
        self.0.add(element, histogram);
    }
    fn get_result(&self, histogram: &FixedHistogram) -> Option<f64> {
        self.0.get_result(histogram).map(|[quantile]| quantile)
    }
    fn merge(&self, histogram: &mut FixedHistogram, other: &FixedHistogram) {
        histogram.merge(other);
    }
}
