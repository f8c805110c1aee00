//! Near names for hints: the Damerau-Levenshtein distance (adjacent form) without case.

/// Names of `candidates` that are near to `name`, nearest first, at most three.
pub fn near_names<I, S>(name: &str, candidates: I) -> Vec<String>
where
    I: IntoIterator<Item = S>,
    S: AsRef<str>,
{
    let wanted = name.to_lowercase();
    let limit = (wanted.chars().count() / 3).max(1);
    let mut found: Vec<(usize, String)> = Vec::new();
    for candidate in candidates {
        let candidate = candidate.as_ref();
        let lower = candidate.to_lowercase();
        let mut far = distance(&wanted, &lower);
        // An option key is often written without its prefix or with another separator.
        let plain = |s: &str| s.replace(['_', '-', '.', ' '], "");
        if plain(&wanted) == plain(&lower) {
            far = 0;
        } else if wanted.len() >= 4 && (lower.ends_with(&wanted) || lower.starts_with(&wanted)) {
            far = far.min(limit);
        }
        if far <= limit && !found.iter().any(|(_, n)| n == candidate) {
            found.push((far, candidate.to_string()));
        }
    }
    found.sort();
    found.truncate(3);
    found.into_iter().map(|(_, n)| n).collect()
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

fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let width = b.len() + 1;
    let mut rows = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        rows[i * width] = i;
    }
    for (j, cell) in rows.iter_mut().take(width).enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[(i - 1) * width + j] + 1)
                .min(rows[i * width + j - 1] + 1)
                .min(rows[(i - 1) * width + j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[(i - 2) * width + j - 2] + 1);
            }
            rows[i * width + j] = best;
        }
    }
    rows[a.len() * width + b.len()]
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
