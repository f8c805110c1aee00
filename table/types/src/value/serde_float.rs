//! Floats in text formats are written as text, because JSON knows neither NaN nor infinities and
//! its readers may not return the very same bits.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

pub(super) fn serialize<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Display + Serialize,
    S: Serializer,
{
    if serializer.is_human_readable() {
        serializer.collect_str(value)
    } else {
        value.serialize(serializer)
    }
}

pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr + Deserialize<'de>,
    T::Err: Display,
    D: Deserializer<'de>,
{
    if deserializer.is_human_readable() {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    } else {
        T::deserialize(deserializer)
    }
}
