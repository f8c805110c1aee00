//! Functions of one row's values, lifted to columns.
//!
//! [`Read`] and [`Write`] connect Rust types to Arrow columns. `map1` to `map4` make a kernel of
//! a function that returns a value; `text1` to `text4` of one that writes text into a buffer,
//! which is reused, so that no string is allocated per row.

use std::sync::Arc;

use aquifer_types::{DataType, LogicalType, Timestamp};
use arrow_array::builder::{
    ArrayBuilder, BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, PrimitiveArray, StringArray,
};
use arrow_schema::{DataType as ArrowType, TimeUnit};

use crate::column::Column;
use crate::definition::Kernel;
use crate::error::{FunctionError, Result};
use crate::kernel::primitive::valid_rows;

/// A Rust view of the values of a column.
pub(crate) trait Read: 'static {
    /// One value.
    type Item<'a>;
    /// The column, cast once.
    type View<'a>;
    fn view(array: &dyn Array) -> Self::View<'_>;
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a>;
}

macro_rules! read_primitive {
    ($($name:ident = $arrow:ty),+ $(,)?) => {$(
        #[doc = concat!("A column of ", stringify!($arrow), ".")]
        pub(crate) struct $name;

        impl Read for $name {
            type Item<'a> = <$arrow as ArrowPrimitiveType>::Native;
            type View<'a> = &'a PrimitiveArray<$arrow>;

            fn view(array: &dyn Array) -> Self::View<'_> {
                array.as_primitive()
            }

            #[inline]
            fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
                view.value(row)
            }
        }
    )+};
}

read_primitive! {
    I8 = Int8Type,
    I16 = Int16Type,
    I32 = Int32Type,
    I64 = Int64Type,
    F32 = Float32Type,
    F64 = Float64Type,
    Unscaled = Decimal128Type,
    Date = Date32Type,
    Time = Time32MillisecondType,
    Months = IntervalYearMonthType,
    Millis = DurationMillisecondType,
}

/// A column of text.
pub(crate) struct Text;

impl Read for Text {
    type Item<'a> = &'a str;
    type View<'a> = &'a StringArray;

    fn view(array: &dyn Array) -> Self::View<'_> {
        array.as_string()
    }

    #[inline]
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        view.value(row)
    }
}

/// A column of bytes.
pub(crate) struct Bytes;

impl Read for Bytes {
    type Item<'a> = &'a [u8];
    type View<'a> = &'a BinaryArray;

    fn view(array: &dyn Array) -> Self::View<'_> {
        array.as_binary()
    }

    #[inline]
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        view.value(row)
    }
}

/// A column of booleans.
pub(crate) struct Bool;

impl Read for Bool {
    type Item<'a> = bool;
    type View<'a> = &'a BooleanArray;

    fn view(array: &dyn Array) -> Self::View<'_> {
        array.as_boolean()
    }

    #[inline]
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        view.value(row)
    }
}

/// A column of TIMESTAMP or TIMESTAMP_LTZ of any precision.
pub(crate) struct Stamp;

/// The two physical forms of timestamps.
pub(crate) enum StampView<'a> {
    Micros(&'a [i64]),
    Nanos(&'a [i64]),
}

impl Read for Stamp {
    type Item<'a> = Timestamp;
    type View<'a> = StampView<'a>;

    fn view(array: &dyn Array) -> Self::View<'_> {
        match array.data_type() {
            ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
                StampView::Nanos(array.as_primitive::<TimestampNanosecondType>().values())
            }
            _ => StampView::Micros(array.as_primitive::<TimestampMicrosecondType>().values()),
        }
    }

    #[inline]
    fn get<'a>(view: &Self::View<'a>, row: usize) -> Self::Item<'a> {
        match view {
            StampView::Micros(values) => Timestamp::from_micros(values[row]),
            StampView::Nanos(values) => Timestamp::from_nanos(values[row]),
        }
    }
}

/// A Rust value that can be appended to a column.
pub(crate) trait Write: Sized + 'static {
    type Builder: ArrayBuilder;
    fn builder(data_type: &DataType, rows: usize) -> Self::Builder;
    fn push(self, builder: &mut Self::Builder) -> Result<()>;
    fn push_null(builder: &mut Self::Builder);
}

macro_rules! write_primitive {
    ($($rust:ty = $arrow:ty),+ $(,)?) => {$(
        impl Write for $rust {
            type Builder = PrimitiveBuilder<$arrow>;

            fn builder(data_type: &DataType, rows: usize) -> Self::Builder {
                PrimitiveBuilder::with_capacity(rows).with_data_type(data_type.to_arrow())
            }

            #[inline]
            fn push(self, builder: &mut Self::Builder) -> Result<()> {
                builder.append_value(self);
                Ok(())
            }

            fn push_null(builder: &mut Self::Builder) {
                builder.append_null();
            }
        }
    )+};
}

write_primitive! {
    i8 = Int8Type,
    i16 = Int16Type,
    i32 = Int32Type,
    i64 = Int64Type,
    f32 = Float32Type,
    f64 = Float64Type,
    i128 = Decimal128Type,
}

macro_rules! write_wrapped {
    ($($name:ident($rust:ty) = $arrow:ty),+ $(,)?) => {$(
        #[doc = concat!("A value of a ", stringify!($arrow), " column.")]
        pub(crate) struct $name(pub(crate) $rust);

        impl Write for $name {
            type Builder = PrimitiveBuilder<$arrow>;

            fn builder(_: &DataType, rows: usize) -> Self::Builder {
                PrimitiveBuilder::with_capacity(rows)
            }

            #[inline]
            fn push(self, builder: &mut Self::Builder) -> Result<()> {
                builder.append_value(self.0);
                Ok(())
            }

            fn push_null(builder: &mut Self::Builder) {
                builder.append_null();
            }
        }
    )+};
}

write_wrapped! {
    DateOut(i32) = Date32Type,
    TimeOut(i32) = Time32MillisecondType,
}

impl Write for bool {
    type Builder = BooleanBuilder;

    fn builder(_: &DataType, rows: usize) -> Self::Builder {
        BooleanBuilder::with_capacity(rows)
    }

    #[inline]
    fn push(self, builder: &mut Self::Builder) -> Result<()> {
        builder.append_value(self);
        Ok(())
    }

    fn push_null(builder: &mut Self::Builder) {
        builder.append_null();
    }
}

impl Write for String {
    type Builder = StringBuilder;

    fn builder(_: &DataType, rows: usize) -> Self::Builder {
        StringBuilder::with_capacity(rows, rows * 8)
    }

    fn push(self, builder: &mut Self::Builder) -> Result<()> {
        builder.append_value(self);
        Ok(())
    }

    fn push_null(builder: &mut Self::Builder) {
        builder.append_null();
    }
}

impl Write for Vec<u8> {
    type Builder = BinaryBuilder;

    fn builder(_: &DataType, rows: usize) -> Self::Builder {
        BinaryBuilder::with_capacity(rows, rows * 8)
    }

    fn push(self, builder: &mut Self::Builder) -> Result<()> {
        builder.append_value(self);
        Ok(())
    }

    fn push_null(builder: &mut Self::Builder) {
        builder.append_null();
    }
}

/// Builds timestamps of either physical form, cut to the type's precision.
pub(crate) struct StampBuilder {
    precision: u8,
    arrow: ArrowType,
    values: PrimitiveBuilder<Int64Type>,
}

impl ArrayBuilder for StampBuilder {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn finish(&mut self) -> ArrayRef {
        let data = self
            .values
            .finish()
            .into_data()
            .into_builder()
            .data_type(self.arrow.clone());
        // The physical form of all timestamps is 64 bits.
        arrow_array::make_array(data.build().expect("a timestamp column is 64-bit integers"))
    }

    fn finish_cloned(&self) -> ArrayRef {
        let data = self.values.finish_cloned().into_data().into_builder();
        let data = data.data_type(self.arrow.clone());
        arrow_array::make_array(data.build().expect("a timestamp column is 64-bit integers"))
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
        self
    }

    fn into_box_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }
}

impl Write for Timestamp {
    type Builder = StampBuilder;

    fn builder(data_type: &DataType, rows: usize) -> Self::Builder {
        let precision = match data_type.logical {
            LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) => p,
            _ => 6,
        };
        StampBuilder {
            precision,
            arrow: data_type.to_arrow(),
            values: PrimitiveBuilder::with_capacity(rows),
        }
    }

    fn push(self, builder: &mut Self::Builder) -> Result<()> {
        let value = self.truncate(builder.precision);
        let number = if builder.precision <= 6 {
            value.to_micros()
        } else {
            value.to_nanos()?
        };
        builder.values.append_value(number);
        Ok(())
    }

    fn push_null(builder: &mut Self::Builder) {
        builder.values.append_null();
    }
}

/// Runs a closure per row; rows with a NULL argument become NULL.
pub(crate) fn for_rows<R: Write>(
    columns: &[Column],
    rows: usize,
    result: &DataType,
    mut f: impl FnMut(usize) -> Result<Option<R>>,
) -> Result<Column> {
    if columns.iter().any(Column::is_null_scalar) {
        return Ok(Column::null(&result.to_arrow()));
    }
    let nulls = valid_rows(&columns.iter().collect::<Vec<_>>());
    let mut builder = R::builder(result, rows);
    for row in 0..rows {
        if nulls.as_ref().is_some_and(|n| n.is_null(row)) {
            R::push_null(&mut builder);
            continue;
        }
        match f(row)? {
            Some(value) => value.push(&mut builder)?,
            None => R::push_null(&mut builder),
        }
    }
    Ok(Column::Array(builder.finish()))
}

/// Runs a closure per row that writes text and says whether it did; rows with a NULL argument
/// become NULL.
pub(crate) fn for_text_rows(
    columns: &[Column],
    rows: usize,
    mut f: impl FnMut(usize, &mut String) -> Result<bool>,
) -> Result<Column> {
    if columns.iter().any(Column::is_null_scalar) {
        return Ok(Column::null(&ArrowType::Utf8));
    }
    let nulls = valid_rows(&columns.iter().collect::<Vec<_>>());
    let mut builder = StringBuilder::with_capacity(rows, rows * 8);
    let mut text = String::new();
    for row in 0..rows {
        if nulls.as_ref().is_some_and(|n| n.is_null(row)) {
            builder.append_null();
            continue;
        }
        text.clear();
        if f(row, &mut text)? {
            builder.append_value(&text);
        } else {
            builder.append_null();
        }
    }
    Ok(Column::Array(Arc::new(builder.finish())))
}

/// As [`for_text_rows`], with bytes.
pub(crate) fn for_bytes_rows(
    columns: &[Column],
    rows: usize,
    mut f: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
) -> Result<Column> {
    let mut bytes = Vec::new();
    for_rows(columns, rows, &aquifer_types::DataTypes::bytes(), |row| {
        bytes.clear();
        Ok(f(row, &mut bytes)?.then(|| bytes.clone()))
    })
}

macro_rules! lift {
    ($map:ident, $text:ident, $count:literal, $($kind:ident $view:ident $at:ident $i:tt),+) => {
        /// Makes a kernel of a function of one row's values that returns a value or NULL.
        #[allow(clippy::too_many_arguments, reason = "one argument per column")]
        pub(crate) fn $map<$($kind: Read,)+ R: Write>(
            result: &DataType,
            f: impl for<'a> Fn($($kind::Item<'a>),+) -> Result<Option<R>> + Send + Sync + 'static,
        ) -> Kernel {
            let result = result.clone();
            Box::new(move |columns, context| {
                $(
                    let $view = $kind::view(columns[$i].array().as_ref());
                    let $at = columns[$i].is_scalar();
                )+
                for_rows(&columns[..$count], context.rows, &result, |row| {
                    f($($kind::get(&$view, if $at { 0 } else { row })),+)
                })
            })
        }

        /// Makes a kernel of a function of one row's values that writes text.
        #[allow(clippy::too_many_arguments, reason = "one argument per column")]
        pub(crate) fn $text<$($kind: Read),+>(
            f: impl for<'a> Fn($($kind::Item<'a>,)+ &mut String) -> Result<bool> + Send + Sync + 'static,
        ) -> Kernel {
            Box::new(move |columns, context| {
                $(
                    let $view = $kind::view(columns[$i].array().as_ref());
                    let $at = columns[$i].is_scalar();
                )+
                for_text_rows(&columns[..$count], context.rows, |row, text| {
                    f($($kind::get(&$view, if $at { 0 } else { row }),)+ text)
                })
            })
        }
    };
}

lift!(map1, text1, 1, A a at_a 0);
lift!(map2, text2, 2, A a at_a 0, B b at_b 1);
lift!(map3, text3, 3, A a at_a 0, B b at_b 1, C c at_c 2);
lift!(map4, text4, 4, A a at_a 0, B b at_b 1, C c at_c 2, D d at_d 3);

/// Makes a run time error from any message.
pub(crate) fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(FunctionError::runtime(message))
}
