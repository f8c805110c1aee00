//! A changelog mode in a plan: the names of its kinds.

use aquifer_types::{ChangelogMode, RowKind};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

const NAMES: [(RowKind, &str); 4] = [
    (RowKind::Insert, "INSERT"),
    (RowKind::UpdateBefore, "UPDATE_BEFORE"),
    (RowKind::UpdateAfter, "UPDATE_AFTER"),
    (RowKind::Delete, "DELETE"),
];

/// Stands for DELETE where the row may hold its key alone.
const DELETE_BY_KEY: &str = "DELETE_BY_KEY";

pub(super) fn serialize<S: Serializer>(
    mode: &ChangelogMode,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let name = |kind: &RowKind, name: &'static str| {
        if *kind == RowKind::Delete && mode.key_only_deletes() {
            DELETE_BY_KEY
        } else {
            name
        }
    };
    let kinds = NAMES.iter().filter(|(kind, _)| mode.contains(*kind));
    serializer.collect_seq(kinds.map(|(kind, text)| name(kind, text)))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ChangelogMode, D::Error> {
    let mut builder = ChangelogMode::builder();
    for name in Vec::<String>::deserialize(deserializer)? {
        if name == DELETE_BY_KEY {
            builder = builder
                .add_contained_kind(RowKind::Delete)
                .key_only_deletes(true);
            continue;
        }
        let found = NAMES.iter().find(|(_, text)| *text == name);
        let (kind, _) =
            found.ok_or_else(|| D::Error::custom(format!("unknown kind of change '{name}'")))?;
        builder = builder.add_contained_kind(*kind);
    }
    Ok(builder.build())
}
