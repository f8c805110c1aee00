//! Aggregates over the values of a group in the order of their arrival: `FIRST_VALUE`, `LAST_VALUE`,
//! `LISTAGG`, `ARRAY_AGG` and `COLLECT`.
//!
//! Each group keeps its values with their counts as a list of entries (equal neighbours are one). A
//! row that is taken back removes the last entry equal to it; one that is taken back before it comes
//! leaves an entry of negative count, which the row cancels when it comes.

use std::sync::Arc;

use aquifer_types::{ColumnBuilder, DataType, DataTypes, LogicalType, Value, column_value};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};

use super::accumulator::Accumulator;
use super::definition::{AggregateDefinition, Retraction};
use super::extremum::list;
use crate::error::Result;
use crate::signature::{Argument, Inferred, Kind};

/// What is made of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    First,
    Last,
    Text,
    Array,
    Multiset,
}

/// One of the functions.
#[derive(Debug)]
pub(super) struct Collected {
    name: &'static str,
    form: Form,
    doc: &'static str,
}

pub(super) const ARRAY_AGG: Collected = Collected {
    name: "ARRAY_AGG",
    form: Form::Array,
    doc: "The values, NULL among them, as an array; NULL if there are none.",
};

pub(super) const COLLECT: Collected = Collected {
    name: "COLLECT",
    form: Form::Multiset,
    doc: "The values that are not NULL as a multiset.",
};

pub(super) const FIRST_VALUE: Collected = Collected {
    name: "FIRST_VALUE",
    form: Form::First,
    doc: "The first value that is not NULL; NULL if there is none.",
};

pub(super) const LAST_VALUE: Collected = Collected {
    name: "LAST_VALUE",
    form: Form::Last,
    doc: "The last value that is not NULL; NULL if there is none.",
};

pub(super) const LISTAGG: Collected = Collected {
    name: "LISTAGG",
    form: Form::Text,
    doc: "The texts that are not NULL with a separator (a comma unless given) between them.",
};

impl AggregateDefinition for Collected {
    fn name(&self) -> &'static str {
        self.name
    }

    fn signatures(&self) -> Vec<String> {
        match self.form {
            Form::Text => vec![
                "LISTAGG(<CHARACTER_STRING>)".to_owned(),
                "LISTAGG(<CHARACTER_STRING>, <CHARACTER_STRING>)".to_owned(),
            ],
            _ => vec![format!("{}(<ANY>)", self.name)],
        }
    }

    fn infer(&self, arguments: &[Argument<'_>]) -> Option<Inferred> {
        if self.form == Form::Text {
            if arguments.is_empty() || arguments.len() > 2 {
                return None;
            }
            let types: Vec<DataType> = arguments
                .iter()
                .map(|a| Kind::Text.accept(a))
                .collect::<Option<_>>()?;
            let nullable = types[0].nullable;
            return Some(Inferred {
                arguments: types,
                result: DataTypes::string().with_nullable(nullable),
            });
        }
        let [argument] = arguments else { return None };
        let value = match argument.data_type.logical {
            LogicalType::Null => DataTypes::int(),
            _ => argument.data_type.clone(),
        };
        let result = match self.form {
            Form::Array => DataTypes::array(value.clone()),
            Form::Multiset => DataTypes::multiset(value.clone().not_null()).not_null(),
            _ => value.clone(),
        };
        Some(Inferred {
            arguments: vec![value],
            result,
        })
    }

    fn is_null_when_empty(&self) -> bool {
        self.form != Form::Multiset
    }

    fn retraction(&self) -> Retraction {
        Retraction::KeepsValues
    }

    fn accumulator(
        &self,
        arguments: &[DataType],
        result: &DataType,
        retractable: bool,
    ) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Values {
            groups: Vec::new(),
            form: self.form,
            keeps_one: !retractable && matches!(self.form, Form::First | Form::Last),
            value_type: arguments[0].clone().null(),
            result: result.clone().null(),
            entries: 0,
        }))
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    value: Value,
    /// The separator before it, of LISTAGG.
    separator: Option<String>,
    count: i64,
}

struct Values {
    groups: Vec<Vec<Entry>>,
    form: Form,
    /// Whether rows are only added and one value decides.
    keeps_one: bool,
    value_type: DataType,
    result: DataType,
    entries: usize,
}

impl Values {
    fn add(&mut self, group: u32, entry: Entry) {
        let entries = &mut self.groups[group as usize];
        if self.keeps_one {
            if self.form == Form::Last || entries.is_empty() {
                self.entries += 1 - entries.len();
                entries.clear();
                entries.push(entry);
            }
            return;
        }
        let same = |e: &Entry| e.value == entry.value && e.separator == entry.separator;
        if entry.count > 0 {
            // A row that was taken back before it came.
            if let Some(at) = entries.iter().position(|e| e.count < 0 && same(e)) {
                entries[at].count += entry.count;
                match entries[at].count {
                    0 => {
                        entries.remove(at);
                        self.entries -= 1;
                    }
                    // More came than were taken back: they came now, so at the end.
                    1.. => {
                        let rest = entries.remove(at);
                        entries.push(rest);
                    }
                    _ => {}
                }
                return;
            }
            match entries.last_mut() {
                Some(last) if same(last) => last.count += entry.count,
                _ => {
                    entries.push(entry);
                    self.entries += 1;
                }
            }
            return;
        }
        let mut missing = entry.count;
        while missing < 0 {
            let Some(at) = entries.iter().rposition(|e| e.count > 0 && same(e)) else {
                break;
            };
            let taken = entries[at].count.min(-missing);
            entries[at].count -= taken;
            missing += taken;
            if entries[at].count == 0 {
                entries.remove(at);
                self.entries -= 1;
            }
        }
        if missing < 0 {
            match entries.iter().position(|e| e.count < 0 && same(e)) {
                Some(at) => entries[at].count += missing,
                None => {
                    entries.insert(
                        0,
                        Entry {
                            count: missing,
                            ..entry
                        },
                    );
                    self.entries += 1;
                }
            }
        }
    }

    fn result(&self, group: u32) -> Value {
        let mut present = self.groups[group as usize].iter().filter(|e| e.count > 0);
        match self.form {
            Form::First => present.next().map(|e| e.value.clone()).unwrap_or_default(),
            Form::Last => present
                .next_back()
                .map(|e| e.value.clone())
                .unwrap_or_default(),
            Form::Text => {
                let mut text: Option<String> = None;
                for entry in present {
                    for _ in 0..entry.count {
                        let part = entry.value.as_str().unwrap_or_default();
                        match &mut text {
                            None => text = Some(part.to_owned()),
                            Some(text) => {
                                text.push_str(entry.separator.as_deref().unwrap_or(","));
                                text.push_str(part);
                            }
                        }
                    }
                }
                text.map_or(Value::Null, Value::String)
            }
            Form::Array => {
                let values: Vec<Value> = present
                    .flat_map(|e| std::iter::repeat_n(&e.value, e.count.unsigned_abs() as usize))
                    .cloned()
                    .collect();
                if values.is_empty() {
                    Value::Null
                } else {
                    Value::Array(values)
                }
            }
            Form::Multiset => {
                let mut counts: std::collections::BTreeMap<&Value, i64> = Default::default();
                present.for_each(|e| *counts.entry(&e.value).or_default() += e.count);
                let pairs = counts
                    .into_iter()
                    .map(|(v, n)| (v.clone(), Value::BigInt(n)));
                Value::Map(pairs.collect())
            }
        }
    }
}

impl Accumulator for Values {
    fn resize(&mut self, groups: usize) {
        if groups > self.groups.len() {
            self.groups.resize(groups, Vec::new());
        }
    }

    fn accumulate(
        &mut self,
        groups: &[u32],
        args: &[ArrayRef],
        weights: Option<&Int64Array>,
    ) -> Result<()> {
        let separators = args.get(1).map(|s| s.as_string::<i32>());
        for (i, group) in groups.iter().enumerate() {
            let count = weights.map_or(1, |w| w.value(i));
            if count == 0 || (self.form != Form::Array && args[0].is_null(i)) {
                continue;
            }
            let separator = separators
                .filter(|s| s.is_valid(i))
                .map(|s| s.value(i).to_owned());
            let value = column_value(args[0].as_ref(), i, &self.value_type);
            self.add(
                *group,
                Entry {
                    value,
                    separator,
                    count,
                },
            );
        }
        Ok(())
    }

    fn value(&self, groups: &[u32]) -> Result<ArrayRef> {
        let mut builder = ColumnBuilder::new(&self.result, groups.len());
        for group in groups {
            builder.push(&self.result(*group))?;
        }
        Ok(builder.finish())
    }

    fn clear(&mut self, groups: &[u32]) {
        for group in groups {
            self.entries -= std::mem::take(&mut self.groups[*group as usize]).len();
        }
    }

    fn state_types(&self) -> Vec<DataType> {
        vec![
            DataTypes::array(self.value_type.clone()).not_null(),
            DataTypes::array(DataTypes::string()).not_null(),
            DataTypes::array(DataTypes::bigint()).not_null(),
        ]
    }

    fn snapshot(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let entries = || groups.iter().flat_map(|g| &self.groups[*g as usize]);
        let lengths = || groups.iter().map(|g| self.groups[*g as usize].len());
        let mut values = ColumnBuilder::new(&self.value_type, self.entries);
        let mut separators = ColumnBuilder::new(&DataTypes::string(), self.entries);
        for entry in entries() {
            values.push(&entry.value)?;
            separators.push(&entry.separator.clone().into())?;
        }
        let counts = Arc::new(Int64Array::from_iter_values(entries().map(|e| e.count)));
        Ok(vec![
            list(values.finish(), lengths())?,
            list(separators.finish(), lengths())?,
            list(counts, lengths())?,
        ])
    }

    fn merge(&mut self, groups: &[u32], state: &[ArrayRef]) -> Result<()> {
        for (i, group) in groups.iter().enumerate() {
            let [values, separators, counts] =
                [0, 1, 2].map(|column| state[column].as_list::<i32>().value(i));
            let separators = separators.as_string::<i32>();
            let counts = counts.as_primitive::<Int64Type>();
            for j in 0..counts.len() {
                let entry = Entry {
                    value: column_value(values.as_ref(), j, &self.value_type),
                    separator: separators
                        .is_valid(j)
                        .then(|| separators.value(j).to_owned()),
                    count: counts.value(j),
                };
                self.add(*group, entry);
            }
        }
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        self.groups.capacity() * size_of::<Vec<Entry>>() + self.entries * size_of::<Entry>() * 3 / 2
    }
}
