//! The reference table of options.

use super::OptionList;

/// A Markdown table of options: key, default, type, description.
#[must_use]
pub fn render_reference(options: &OptionList) -> String {
    let mut text =
        String::from("| Key | Default | Type | Description |\n| --- | --- | --- | --- |\n");
    for option in options {
        let default = match option.default_text() {
            Some(default) => format!("`{default}`"),
            None => "(none)".to_owned(),
        };
        text.push_str(&format!(
            "| `{}` | {default} | {} | {} |\n",
            option.key(),
            escape(&option.type_name()),
            escape(option.description()),
        ));
    }
    text
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::super::options::OPTIONS;
    use super::*;

    #[test]
    fn one_row_of_four_cells_per_option() {
        let text = render_reference(OPTIONS);
        assert_eq!(text.lines().count(), OPTIONS.len() + 2);
        for line in text.lines() {
            let bars = line.replace("\\|", "").matches('|').count();
            assert_eq!(bars, 5, "{line}");
        }
        assert!(text.contains("| `pipeline.epoch.interval` | `5 ms` | duration |"));
    }
}
