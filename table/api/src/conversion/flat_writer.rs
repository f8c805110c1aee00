//! Columns of flat records, built straight from serde's calls.
//!
//! Most records have only numbers, booleans and texts. For them a serializer that appends each field to its Arrow
//! builder costs a fraction of the general conversion, which checks names and nesting at every value. A field finds
//! its column by position; its name is compared only to notice fields that were left out.

use std::fmt::Display;

use aquifer_types::{DataType, LogicalType};
use arrow_array::ArrayRef;
use arrow_array::builder::{ArrayBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type};
use serde::Serialize;
use serde::ser::{Impossible, SerializeStruct, SerializeTuple, SerializeTupleStruct, Serializer};

/// Why a value could not be converted.
#[derive(Debug)]
pub(super) struct Failed(pub(super) String);

impl Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

impl serde::ser::Error for Failed {
    fn custom<T: Display>(message: T) -> Self {
        Failed(message.to_string())
    }
}

impl serde::de::Error for Failed {
    fn custom<T: Display>(message: T) -> Self {
        Failed(message.to_string())
    }
}

/// Whether a column of the type is flat.
pub(super) fn is_flat(data_type: &DataType) -> bool {
    use LogicalType as T;
    matches!(
        data_type.logical,
        T::Boolean
            | T::TinyInt
            | T::SmallInt
            | T::Int
            | T::BigInt
            | T::Float
            | T::Double
            | T::Char(_)
            | T::VarChar(_)
    )
}

enum Builder {
    Boolean(BooleanBuilder),
    Int8(PrimitiveBuilder<Int8Type>),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    Text(StringBuilder),
}

struct Column {
    name: String,
    builder: Builder,
}

/// Builds the columns of flat records.
pub(super) struct FlatWriter {
    columns: Vec<Column>,
    is_record: bool,
}

impl FlatWriter {
    /// A writer of columns of these names and types, which are all flat.
    pub(super) fn new<'a>(
        columns: impl Iterator<Item = (&'a str, &'a DataType)>,
        is_record: bool,
    ) -> Self {
        let column = |(name, data_type): (&str, &DataType)| {
            let builder = match data_type.logical {
                LogicalType::Boolean => Builder::Boolean(BooleanBuilder::new()),
                LogicalType::TinyInt => Builder::Int8(PrimitiveBuilder::new()),
                LogicalType::SmallInt => Builder::Int16(PrimitiveBuilder::new()),
                LogicalType::Int => Builder::Int32(PrimitiveBuilder::new()),
                LogicalType::BigInt => Builder::Int64(PrimitiveBuilder::new()),
                LogicalType::Float => Builder::Float32(PrimitiveBuilder::new()),
                LogicalType::Double => Builder::Float64(PrimitiveBuilder::new()),
                _ => Builder::Text(StringBuilder::new()),
            };
            Column {
                name: name.to_string(),
                builder,
            }
        };
        FlatWriter {
            columns: columns.map(column).collect(),
            is_record,
        }
    }

    /// Starts the columns of this many values.
    pub(super) fn start(&mut self, values: usize) {
        for column in &mut self.columns {
            column.builder.reserve(values);
        }
    }

    /// Appends a value.
    pub(super) fn push<T: Serialize>(&mut self, value: &T) -> Result<(), Failed> {
        if self.is_record {
            value.serialize(Record {
                columns: &mut self.columns,
            })
        } else {
            value.serialize(Field {
                column: &mut self.columns[0],
            })
        }
    }

    /// The columns of the values since the last call.
    pub(super) fn finish(&mut self) -> Vec<ArrayRef> {
        self.columns
            .iter_mut()
            .map(|column| column.builder.finish())
            .collect()
    }
}

impl Builder {
    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Boolean(b) => ArrayBuilder::finish(b),
            Builder::Int8(b) => ArrayBuilder::finish(b),
            Builder::Int16(b) => ArrayBuilder::finish(b),
            Builder::Int32(b) => ArrayBuilder::finish(b),
            Builder::Int64(b) => ArrayBuilder::finish(b),
            Builder::Float32(b) => ArrayBuilder::finish(b),
            Builder::Float64(b) => ArrayBuilder::finish(b),
            Builder::Text(b) => ArrayBuilder::finish(b),
        }
    }

    /// Finished builders hold nothing, so a new one of the right size is as good and grows only once.
    fn reserve(&mut self, values: usize) {
        match self {
            Builder::Boolean(b) => *b = BooleanBuilder::with_capacity(values),
            Builder::Int8(b) => *b = PrimitiveBuilder::with_capacity(values),
            Builder::Int16(b) => *b = PrimitiveBuilder::with_capacity(values),
            Builder::Int32(b) => *b = PrimitiveBuilder::with_capacity(values),
            Builder::Int64(b) => *b = PrimitiveBuilder::with_capacity(values),
            Builder::Float32(b) => *b = PrimitiveBuilder::with_capacity(values),
            Builder::Float64(b) => *b = PrimitiveBuilder::with_capacity(values),
            Builder::Text(b) => *b = StringBuilder::with_capacity(values, values * 8),
        }
    }

    fn null(&mut self) {
        match self {
            Builder::Boolean(b) => b.append_null(),
            Builder::Int8(b) => b.append_null(),
            Builder::Int16(b) => b.append_null(),
            Builder::Int32(b) => b.append_null(),
            Builder::Int64(b) => b.append_null(),
            Builder::Float32(b) => b.append_null(),
            Builder::Float64(b) => b.append_null(),
            Builder::Text(b) => b.append_null(),
        }
    }
}

/// One field of a record, or a value by itself.
struct Field<'a> {
    column: &'a mut Column,
}

impl Field<'_> {
    fn failed(&self, what: impl Display) -> Failed {
        Failed(format!("field '{}' cannot hold {what}", self.column.name))
    }

    #[inline]
    fn integer<V: Copy + Display>(self, value: V) -> Result<(), Failed>
    where
        i8: TryFrom<V>,
        i16: TryFrom<V>,
        i32: TryFrom<V>,
        i64: TryFrom<V>,
    {
        macro_rules! append {
            ($builder:expr, $integer:ty) => {
                match <$integer>::try_from(value) {
                    Ok(value) => $builder.append_value(value),
                    Err(_) => return Err(self.failed(value)),
                }
            };
        }
        match &mut self.column.builder {
            Builder::Int64(b) => append!(b, i64),
            Builder::Int32(b) => append!(b, i32),
            Builder::Int16(b) => append!(b, i16),
            Builder::Int8(b) => append!(b, i8),
            _ => return Err(self.failed(value)),
        }
        Ok(())
    }
}

macro_rules! integers {
    ($($method:ident $integer:ty),+) => {$(
        #[inline]
        fn $method(self, value: $integer) -> Result<(), Failed> {
            self.integer(value)
        }
    )+};
}

/// The kinds of values that are no flat fields.
macro_rules! refused {
    ($what:ident) => {
        fn serialize_bytes(self, _: &[u8]) -> Result<(), Failed> {
            Err(self.$what("bytes"))
        }
        fn serialize_unit(self) -> Result<(), Failed> {
            Err(self.$what("a unit"))
        }
        fn serialize_unit_struct(self, _: &'static str) -> Result<(), Failed> {
            Err(self.$what("a unit"))
        }
        fn serialize_unit_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
        ) -> Result<(), Failed> {
            Err(self.$what("an enum"))
        }
        fn serialize_newtype_variant<T: Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<(), Failed> {
            Err(self.$what("an enum"))
        }
        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Failed> {
            Err(self.$what("a sequence"))
        }
        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Failed> {
            Err(self.$what("a map"))
        }
        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, Failed> {
            Err(self.$what("an enum"))
        }
        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, Failed> {
            Err(self.$what("an enum"))
        }
    };
}

impl Serializer for Field<'_> {
    type Ok = ();
    type Error = Failed;
    type SerializeSeq = Impossible<(), Failed>;
    type SerializeTuple = Impossible<(), Failed>;
    type SerializeTupleStruct = Impossible<(), Failed>;
    type SerializeTupleVariant = Impossible<(), Failed>;
    type SerializeMap = Impossible<(), Failed>;
    type SerializeStruct = Impossible<(), Failed>;
    type SerializeStructVariant = Impossible<(), Failed>;

    integers! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64
    }

    refused!(failed);

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Failed> {
        match &mut self.column.builder {
            Builder::Boolean(b) => b.append_value(value),
            _ => return Err(self.failed(value)),
        }
        Ok(())
    }

    #[inline]
    fn serialize_f32(self, value: f32) -> Result<(), Failed> {
        match &mut self.column.builder {
            Builder::Float32(b) => b.append_value(value),
            Builder::Float64(b) => b.append_value(value.into()),
            _ => return Err(self.failed(value)),
        }
        Ok(())
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<(), Failed> {
        match &mut self.column.builder {
            Builder::Float64(b) => b.append_value(value),
            _ => return Err(self.failed(value)),
        }
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), Failed> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Failed> {
        match &mut self.column.builder {
            Builder::Text(b) => b.append_value(value),
            _ => return Err(self.failed(format_args!("the text '{value}'"))),
        }
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Failed> {
        self.column.builder.null();
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failed> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        value.serialize(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Failed> {
        Err(self.failed("a tuple"))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Failed> {
        Err(self.failed("a tuple"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Failed> {
        Err(self.failed("a struct"))
    }
}

/// A whole record.
struct Record<'a> {
    columns: &'a mut [Column],
}

impl Record<'_> {
    fn failed(&self, what: impl Display) -> Failed {
        Failed(format!("expected a struct or tuple, found {what}"))
    }
}

macro_rules! no_records {
    ($($method:ident $value:ty),+) => {$(
        fn $method(self, value: $value) -> Result<(), Failed> {
            Err(self.failed(value))
        }
    )+};
}

impl<'a> Serializer for Record<'a> {
    type Ok = ();
    type Error = Failed;
    type SerializeSeq = Impossible<(), Failed>;
    type SerializeTuple = Fields<'a>;
    type SerializeTupleStruct = Fields<'a>;
    type SerializeTupleVariant = Impossible<(), Failed>;
    type SerializeMap = Impossible<(), Failed>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Impossible<(), Failed>;

    no_records! {
        serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64,
        serialize_f32 f32, serialize_f64 f64, serialize_char char, serialize_str &str
    }

    refused!(failed);

    fn serialize_none(self) -> Result<(), Failed> {
        Err(self.failed("nothing"))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failed> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Fields<'a>, Failed> {
        Ok(Fields {
            columns: self.columns,
            next: 0,
        })
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Fields<'a>, Failed> {
        Ok(Fields {
            columns: self.columns,
            next: 0,
        })
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields<'a>, Failed> {
        Ok(Fields {
            columns: self.columns,
            next: 0,
        })
    }
}

/// The fields of a record, in order.
struct Fields<'a> {
    columns: &'a mut [Column],
    next: usize,
}

impl Fields<'_> {
    #[inline]
    fn append<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let Some(column) = self.columns.get_mut(self.next) else {
            return Err(Failed(
                "the value has more fields than its type".to_string(),
            ));
        };
        self.next += 1;
        value.serialize(Field { column })
    }

    /// Fields that were left out are NULL.
    fn fill(&mut self, until: usize) {
        for column in &mut self.columns[self.next..until] {
            column.builder.null();
        }
        self.next = until;
    }
}

impl SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Failed;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Failed> {
        if self
            .columns
            .get(self.next)
            .is_none_or(|column| column.name != key)
        {
            let found = self.columns[self.next..]
                .iter()
                .position(|column| column.name == key);
            let Some(found) = found else {
                return Err(Failed(format!(
                    "field '{key}' is written, but cannot be read"
                )));
            };
            self.fill(self.next + found);
        }
        self.append(value)
    }

    fn end(mut self) -> Result<(), Failed> {
        self.fill(self.columns.len());
        Ok(())
    }
}

impl SerializeTuple for Fields<'_> {
    type Ok = ();
    type Error = Failed;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.append(value)
    }

    fn end(mut self) -> Result<(), Failed> {
        self.fill(self.columns.len());
        Ok(())
    }
}

impl SerializeTupleStruct for Fields<'_> {
    type Ok = ();
    type Error = Failed;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.append(value)
    }

    fn end(self) -> Result<(), Failed> {
        SerializeTuple::end(self)
    }
}
