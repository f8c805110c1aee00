//! The options of one field, and what they make of it.

use std::time::Duration;

use aquifer_runtime::exchange::key_hash;
use aquifer_table_common::Result;
use aquifer_table_common::error::{UnsupportedError, ValidationErrorKind};
use aquifer_table_common::options::{AnyConfigOption, ConfigOption, ConfigValue, TableOptions};
use aquifer_types::{DataType, LogicalType};

use super::generator::Generator;

const END: ConfigOption<Option<String>> =
    ConfigOption::without_default("fields.#.end", "The last number of a sequence.");
const KIND: ConfigOption<FieldKind> = ConfigOption::new(
    "fields.#.kind",
    "random",
    "How values are made: random or sequence.",
);
const LENGTH: ConfigOption<Option<u32>> = ConfigOption::without_default(
    "fields.#.length",
    "The length of a text (100), of bytes (100), of an array, map or multiset (3).",
);
const MAX: ConfigOption<Option<String>> =
    ConfigOption::without_default("fields.#.max", "The largest random number.");
const MAX_PAST: ConfigOption<Duration> = ConfigOption::new(
    "fields.#.max-past",
    "0 ms",
    "How far random timestamps go back from now.",
);
const MIN: ConfigOption<Option<String>> =
    ConfigOption::without_default("fields.#.min", "The smallest random number.");
const NULL_RATE: ConfigOption<Rate> = ConfigOption::new(
    "fields.#.null-rate",
    "0",
    "The part of random values that is NULL, 0 to 1.",
);
const START: ConfigOption<Option<String>> =
    ConfigOption::without_default("fields.#.start", "The first number of a sequence.");
const VAR_LEN: ConfigOption<bool> = ConfigOption::new(
    "fields.#.var-len",
    "false",
    "Whether random texts and bytes differ in length, from 1 to their length.",
);

/// How the values of a field are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Random,
    Sequence,
}

impl ConfigValue for FieldKind {
    fn type_name() -> String {
        "random | sequence".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "random" => Ok(FieldKind::Random),
            "sequence" => Ok(FieldKind::Sequence),
            _ => Err("write one of random, sequence".to_owned()),
        }
    }

    fn to_text(&self) -> Option<String> {
        let text = match self {
            FieldKind::Random => "random",
            FieldKind::Sequence => "sequence",
        };
        Some(text.to_owned())
    }
}

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug)]
struct Rate(f64);

impl ConfigValue for Rate {
    fn type_name() -> String {
        "number from 0 to 1".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let rate = f64::parse(text)?;
        if (0.0..=1.0).contains(&rate) {
            Ok(Rate(rate))
        } else {
            Err("it is not from 0 to 1".to_owned())
        }
    }

    fn to_text(&self) -> Option<String> {
        self.0.to_text()
    }
}

/// The keys that the fields of a type know, with their options.
pub(super) fn column_options(
    prefix: &str,
    data_type: &DataType,
    options: &mut Vec<(String, &'static dyn AnyConfigOption)>,
) {
    let mut add = |option: &'static dyn AnyConfigOption| {
        options.push((option.key().replacen("fields.#", prefix, 1), option));
    };
    add(&KIND);
    add(&NULL_RATE);
    let logical = &data_type.logical;
    if logical.is_numeric() || logical.is_interval() {
        add(&MIN);
        add(&MAX);
    }
    if logical.is_numeric() || logical.is_string() {
        add(&START);
        add(&END);
    }
    if logical.is_timestamp() {
        add(&MAX_PAST);
    }
    if logical.is_string() || logical.is_binary() {
        add(&VAR_LEN);
        add(&LENGTH);
    }
    match logical {
        LogicalType::Array(element) | LogicalType::Multiset(element) => {
            add(&LENGTH);
            column_options(&format!("{prefix}.element"), element, options);
        }
        LogicalType::Map(key, value) => {
            add(&LENGTH);
            column_options(&format!("{prefix}.key"), key, options);
            column_options(&format!("{prefix}.value"), value, options);
        }
        LogicalType::Row(fields) => {
            for field in fields {
                column_options(
                    &format!("{prefix}.{}", field.name),
                    &field.data_type,
                    options,
                );
            }
        }
        _ => {}
    }
}

/// Makes the values of one field.
#[derive(Clone, Debug)]
pub(super) struct FieldGenerator {
    pub(super) data_type: DataType,
    pub(super) seed: u64,
    pub(super) null_rate: f64,
    pub(super) generator: Generator,
}

/// The options of one field.
struct FieldOptions<'a> {
    options: &'a TableOptions,
    prefix: &'a str,
}

impl FieldOptions<'_> {
    fn get<V: ConfigValue>(&self, option: &ConfigOption<V>) -> Result<V> {
        let key = option.key().replacen("fields.#", self.prefix, 1);
        match self.options.text(&key).or(option.default_text()) {
            Some(text) => V::parse(text).map_err(|reason| self.invalid(option, &reason)),
            None => V::unset().ok_or_else(|| self.missing(option)),
        }
    }

    fn key(&self, option: &dyn AnyConfigOption) -> String {
        option.key().replacen("fields.#", self.prefix, 1)
    }

    fn invalid(
        &self,
        option: &dyn AnyConfigOption,
        reason: &str,
    ) -> aquifer_table_common::TableError {
        let key = self.key(option);
        ValidationErrorKind::InvalidOption {
            value: self.options.text(&key).unwrap_or_default().to_string(),
            key,
            reason: reason.to_string(),
        }
        .into()
    }

    fn missing(&self, option: &dyn AnyConfigOption) -> aquifer_table_common::TableError {
        ValidationErrorKind::MissingOption {
            key: self.key(option),
            owner: "connector 'datagen'".to_string(),
            description: option.description().to_string(),
        }
        .into()
    }

    /// A limit that is a whole number, within those of the type.
    fn whole(
        &self,
        option: &ConfigOption<Option<String>>,
        default: i128,
        limits: (i128, i128),
    ) -> Result<i128> {
        let Some(text) = self.get(option)? else {
            return Ok(default);
        };
        match text.trim().parse::<i128>() {
            Ok(number) if (limits.0..=limits.1).contains(&number) => Ok(number),
            Ok(_) => {
                let (min, max) = limits;
                Err(self.invalid(option, &format!("it is not from {min} to {max}")))
            }
            Err(error) => Err(self.invalid(option, &error.to_string())),
        }
    }

    fn decimal(
        &self,
        option: &ConfigOption<Option<String>>,
        default: i128,
        precision: u8,
        scale: u8,
    ) -> Result<i128> {
        let Some(text) = self.get(option)? else {
            return Ok(default);
        };
        let number = text.trim().parse::<aquifer_types::Decimal>().ok();
        number
            .and_then(|number| number.fit(precision, scale))
            .map(aquifer_types::Decimal::unscaled)
            .ok_or_else(|| self.invalid(option, &format!("it is no DECIMAL({precision}, {scale})")))
    }

    fn double(&self, option: &ConfigOption<Option<String>>, default: f64) -> Result<f64> {
        match self.get(option)? {
            None => Ok(default),
            Some(text) => f64::parse(&text).map_err(|reason| self.invalid(option, &reason)),
        }
    }

    /// Refuses a smallest value above the largest.
    fn ordered<T: PartialOrd>(&self, min: T, max: T) -> Result<(T, T)> {
        if min <= max {
            return Ok((min, max));
        }
        Err(self.invalid(&MAX, &format!("it is below '{}'", self.key(&MIN))))
    }
}

/// The whole numbers of a type.
fn limits(logical: &LogicalType) -> (i128, i128) {
    match logical {
        LogicalType::TinyInt => (i8::MIN.into(), i8::MAX.into()),
        LogicalType::SmallInt => (i16::MIN.into(), i16::MAX.into()),
        LogicalType::Int | LogicalType::IntervalYearMonth => (i32::MIN.into(), i32::MAX.into()),
        LogicalType::Decimal { precision, scale } => {
            let digits = u32::from(precision - scale);
            let max = 10_i128.pow(digits) - 1;
            (-max, max)
        }
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

impl FieldGenerator {
    /// Reads the options under `prefix`.
    pub(super) fn new(
        options: &TableOptions,
        prefix: &str,
        data_type: &DataType,
        seed: u64,
    ) -> Result<Self> {
        let field = FieldOptions { options, prefix };
        let generator = match field.get(&KIND)? {
            FieldKind::Random => random(&field, data_type, seed)?,
            FieldKind::Sequence => sequence(&field, data_type)?,
        };
        let null_rate = field.get(&NULL_RATE)?.0;
        if null_rate > 0.0 && !data_type.nullable {
            return Err(field.invalid(&NULL_RATE, &format!("the field is of type {data_type}")));
        }
        Ok(FieldGenerator {
            data_type: data_type.clone(),
            seed: key_hash(&(seed, prefix)),
            null_rate,
            generator,
        })
    }

    /// How many rows a sequence has.
    pub(super) fn sequence_length(&self) -> Option<u64> {
        match self.generator {
            Generator::Sequence { start, end, .. } => {
                Some(u64::try_from(end - start + 1).unwrap_or(u64::MAX))
            }
            _ => None,
        }
    }
}

fn sequence(field: &FieldOptions<'_>, data_type: &DataType) -> Result<Generator> {
    let logical = &data_type.logical;
    if !logical.is_numeric() && !logical.is_string() {
        return Err(field.invalid(&KIND, &format!("type {data_type} has no sequence")));
    }
    for option in [&START, &END] {
        if field.get(option)?.is_none() {
            return Err(field.missing(option));
        }
    }
    let limits = limits(logical);
    let (start, end) = (
        field.whole(&START, 0, limits)?,
        field.whole(&END, 0, limits)?,
    );
    if end < start {
        return Err(field.invalid(&END, &format!("it is below '{}'", field.key(&START))));
    }
    let unit = match logical {
        LogicalType::Decimal { scale, .. } => 10_i128.pow((*scale).into()),
        _ => 1,
    };
    Ok(Generator::Sequence { start, end, unit })
}

fn random(field: &FieldOptions<'_>, data_type: &DataType, seed: u64) -> Result<Generator> {
    let logical = &data_type.logical;
    let nested = |name: &str, data_type: &DataType| {
        let prefix = format!("{}.{name}", field.prefix);
        FieldGenerator::new(field.options, &prefix, data_type, seed).map(Box::new)
    };
    let length = |default: u32, max: Option<u32>| {
        let length = field
            .get(&LENGTH)?
            .unwrap_or(default.min(max.unwrap_or(default)));
        match max {
            Some(max) if length > max => {
                Err(field.invalid(&LENGTH, &format!("the field is of type {data_type}")))
            }
            _ => Ok(length),
        }
    };
    Ok(match logical {
        LogicalType::Boolean => Generator::Boolean,
        LogicalType::TinyInt
        | LogicalType::SmallInt
        | LogicalType::Int
        | LogicalType::BigInt
        | LogicalType::IntervalYearMonth
        | LogicalType::IntervalDayTime => {
            let all = limits(logical);
            let default = match logical {
                // Flink's limits: 1000 years, and 1000 years of 365 days.
                LogicalType::IntervalYearMonth => (0, 12_000),
                LogicalType::IntervalDayTime => (0, 31_536_000_000_000),
                _ => all,
            };
            let (min, max) = (
                field.whole(&MIN, default.0, all)?,
                field.whole(&MAX, default.1, all)?,
            );
            let (min, max) = field.ordered(min, max)?;
            Generator::Whole { min, max }
        }
        LogicalType::Decimal { precision, scale } => {
            let all = 10_i128.pow((*precision).into()) - 1;
            let min = field.decimal(&MIN, -all, *precision, *scale)?;
            let max = field.decimal(&MAX, all, *precision, *scale)?;
            let (min, max) = field.ordered(min, max)?;
            Generator::Whole { min, max }
        }
        LogicalType::Float | LogicalType::Double => {
            let all = if *logical == LogicalType::Float {
                f64::from(f32::MAX)
            } else {
                f64::MAX
            };
            let (min, max) = field.ordered(field.double(&MIN, -all)?, field.double(&MAX, all)?)?;
            Generator::Double { min, max }
        }
        LogicalType::Char(max) | LogicalType::VarChar(max) => Generator::Text {
            length: length(
                if matches!(logical, LogicalType::Char(_)) {
                    *max
                } else {
                    100
                },
                Some(*max),
            )?,
            varies: field.get(&VAR_LEN)?,
        },
        LogicalType::Binary(max) | LogicalType::VarBinary(max) => Generator::Bytes {
            length: length(
                if matches!(logical, LogicalType::Binary(_)) {
                    *max
                } else {
                    100
                },
                Some(*max),
            )?,
            varies: field.get(&VAR_LEN)?,
        },
        LogicalType::Date => Generator::Date,
        LogicalType::Time(_) => Generator::Time,
        LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) => Generator::Timestamp {
            max_past_ms: i64::try_from(field.get(&MAX_PAST)?.as_millis()).unwrap_or(i64::MAX),
        },
        LogicalType::Array(element) => Generator::Array {
            length: length(3, None)?,
            element: nested("element", element)?,
        },
        LogicalType::Multiset(element) => Generator::Multiset {
            length: length(3, None)?,
            element: nested("element", &element.clone().not_null())?,
        },
        LogicalType::Map(key, value) => Generator::Map {
            length: length(3, None)?,
            key: nested("key", &key.clone().not_null())?,
            value: nested("value", value)?,
        },
        LogicalType::Row(fields) => {
            let fields = fields
                .iter()
                .map(|f| nested(&f.name, &f.data_type).map(|f| *f));
            Generator::Row(fields.collect::<Result<_>>()?)
        }
        LogicalType::Null => {
            return Err(UnsupportedError::new("type NULL with connector 'datagen'").into());
        }
    })
}
