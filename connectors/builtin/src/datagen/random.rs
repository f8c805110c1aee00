//! Random numbers as a function of where they are used.

/// A stream of random numbers that its key determines (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The stream of the row `row` in the stream of streams `seed`.
    pub(super) fn of(seed: u64, row: u64) -> Self {
        let mut random = Random(seed ^ row.wrapping_mul(0xd6e8_feb8_6659_fd93));
        // Neighbouring rows start far from each other.
        random.0 = random.next_u64();
        random
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `min` to `max`, both included.
    pub(super) fn between(&mut self, min: i128, max: i128) -> i128 {
        let range = max.wrapping_sub(min) as u128;
        let offset = if range <= u64::MAX.into() {
            // The high half of a product: no division for the ranges of whole numbers.
            (u128::from(self.next_u64()) * (range + 1)) >> 64
        } else {
            let number = u128::from(self.next_u64()) << 64 | u128::from(self.next_u64());
            range.checked_add(1).map_or(number, |count| number % count)
        };
        min.wrapping_add(offset as i128)
    }

    /// A number from 0 to below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_their_range() {
        let mut seen = [0; 5];
        for row in 0..5000 {
            let mut random = Random::of(1, row);
            let number = random.between(-2, 2);
            seen[(number + 2) as usize] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(
            seen.iter().all(|count| (800..1200).contains(count)),
            "{seen:?}"
        );
        let mut random = Random::of(0, 0);
        assert_eq!(random.between(7, 7), 7);
        for _ in 0..100 {
            random.between(i128::MIN, i128::MAX);
            assert!(
                (i128::MAX - 1..=i128::MAX).contains(&random.between(i128::MAX - 1, i128::MAX))
            );
        }
    }
}
