//! `DATE_FORMAT`.

use aquifer_types::{DataTypes, LogicalType, Timestamp, temporal};

use super::pattern::{Cache, Pattern};
use crate::definition::{BuiltIn, Kernel, KernelArgs, Nulls};
use crate::error::Result;
use crate::kernel::rows::{Stamp, Text, text1, text2};
use crate::signature::{Kind, Returns, Signature};

pub(super) const DATE_FORMAT: BuiltIn = BuiltIn::new(
    "DATE_FORMAT",
    "A timestamp as text, by a Java date pattern.",
    &[
        Signature::new(&[Kind::Timestamp, Kind::Text], Returns::String),
        Signature::new(&[Kind::TimestampLtz, Kind::Text], Returns::String),
        Signature::new(&[Kind::Text, Kind::Text], Returns::String),
    ],
    kernel,
)
.nulls(Nulls::Always);

fn kernel(args: &KernelArgs<'_>) -> Result<Kernel> {
    let is_instant = matches!(args.types[0].logical, LogicalType::TimestampLtz(_));
    if args.types[0].is_string() {
        let cache = Cache::default();
        // A text is read as a timestamp first; one that is none gives NULL.
        return Ok(text2::<Text, Text>(move |text, pattern, out| {
            let Some(point) = temporal::parse_timestamp(text) else {
                return Ok(false);
            };
            cache.with(pattern, |pattern| pattern.write(point, out))?;
            Ok(true)
        }));
    }
    if let Some(pattern) = args.literal_text(1) {
        let pattern = Pattern::compile(pattern)?;
        if !is_instant {
            let one = text1::<Stamp>(move |point: Timestamp, out| {
                pattern.write(point, out);
                Ok(true)
            });
            return Ok(Box::new(move |columns, context| {
                one(&columns[..1], context)
            }));
        }
    }
    Ok(Box::new(move |columns, context| {
        let zone = context.eval.time_zone;
        let cache = Cache::default();
        let two = text2::<Stamp, Text>(move |point, pattern, out| {
            let local = if is_instant {
                zone.to_local(point)
            } else {
                point
            };
            cache.with(pattern, |pattern| pattern.write(local, out))?;
            Ok(true)
        });
        debug_assert_eq!(DataTypes::string().to_arrow(), arrow_schema::DataType::Utf8);
        two(columns, context)
    }))
}
