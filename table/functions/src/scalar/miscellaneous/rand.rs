//! `RAND` and `RAND_INTEGER`: Java's generator, so that a seed gives the same numbers as in Flink.

use std::sync::{Arc, Mutex, PoisonError};

use aquifer_types::Value;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, Float64Array, Int32Array};

use crate::column::Column;
use crate::definition::{BuiltIn, KernelArgs, Volatility};
use crate::error::{FunctionError, Result};
use crate::signature::{Kind, Returns, Signature};

/// `java.util.Random`: a linear congruential generator of 48 bits.
#[derive(Debug, Clone)]
struct Random(u64);

const MASK: u64 = (1 << 48) - 1;

impl Random {
    fn new(seed: i64) -> Self {
        Self((seed.cast_unsigned() ^ 0x5_DEEC_E66D) & MASK)
    }

    fn next(&mut self, bits: u32) -> i32 {
        self.0 = self.0.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & MASK;
        (self.0 >> (48 - bits)) as i32
    }

    fn double(&mut self) -> f64 {
        let high = u64::from(self.next(26).cast_unsigned()) << 27;
        let low = u64::from(self.next(27).cast_unsigned());
        (high + low) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: i32) -> i32 {
        if bound & bound.wrapping_neg() == bound {
            return ((i64::from(bound) * i64::from(self.next(31))) >> 31) as i32;
        }
        loop {
            let bits = self.next(31);
            let value = bits % bound;
            // The last incomplete range would favour small numbers.
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value;
            }
        }
    }
}

/// The generator of a call: by its seed argument if that is a literal, else by chance.
fn generator(args: &KernelArgs<'_>, has_seed: bool) -> Result<Mutex<Random>> {
    let seed = match args.literals.first() {
        Some(Some(seed)) if has_seed => Value::as_i64(seed),
        _ => None,
    };
    let seed = match seed {
        Some(seed) => seed,
        None => getrandom::u64()
            .map_err(|e| FunctionError::runtime(format!("no random seed: {e}")))?
            .cast_signed(),
    };
    Ok(Mutex::new(Random::new(seed)))
}

pub(super) const RAND: BuiltIn = BuiltIn::new(
    "RAND",
    "A random number from 0 to 1 (exclusive), for each row another; of a seed if one is given.",
    &[
        Signature::new(&[], Returns::Double),
        Signature::new(&[Kind::Int], Returns::Double),
    ],
    |args| {
        let has_seed = !args.types.is_empty();
        let seed_is_column = has_seed && args.literals[0].is_none();
        let random = generator(args, has_seed)?;
        Ok(Box::new(move |columns, context| {
            let mut random = random.lock().unwrap_or_else(PoisonError::into_inner);
            let numbers: Float64Array = (0..context.rows)
                .map(|row| {
                    let Some(column) = columns.first() else {
                        return Some(random.double());
                    };
                    let seeds = column.array().as_primitive::<Int32Type>();
                    let at = column.position(row);
                    if seeds.is_null(at) {
                        return None;
                    }
                    Some(if seed_is_column {
                        Random::new(seeds.value(at).into()).double()
                    } else {
                        random.double()
                    })
                })
                .collect();
            Ok(Column::Array(Arc::new(numbers)))
        }))
    },
)
.volatility(Volatility::Row);

pub(super) const RAND_INTEGER: BuiltIn = BuiltIn::new(
    "RAND_INTEGER",
    "A random integer from 0 to a bound (exclusive), for each row another; of a seed if one comes first.",
    &[
        Signature::new(&[Kind::Int], Returns::Int),
        Signature::new(&[Kind::Int, Kind::Int], Returns::Int),
    ],
    |args| {
        let has_seed = args.types.len() == 2;
        let seed_is_column = has_seed && args.literals[0].is_none();
        let random = generator(args, has_seed)?;
        Ok(Box::new(move |columns, context| {
            let mut random = random.lock().unwrap_or_else(PoisonError::into_inner);
            let numbers: Vec<_> = columns
                .iter()
                .map(|c| (c, c.array().as_primitive::<Int32Type>()))
                .collect();
            let results = (0..context.rows)
                .map(|row| {
                    let mut values = numbers.iter().map(|(column, numbers)| {
                        let at = column.position(row);
                        numbers.is_valid(at).then(|| numbers.value(at))
                    });
                    let first = values.next().flatten();
                    let (seed, bound) =
                        if has_seed { (first, values.next().flatten()) } else { (None, first) };
                    let Some(bound) = bound.filter(|_| seed.is_some() || !has_seed) else {
                        return Ok(None);
                    };
                    if bound <= 0 {
                        return Err(FunctionError::runtime(format!(
                            "the bound must be positive, but is {bound}"
                        )));
                    }
                    Ok(Some(match seed {
                        Some(seed) if seed_is_column => Random::new(seed.into()).below(bound),
                        _ => random.below(bound),
                    }))
                })
                .collect::<Result<Int32Array>>()?;
            Ok(Column::Array(Arc::new(results)))
        }))
    },
)
.volatility(Volatility::Row);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_java_does() {
        assert!((Random::new(10).double() - 0.730_430_296_743_427_2).abs() < 1e-15);
        assert_eq!(Random::new(5).below(10), 7);
    }
}
