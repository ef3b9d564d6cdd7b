//! The Markdown that our own commands write, as HTML: headings, paragraphs, lists, tables, code. Not a whole Markdown:
//! what it does not know it shows as text, and nothing in it can become markup of its own.

use maud::{Markup, html};

/// A part of a text.
#[derive(Debug, PartialEq)]
enum Block<'a> {
    Heading(&'a str),
    Paragraph(String),
    List(Vec<String>),
    Table { head: Vec<&'a str>, right: Vec<bool>, rows: Vec<Vec<&'a str>> },
    Code(String),
}

/// A text as HTML. Pictures are left out: pages show them by themselves.
pub fn markdown(text: &str) -> Markup {
    html! {
        div.prose { @for block in blocks(text) { @match &block {
            Block::Heading(text) => h3 { (inline(text)) },
            Block::Paragraph(text) => p { (inline(text)) },
            Block::List(items) => ul { @for item in items { li { (inline(item)) } } },
            Block::Code(text) => pre.scroll { (text) },
            Block::Table { head, right, rows } => div.scroll { table {
                thead { tr { @for (i, cell) in head.iter().enumerate() { th.(side(right, i)) { (inline(cell)) } } } }
                tbody { @for row in rows { tr {
                    @for (i, cell) in row.iter().enumerate() { td.(side(right, i)) { (inline(cell)) } }
                } } }
            } },
        } } }
    }
}

fn side(right: &[bool], column: usize) -> &'static str {
    if right.get(column) == Some(&true) { "number" } else { "text" }
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = text.lines().peekable();
    // A line that goes on with the paragraph or the item above it.
    let mut open = false;
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        let was_open = std::mem::take(&mut open);
        if trimmed.is_empty() || trimmed.starts_with("![") {
            continue;
        }
        if trimmed.starts_with("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.trim().starts_with("```")).collect();
            blocks.push(Block::Code(code.join("\n")));
        } else if trimmed.starts_with('#') {
            blocks.push(Block::Heading(trimmed.trim_start_matches('#').trim()));
        } else if trimmed.starts_with('|') && lines.peek().is_some_and(|next| is_rule(next)) {
            let rule = cells(lines.next().unwrap_or_default());
            let right = rule.iter().map(|cell| cell.ends_with(':')).collect();
            let mut rows = Vec::new();
            while let Some(row) = lines.next_if(|line| line.trim_start().starts_with('|')) {
                rows.push(cells(row));
            }
            blocks.push(Block::Table { head: cells(trimmed), right, rows });
        } else if let Some(item) = trimmed.strip_prefix("- ").or_else(|| trimmed.strip_prefix("* ")) {
            match blocks.last_mut() {
                Some(Block::List(items)) => items.push(item.into()),
                _ => blocks.push(Block::List(vec![item.into()])),
            }
            open = true;
        } else {
            match blocks.last_mut().filter(|_| was_open) {
                Some(Block::Paragraph(text)) => *text += &format!(" {trimmed}"),
                Some(Block::List(items)) => {
                    if let Some(item) = items.last_mut() {
                        *item += &format!(" {trimmed}");
                    }
                }
                _ => blocks.push(Block::Paragraph(trimmed.into())),
            }
            open = true;
        }
    }
    blocks
}

/// `|---|--:|`: what stands below the head of a table.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.chars().all(|c| "|-: ".contains(c))
}

/// The cells of a row; a bar after a backslash is part of its cell.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim().trim_start_matches('|');
    let line = line.strip_suffix('|').unwrap_or(line);
    let (mut cells, mut begin, mut before) = (Vec::new(), 0, ' ');
    for (at, c) in line.char_indices() {
        if c == '|' && before != '\\' {
            cells.push(line[begin..at].trim());
            begin = at + 1;
        }
        before = c;
    }
    cells.push(line[begin..].trim());
    cells
}

/// Code in backquotes, strong words between two stars, the words of links; all else as it stands.
fn inline(text: &str) -> Markup {
    let (mut rest, mut parts) = (text, Vec::new());
    loop {
        let next = ["`", "**", "["].into_iter().filter_map(|sign| Some((rest.find(sign)?, sign))).min();
        let Some((at, sign)) = next else { break };
        let inside = &rest[at + sign.len()..];
        let end = if sign == "[" { "](" } else { sign };
        let Some(length) = inside.find(end) else { break };
        let mut after = &inside[length + end.len()..];
        if sign == "[" {
            let Some(close) = after.find(')') else { break };
            after = &after[close + 1..];
        }
        parts.push((plain(&rest[..at]), sign, plain(&inside[..length])));
        rest = after;
    }
    html! {
        @for (before, sign, inside) in &parts {
            (before)
            @match *sign { "`" => code { (inside) }, "**" => b { (inside) }, _ => (inside) }
        }
        (plain(rest))
    }
}

fn plain(text: &str) -> String {
    text.replace("\\|", "|").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_our_commands_write_becomes_tables_and_text() {
        let text = "# Title\n\nA line\nthat goes on with `code <b>` and **strong**.\n\n| search | pps |\n|---|--:|\n| tds a\\|b | 1,234 |\n\n\
                    - one\n  more\n- two [link](x.md)\n\n![picture](p.svg)\n\n```console\n| no table |\n```\n";
        let html = markdown(text).into_string();
        for part in [
            "<h3>Title</h3>",
            "<p>A line that goes on with <code>code &lt;b&gt;</code> and <b>strong</b>.</p>",
            "<th class=\"number\">pps</th>",
            "<td class=\"text\">tds a|b</td><td class=\"number\">1,234</td>",
            "<li>one more</li><li>two link</li>",
            "<pre class=\"scroll\">| no table |</pre>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("picture"));
    }

    #[test]
    fn what_is_no_markdown_stays_text() {
        let html = markdown("| a table |\n<script>alert(1)</script> `open **open [open\n").into_string();
        assert!(html.contains("| a table | &lt;script&gt;") && html.contains("`open **open [open"), "{html}");
        assert_eq!(blocks(""), []);
        assert!(matches!(&blocks("```\nno end")[0], Block::Code(code) if code == "no end"));
    }
}
