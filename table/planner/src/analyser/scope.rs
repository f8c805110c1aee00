//! The columns that an expression may name, and from which table each comes.

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::ValidationErrorKind;
use aquifer_types::{DataType, Field};

/// A table in FROM: its names and its columns.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The names by which it may be called: an alias alone, or the full path of a table.
    pub path: Vec<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
}

impl Relation {
    /// Whether `t`, `d.t` or `c.d.t` means this relation.
    fn is_called(&self, qualifier: &[String]) -> bool {
        !qualifier.is_empty() && self.path.ends_with(qualifier)
    }

    fn name(&self) -> String {
        self.path.last().cloned().unwrap_or_default()
    }
}

/// The columns in reach: those of all relations, side by side, in the order of the operation's
/// output.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    relations: Vec<Relation>,
    types: Vec<DataType>,
    /// Columns made of one on each side by USING, in front of all others in `*`.
    merged: Vec<Merged>,
    /// How many of the relations belong to the query around a sub-query; they come first, and a name
    /// means them only where the sub-query's own relations do not have it.
    outer: usize,
}

#[derive(Debug, Clone)]
struct Merged {
    name: String,
    value: ResolvedExpr,
    /// The columns that it stands for.
    columns: Vec<usize>,
}

/// A column of `*`.
#[derive(Debug, Clone)]
pub(super) struct StarColumn {
    pub(super) name: String,
    pub(super) value: ResolvedExpr,
}

impl Scope {
    /// The scope of one relation.
    pub fn of(path: Vec<String>, fields: &[Field]) -> Self {
        let columns = fields.iter().map(|f| f.name.clone()).collect();
        let types = fields.iter().map(|f| f.data_type.clone()).collect();
        Scope {
            relations: vec![Relation { path, columns }],
            types,
            merged: Vec::new(),
            outer: 0,
        }
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.types.len()
    }

    /// The relations.
    pub(super) fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// Names of all columns in the order of the output.
    pub(super) fn column_names(&self) -> Vec<String> {
        self.relations
            .iter()
            .flat_map(|r| r.columns.iter().cloned())
            .collect()
    }

    /// Both sides of a join, with the join's nullability.
    pub(super) fn join(self, right: Scope, fields: &[Field]) -> Scope {
        let shift = self.width();
        let mut relations = self.relations;
        relations.extend(right.relations);
        let types: Vec<DataType> = fields.iter().map(|f| f.data_type.clone()).collect();
        let retype = |value: ResolvedExpr, shift: usize| {
            value.transform(&mut |node| match node {
                ResolvedExpr::InputRef { index, .. } => {
                    ResolvedExpr::input(index + shift, types[index + shift].clone())
                }
                other => other,
            })
        };
        let mut merged: Vec<Merged> = self
            .merged
            .into_iter()
            .map(|m| Merged {
                value: retype(m.value, 0),
                ..m
            })
            .collect();
        merged.extend(right.merged.into_iter().map(|m| Merged {
            value: retype(m.value, shift),
            columns: m.columns.iter().map(|c| c + shift).collect(),
            name: m.name,
        }));
        Scope {
            relations,
            types,
            merged,
            outer: 0,
        }
    }

    /// The scope of a sub-query's clauses: its own columns behind those of the query around it.
    pub(super) fn correlated(outer: &Scope, inner: &Scope, fields: &[Field]) -> Scope {
        let relations = outer.relations.len();
        let mut scope = outer.clone().join(inner.clone(), fields);
        scope.outer = relations;
        scope
    }

    /// Makes one column of those on both sides that USING names; the value stands for them in `*`
    /// and for the bare name.
    pub(super) fn merge(&mut self, name: &str, value: ResolvedExpr, columns: Vec<usize>) {
        let mut columns = columns;
        let former = |m: &Merged| m.name == name;
        for merged in self.merged.iter().filter(|m| former(m)) {
            columns.extend(&merged.columns);
        }
        self.merged.retain(|m| !former(m));
        self.merged.push(Merged {
            name: name.to_string(),
            value,
            columns,
        });
    }

    /// A column by index.
    pub(super) fn column(&self, index: usize) -> ResolvedExpr {
        ResolvedExpr::input(index, self.types[index].clone())
    }

    /// Resolves `column`, `t.column`, `d.t.column` and so on; answers the value and how many parts
    /// were used, the rest being fields of a row.
    pub(super) fn find(
        &self,
        parts: &[String],
    ) -> Result<(ResolvedExpr, usize), ValidationErrorKind> {
        if self.outer > 0 {
            let inner = self.find_in(parts, self.outer..self.relations.len());
            return match inner {
                Err(
                    ValidationErrorKind::UnknownColumn { .. }
                    | ValidationErrorKind::UnknownQualifier { .. },
                ) => self.find_in(parts, 0..self.outer),
                found => found,
            };
        }
        self.find_in(parts, 0..self.relations.len())
    }

    fn find_in(
        &self,
        parts: &[String],
        relations: std::ops::Range<usize>,
    ) -> Result<(ResolvedExpr, usize), ValidationErrorKind> {
        let reach = || {
            let numbered = self.offsets().enumerate();
            numbered
                .filter(|(i, _)| relations.contains(i))
                .map(|(_, r)| r)
        };
        // A longer qualifier wins, then the bare column with fields behind it.
        for qualifier in (1..parts.len()).rev() {
            let called: Vec<usize> = reach()
                .filter(|(_, r)| r.is_called(&parts[..qualifier]))
                .filter_map(|(offset, r)| {
                    Some(offset + r.columns.iter().position(|c| *c == parts[qualifier])?)
                })
                .collect();
            match called.as_slice() {
                [] => {}
                [one] => return Ok((self.column(*one), qualifier + 1)),
                many => return Err(self.ambiguous(&parts[..=qualifier].join("."), many)),
            }
        }
        let name = &parts[0];
        let columns: Vec<usize> = reach()
            .flat_map(|(offset, r)| offset..offset + r.columns.len())
            .collect();
        if let [merged] = self
            .merged
            .iter()
            .filter(|m| m.name == *name && m.columns.iter().all(|c| columns.contains(c)))
            .collect::<Vec<_>>()
            .as_slice()
        {
            return Ok((merged.value.clone(), 1));
        }
        let found: Vec<usize> = reach()
            .flat_map(|(offset, r)| {
                r.columns
                    .iter()
                    .enumerate()
                    .filter(|(_, c)| *c == name)
                    .map(move |(i, _)| offset + i)
            })
            .collect();
        match found.as_slice() {
            [] => Err(self.unknown(parts)),
            [one] => Ok((self.column(*one), 1)),
            many => Err(self.ambiguous(name, many)),
        }
    }

    /// The columns of `*`.
    pub(super) fn star(&self) -> Vec<StarColumn> {
        let mut star: Vec<StarColumn> = self
            .merged
            .iter()
            .map(|m| StarColumn {
                name: m.name.clone(),
                value: m.value.clone(),
            })
            .collect();
        let is_merged = |index: &usize| self.merged.iter().any(|m| m.columns.contains(index));
        for (index, name) in self.column_names().into_iter().enumerate() {
            if !is_merged(&index) {
                star.push(StarColumn {
                    name,
                    value: self.column(index),
                });
            }
        }
        star
    }

    /// The columns of `t.*`.
    pub(super) fn qualified_star(
        &self,
        qualifier: &[String],
    ) -> Result<Vec<StarColumn>, ValidationErrorKind> {
        let mut called = self.offsets().filter(|(_, r)| r.is_called(qualifier));
        let Some((offset, relation)) = called.next() else {
            return Err(ValidationErrorKind::UnknownQualifier {
                qualifier: qualifier.join("."),
                candidates: self.relation_names(),
            });
        };
        if called.next().is_some() {
            return Err(ValidationErrorKind::AmbiguousColumn {
                column: format!("{}.*", qualifier.join(".")),
                tables: self.relation_names(),
            });
        }
        let column = |(i, name): (usize, &String)| StarColumn {
            name: name.clone(),
            value: self.column(offset + i),
        };
        Ok(relation.columns.iter().enumerate().map(column).collect())
    }

    fn offsets(&self) -> impl Iterator<Item = (usize, &Relation)> {
        self.relations.iter().scan(0, |offset, relation| {
            let begin = *offset;
            *offset += relation.columns.len();
            Some((begin, relation))
        })
    }

    fn relation_names(&self) -> Vec<String> {
        self.relations
            .iter()
            .map(Relation::name)
            .filter(|n| !n.is_empty())
            .collect()
    }

    fn relation_of(&self, index: usize) -> String {
        let found = self
            .offsets()
            .find(|(offset, r)| index < offset + r.columns.len());
        found.map_or_else(String::new, |(_, r)| r.name())
    }

    fn ambiguous(&self, column: &str, indices: &[usize]) -> ValidationErrorKind {
        ValidationErrorKind::AmbiguousColumn {
            column: column.to_string(),
            tables: indices.iter().map(|i| self.relation_of(*i)).collect(),
        }
    }

    fn unknown(&self, parts: &[String]) -> ValidationErrorKind {
        let qualified = self
            .relations
            .iter()
            .find(|r| parts.len() > 1 && r.is_called(&parts[..parts.len() - 1]));
        match qualified {
            Some(relation) => ValidationErrorKind::UnknownColumn {
                column: parts[parts.len() - 1].clone(),
                tables: vec![relation.name()],
                candidates: relation.columns.clone(),
            },
            None if parts.len() > 1 => ValidationErrorKind::UnknownQualifier {
                qualifier: parts[..parts.len() - 1].join("."),
                candidates: self.relation_names(),
            },
            None => ValidationErrorKind::UnknownColumn {
                column: parts.join("."),
                tables: self.relation_names(),
                candidates: self.column_names(),
            },
        }
    }
}
