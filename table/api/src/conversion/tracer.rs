//! Finds the columns of a Rust type by deserialising it from nothing.
//!
//! serde's derives tell a deserializer what they expect, so a deserializer that answers each request with a sample
//! value, and writes down the request, learns the type without a value of it. Lists and maps get one element.
//!
//! Types that read themselves from text, such as dates, refuse most texts. The samples of [`TEXTS`] are offered to
//! such a field one after the other, each in a new pass; the one it takes tells what it is.

use std::cell::RefCell;
use std::collections::BTreeMap;

use aquifer_types::{DataType, DataTypes, Field};
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::flat_writer::Failed;

/// Texts that types may be read from, and what a field that takes one is. Most special first, except for the empty
/// text, which every plain text takes.
const TEXTS: &[(&str, MakeType)] = &[
    ("", DataTypes::string),
    ("1970-01-01T00:00:00", || DataTypes::timestamp(9)),
    ("1970-01-01T00:00:00Z", || DataTypes::timestamp_ltz(9)),
    ("1970-01-01", DataTypes::date),
    ("00:00:00", || DataTypes::time(3)),
    ("0", DataTypes::string),
    ("1", DataTypes::string),
    ("00000000-0000-0000-0000-000000000000", DataTypes::string),
    ("127.0.0.1", DataTypes::string),
    ("::1", DataTypes::string),
    ("a", DataTypes::string),
];

type MakeType = fn() -> DataType;

/// How deep types may nest.
const MAX_DEPTH: usize = 32;

/// What a type holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A single value.
    Leaf(DataType),
    /// A struct or a tuple.
    Record(Vec<Field>),
}

/// What was found: the shape, and whether it may be missing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Traced {
    pub(super) shape: Shape,
    pub(super) nullable: bool,
}

impl Traced {
    /// The type as a column.
    pub(super) fn data_type(self) -> DataType {
        let data_type = match self.shape {
            Shape::Leaf(data_type) => data_type,
            Shape::Record(fields) => DataTypes::row(fields),
        };
        data_type.with_nullable(self.nullable)
    }
}

/// Finds what `T` holds.
///
/// # Errors
/// Why it is no type of columns, with the path of the field.
pub(super) fn trace<'de, T: Deserialize<'de>>() -> Result<Traced, String> {
    let pass = Pass::default();
    loop {
        *pass.last_text.borrow_mut() = None;
        let mut found = None;
        let error = match T::deserialize(Tracer {
            pass: &pass,
            path: Path::ROOT,
            found: &mut found,
        }) {
            Ok(_) => return found.ok_or_else(|| "it reads nothing".to_string()),
            Err(error) => error,
        };
        if let Some(refusal) = pass.refusal.take() {
            return Err(refusal);
        }
        // A text was refused: by the field that read it last, or by what is made of it.
        let Some(path) = pass.last_text.take() else {
            return Err(error.0);
        };
        let mut samples = pass.samples.borrow_mut();
        let sample = samples.entry(path.clone()).or_default();
        *sample += 1;
        if *sample == TEXTS.len() {
            return Err(format!(
                "field '{path}' is read from a text of its own form: {error}"
            ));
        }
    }
}

/// What one pass over the type leaves for the next.
#[derive(Default)]
struct Pass {
    /// The sample text to offer to each field that refused the first one.
    samples: RefCell<BTreeMap<String, usize>>,
    /// The field that read a text last.
    last_text: RefCell<Option<String>>,
    /// Why the type is refused, which no other sample can change.
    refusal: RefCell<Option<String>>,
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    name: &'a str,
    depth: usize,
}

impl<'a> Path<'a> {
    const ROOT: Path<'static> = Path {
        parent: None,
        name: "",
        depth: 0,
    };

    fn child<'b>(&'b self, name: &'b str) -> Path<'b>
    where
        'a: 'b,
    {
        Path {
            parent: Some(self),
            name,
            depth: self.depth + 1,
        }
    }

    fn text(&self) -> String {
        match self.parent {
            None => self.name.to_string(),
            Some(parent) => {
                let parent = parent.text();
                let dot = if parent.is_empty() || self.name == "[]" {
                    ""
                } else {
                    "."
                };
                format!("{parent}{dot}{}", self.name)
            }
        }
    }

    fn shown(&self) -> String {
        let text = self.text();
        if text.is_empty() {
            "f0".to_string()
        } else {
            text
        }
    }
}

struct Tracer<'a> {
    pass: &'a Pass,
    path: Path<'a>,
    found: &'a mut Option<Traced>,
}

impl Tracer<'_> {
    fn refuse(&self, what: &str) -> Failed {
        let message = format!(
            "field '{}' is {what}, which is no SQL type",
            self.path.shown()
        );
        *self.pass.refusal.borrow_mut() = Some(message.clone());
        Failed(message)
    }

    fn leaf(self, data_type: DataType) {
        let nullable = self.found.as_ref().is_some_and(|found| found.nullable);
        *self.found = Some(Traced {
            shape: Shape::Leaf(data_type),
            nullable,
        });
    }

    fn record(found: &mut Option<Traced>, fields: Vec<Field>) {
        let nullable = found.as_ref().is_some_and(|found| found.nullable);
        *found = Some(Traced {
            shape: Shape::Record(fields),
            nullable,
        });
    }

    fn check_depth(&self) -> Result<(), Failed> {
        if self.path.depth > MAX_DEPTH {
            Err(self.refuse("nested too deep or in itself"))
        } else {
            Ok(())
        }
    }

    /// Offers the text whose turn it is.
    fn text(&self) -> &'static str {
        let path = self.path.shown();
        let sample = self
            .pass
            .samples
            .borrow()
            .get(&path)
            .copied()
            .unwrap_or_default();
        *self.pass.last_text.borrow_mut() = Some(path);
        TEXTS[sample].0
    }

    fn text_type(&self) -> DataType {
        let sample = self
            .pass
            .samples
            .borrow()
            .get(&self.path.shown())
            .copied()
            .unwrap_or_default();
        TEXTS[sample].1()
    }
}

macro_rules! leaves {
    ($($method:ident $visit:ident $sample:expr => $data_type:expr;)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
            self.leaf($data_type);
            visitor.$visit($sample)
        }
    )+};
}

macro_rules! texts {
    ($($method:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
            let (text, data_type) = (self.text(), self.text_type());
            self.leaf(data_type);
            visitor.visit_borrowed_str(text)
        }
    )+};
}

macro_rules! refused {
    ($($method:ident($($argument:ty),*) $what:literal;)+) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $argument,)* _visitor: V) -> Result<V::Value, Failed> {
            Err(self.refuse($what))
        }
    )+};
}

impl<'de> Deserializer<'de> for Tracer<'_> {
    type Error = Failed;

    leaves! {
        deserialize_bool visit_bool false => DataTypes::boolean();
        // One, because there are types of numbers without zero.
        deserialize_i8 visit_i8 1 => DataTypes::tinyint();
        deserialize_i16 visit_i16 1 => DataTypes::smallint();
        deserialize_i32 visit_i32 1 => DataTypes::int();
        deserialize_i64 visit_i64 1 => DataTypes::bigint();
        deserialize_u8 visit_u8 1 => DataTypes::smallint();
        deserialize_u16 visit_u16 1 => DataTypes::int();
        deserialize_u32 visit_u32 1 => DataTypes::bigint();
        deserialize_u64 visit_u64 1 => DataTypes::bigint();
        deserialize_f32 visit_f32 1.0 => DataTypes::float();
        deserialize_f64 visit_f64 1.0 => DataTypes::double();
        deserialize_char visit_char 'a' => DataTypes::string();
        deserialize_bytes visit_borrowed_bytes b"" => DataTypes::bytes();
        deserialize_byte_buf visit_byte_buf Vec::new() => DataTypes::bytes();
    }

    texts! { deserialize_str deserialize_string deserialize_identifier }

    refused! {
        deserialize_any() "of a type that depends on the data";
        deserialize_i128() "a 128-bit integer";
        deserialize_u128() "a 128-bit integer";
        deserialize_unit() "a type without values";
        deserialize_unit_struct(&'static str) "a type without values";
        deserialize_enum(&'static str, &'static [&'static str]) "an enum";
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        *self.found = Some(Traced {
            shape: Shape::Leaf(DataTypes::null()),
            nullable: true,
        });
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        self.check_depth()?;
        let mut element = ElementOf {
            pass: self.pass,
            path: self.path.child("[]"),
            found: None,
            is_u8: false,
        };
        let value = visitor.visit_seq(&mut element)?;
        let Some(found) = element.found else {
            return Err(self.refuse("a list that reads no elements"));
        };
        let data_type = if element.is_u8 {
            DataTypes::bytes()
        } else {
            DataTypes::array(found.data_type())
        };
        self.leaf(data_type);
        Ok(value)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        self.check_depth()?;
        let mut entry = EntryOf {
            pass: self.pass,
            key_path: self.path.child("key"),
            value_path: self.path.child("value"),
            key: None,
            value: None,
        };
        let value = visitor.visit_map(&mut entry)?;
        let (Some(key_type), Some(value_type)) = (entry.key, entry.value) else {
            return Err(self.refuse("a map that reads no entries"));
        };
        self.leaf(DataTypes::map(
            key_type.data_type().not_null(),
            value_type.data_type(),
        ));
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        self.check_depth()?;
        let mut fields = FieldsOf {
            tracer: &self,
            names: &[],
            len,
            found: Vec::new(),
        };
        let value = visitor.visit_seq(&mut fields)?;
        let found = fields.found;
        if found.is_empty() {
            return Err(self.refuse("a type without values"));
        }
        Self::record(self.found, found);
        Ok(value)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Failed> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failed> {
        self.check_depth()?;
        if names.is_empty() {
            return Err(self.refuse("a struct without fields"));
        }
        let mut fields = FieldsOf {
            tracer: &self,
            names,
            len: names.len(),
            found: Vec::new(),
        };
        let value = visitor.visit_map(&mut fields)?;
        let found = fields.found;
        Self::record(self.found, found);
        Ok(value)
    }
}

/// The fields of a struct or tuple, in order.
struct FieldsOf<'a, 'p> {
    tracer: &'a Tracer<'p>,
    /// The names; none for a tuple.
    names: &'static [&'static str],
    len: usize,
    found: Vec<Field>,
}

impl FieldsOf<'_, '_> {
    fn trace<'de, S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failed> {
        let at = self.found.len();
        let name = self
            .names
            .get(at)
            .map_or_else(|| format!("f{at}"), ToString::to_string);
        let mut found = None;
        let path = self.tracer.path.child(&name);
        let value = seed.deserialize(Tracer {
            pass: self.tracer.pass,
            path,
            found: &mut found,
        })?;
        let Some(found) = found else {
            return Err(self.tracer.refuse("a field that reads nothing"));
        };
        self.found.push(Field::new(name, found.data_type()));
        Ok(value)
    }
}

impl<'de> SeqAccess<'de> for &mut FieldsOf<'_, '_> {
    type Error = Failed;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failed> {
        if self.found.len() == self.len {
            Ok(None)
        } else {
            self.trace(seed).map(Some)
        }
    }
}

impl<'de> MapAccess<'de> for &mut FieldsOf<'_, '_> {
    type Error = Failed;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failed> {
        match self.names.get(self.found.len()) {
            Some(name) => seed.deserialize(StrDeserializer::new(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failed> {
        self.trace(seed)
    }
}

/// The one element of a list.
struct ElementOf<'a> {
    pass: &'a Pass,
    path: Path<'a>,
    found: Option<Traced>,
    is_u8: bool,
}

impl<'de> SeqAccess<'de> for &mut ElementOf<'_> {
    type Error = Failed;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failed> {
        if self.found.is_some() {
            return Ok(None);
        }
        let tracer = Tracer {
            pass: self.pass,
            path: self.path,
            found: &mut self.found,
        };
        // A list of bytes is a byte string, as in the reference.
        self.is_u8 = std::any::type_name::<S::Value>() == "u8";
        seed.deserialize(tracer).map(Some)
    }
}

/// The one entry of a map.
struct EntryOf<'a> {
    pass: &'a Pass,
    key_path: Path<'a>,
    value_path: Path<'a>,
    key: Option<Traced>,
    value: Option<Traced>,
}

impl<'de> MapAccess<'de> for &mut EntryOf<'_> {
    type Error = Failed;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failed> {
        if self.key.is_some() {
            return Ok(None);
        }
        seed.deserialize(Tracer {
            pass: self.pass,
            path: self.key_path,
            found: &mut self.key,
        })
        .map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failed> {
        seed.deserialize(Tracer {
            pass: self.pass,
            path: self.value_path,
            found: &mut self.value,
        })
    }
}
