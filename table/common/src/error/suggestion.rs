//! Near names for hints: those of the runtime, and names that differ in separators or in a prefix.

use aquifer_runtime::config;

/// Names of `candidates` that are near to `name`, nearest first, at most three. An option key is
/// often written with another separator or without what stands in front of it.
pub fn near_names<I, S>(name: &str, candidates: I) -> Vec<String>
where
    I: IntoIterator<Item = S>,
    S: AsRef<str>,
{
    let plain = |s: &str| s.to_lowercase().replace(['_', '-', '.', ' '], "");
    let wanted = plain(name);
    let candidates: Vec<String> = candidates
        .into_iter()
        .map(|c| c.as_ref().to_string())
        .collect();
    let is_same = |c: &&String| plain(c) == wanted;
    let is_part = |c: &&String| {
        let candidate = plain(c);
        wanted.len() >= 4 && (candidate.ends_with(&wanted) || candidate.starts_with(&wanted))
    };
    let mut near: Vec<String> = Vec::new();
    let typos = config::near_names(name, candidates.iter().map(String::as_str));
    let same = candidates.iter().filter(is_same).cloned();
    let parts = candidates.iter().filter(is_part).cloned();
    for found in same.chain(typos).chain(parts) {
        if !near.contains(&found) {
            near.push(found);
        }
    }
    near.truncate(3);
    near
}

/// `Did you mean 'price'?` for the near names of `candidates`, if there are any.
pub fn did_you_mean<I, S>(name: &str, candidates: I) -> Option<String>
where
    I: IntoIterator<Item = S>,
    S: AsRef<str>,
{
    let near = near_names(name, candidates);
    if near.is_empty() {
        return None;
    }
    let quoted: Vec<String> = near.iter().map(|n| format!("'{n}'")).collect();
    Some(format!("Did you mean {}?", quoted.join(" or ")))
}

/// A hint that names the near candidates if there are any and else lists all of them.
pub fn registered(what: &str, name: &str, candidates: &[String]) -> String {
    let mut hint = did_you_mean(name, candidates).map_or(String::new(), |near| near + " ");
    if candidates.is_empty() {
        hint.push_str(&format!("No {what} is registered."));
    } else {
        hint.push_str(&format!("Registered {what}s: {}.", candidates.join(", ")));
    }
    hint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typos_swaps_and_other_separators() {
        let names = ["price", "amount", "ignore-parse-errors", "user_id"];
        assert_eq!(near_names("prise", names), ["price"]);
        assert_eq!(near_names("amuont", names), ["amount"]);
        assert_eq!(
            near_names("ignore_parse_errors", names),
            ["ignore-parse-errors"]
        );
        assert_eq!(near_names("UserId", names), ["user_id"]);
        assert!(near_names("zebra", names).is_empty());
        assert_eq!(
            did_you_mean("prise", names).as_deref(),
            Some("Did you mean 'price'?")
        );
    }
}
