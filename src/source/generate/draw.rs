//! Random numbers that are functions of a key and a position, so that they can be drawn in any order.

/// The fractional part of the golden ratio: consecutive positions are far apart.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A source of random numbers; each of its positions holds one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Draw(mix(seed.wrapping_add(STEP)))
    }

    /// An independent source for a part.
    #[inline]
    pub(super) fn part(self, number: u64) -> Draw {
        Draw(mix(self.0 ^ mix(number.wrapping_add(1).wrapping_mul(STEP))))
    }

    #[inline]
    pub(super) fn bits(self, at: u64) -> u64 {
        mix(self.0.wrapping_add(at.wrapping_mul(STEP)))
    }

    /// A number below `bound`, which is not 0; every one as likely as the others to within 2^-64.
    #[inline]
    pub(super) fn below(self, at: u64, bound: u64) -> u64 {
        ((u128::from(self.bits(at)) * u128::from(bound)) >> 64) as u64
    }

    /// From 0 to 1, without 1.
    #[inline]
    pub(super) fn unit(self, at: u64) -> f64 {
        (self.bits(at) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The finisher of SplitMix64: each bit of the input changes half of those of the output.
#[inline]
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
