//! Finds names that look like a mistyped one, for hints in errors.

/// Up to three `candidates` that look like `name`, nearest first: by edit distance without regard to
/// case, at most a third of the name's length apart, ties in alphabetical order.
#[must_use]
pub fn near_names<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let limit = (wanted.len() / 3).max(1);
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.to_lowercase().chars().collect();
            let distance = edit_distance(&wanted, &letters);
            (distance <= limit).then_some((distance, candidate))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
        .into_iter()
        .take(3)
        .map(|(_, candidate)| candidate.to_owned())
        .collect()
}

/// Levenshtein's distance, where swapping two neighbours counts as one edit.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_first_and_nothing_far_away() {
        let names = ["price", "prices", "quantity", "Prise"];
        assert_eq!(near_names("prise", names), ["Prise", "price"]);
        assert_eq!(near_names("pirce", names), ["price"]);
        assert!(near_names("supplier", names).is_empty());
        assert!(near_names("", names).is_empty());
        assert_eq!(near_names("größe", ["grösse", "größer"]), ["größer"]);
    }
}
