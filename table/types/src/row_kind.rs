//! Kinds of change and which of them a stream contains.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a row says about a table.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum RowKind {
    /// `+I`: the row is new.
    #[default]
    Insert,
    /// `-U`: the old content of an updated row.
    UpdateBefore,
    /// `+U`: the new content of an updated row.
    UpdateAfter,
    /// `-D`: the row is gone.
    Delete,
}

impl RowKind {
    /// All kinds, in Flink's order.
    pub const ALL: [Self; 4] = [
        Self::Insert,
        Self::UpdateBefore,
        Self::UpdateAfter,
        Self::Delete,
    ];

    /// Returns `+I`, `-U`, `+U` or `-D`.
    #[must_use]
    pub fn short_string(self) -> &'static str {
        match self {
            Self::Insert => "+I",
            Self::UpdateBefore => "-U",
            Self::UpdateAfter => "+U",
            Self::Delete => "-D",
        }
    }

    /// Returns the kind of a short string.
    #[must_use]
    pub fn from_short_string(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.short_string() == text)
    }

    /// Returns +1 for rows that are added and -1 for rows that are taken away.
    #[must_use]
    pub fn weight(self) -> i64 {
        if self.is_retraction() { -1 } else { 1 }
    }

    /// Returns whether the row is taken away.
    #[must_use]
    pub fn is_retraction(self) -> bool {
        matches!(self, Self::UpdateBefore | Self::Delete)
    }
}

impl fmt::Display for RowKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.short_string())
    }
}

/// Which kinds of change occur in a changelog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChangelogMode {
    kinds: u8,
    key_only_deletes: bool,
}

impl ChangelogMode {
    /// Only `+I`.
    #[must_use]
    pub fn insert_only() -> Self {
        Self::of([RowKind::Insert])
    }

    /// `+I`, `+U` and `-D` (by whole row): needs a key.
    #[must_use]
    pub fn upsert() -> Self {
        Self::of([RowKind::Insert, RowKind::UpdateAfter, RowKind::Delete])
    }

    /// As [`Self::upsert`], where deletes may carry the key alone.
    #[must_use]
    pub fn upsert_key_only_deletes() -> Self {
        Self {
            key_only_deletes: true,
            ..Self::upsert()
        }
    }

    /// All four kinds.
    #[must_use]
    pub fn all() -> Self {
        Self::of(RowKind::ALL)
    }

    /// Exactly the given kinds.
    #[must_use]
    pub fn of(kinds: impl IntoIterator<Item = RowKind>) -> Self {
        let kinds = kinds.into_iter().fold(0, |bits, kind| bits | bit(kind));
        Self {
            kinds,
            key_only_deletes: false,
        }
    }

    /// Starts a mode without any kind.
    #[must_use]
    pub fn builder() -> ChangelogModeBuilder {
        ChangelogModeBuilder { mode: Self::of([]) }
    }

    /// Returns whether a kind may occur.
    #[must_use]
    pub fn contains(&self, kind: RowKind) -> bool {
        self.kinds & bit(kind) != 0
    }

    /// Returns whether only insertions occur.
    #[must_use]
    pub fn is_insert_only(&self) -> bool {
        self.kinds == bit(RowKind::Insert)
    }

    /// Returns whether updates come without their old row.
    #[must_use]
    pub fn is_upsert(&self) -> bool {
        self.contains(RowKind::UpdateAfter) && !self.contains(RowKind::UpdateBefore)
    }

    /// Returns whether deletes may carry the key alone.
    #[must_use]
    pub fn key_only_deletes(&self) -> bool {
        self.key_only_deletes
    }

    /// Returns the kinds in Flink's order.
    pub fn kinds(&self) -> impl Iterator<Item = RowKind> + '_ {
        RowKind::ALL.into_iter().filter(|kind| self.contains(*kind))
    }

    /// Returns the mode with the kinds of both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            kinds: self.kinds | other.kinds,
            key_only_deletes: self.key_only_deletes || other.key_only_deletes,
        }
    }
}

fn bit(kind: RowKind) -> u8 {
    1 << kind as u8
}

impl fmt::Display for ChangelogMode {
    /// Prints as Flink's plans do: `[I,UB,UA,D]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, kind) in self.kinds().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            f.write_str(match kind {
                RowKind::Insert => "I",
                RowKind::UpdateBefore => "UB",
                RowKind::UpdateAfter => "UA",
                RowKind::Delete if self.key_only_deletes => "~D",
                RowKind::Delete => "D",
            })?;
        }
        f.write_str("]")
    }
}

/// Collects the kinds of a [`ChangelogMode`].
#[derive(Debug, Clone)]
pub struct ChangelogModeBuilder {
    mode: ChangelogMode,
}

impl ChangelogModeBuilder {
    /// Adds a kind.
    #[must_use]
    pub fn add_contained_kind(mut self, kind: RowKind) -> Self {
        self.mode.kinds |= bit(kind);
        self
    }

    /// Says whether deletes may carry the key alone.
    #[must_use]
    pub fn key_only_deletes(mut self, key_only_deletes: bool) -> Self {
        self.mode.key_only_deletes = key_only_deletes;
        self
    }

    /// Returns the mode.
    #[must_use]
    pub fn build(self) -> ChangelogMode {
        self.mode
    }
}
