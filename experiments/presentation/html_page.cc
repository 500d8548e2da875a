#include "experiments/presentation/html_page.h"

#include <fmt/format.h>

#include <string_view>

#include "core/error.h"
#include "experiments/presentation/markup.h"

namespace lfiw::experiments {
namespace {

constexpr std::string_view kStyleSheet = R"css(
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --ink: #1f2328; --muted: #5c6570;
  --line: #dfe3e8; --accent: #0072b2; --good: #00734f; --good-back: #e3f4ed; --warning: #8a5a00;
  --warning-back: #fdf2d8; --bad: #a8321f; --bad-back: #fbe6e1; --neutral: #4b5563;
  --neutral-back: #eceff3; --shade: #9aa3ad; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #121316; --card: #1b1d21; --ink: #e3e5e8; --muted: #9aa3ad; --line: #363a41;
    --accent: #56b4e9; --good: #5fd3a6; --good-back: #12291f; --warning: #f0c25a;
    --warning-back: #2d2411; --bad: #ff9a85; --bad-back: #341a15; --neutral: #c3c9d1;
    --neutral-back: #262a30; --shade: #6b7480; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0.5rem 0 0.25rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.5rem; padding-bottom: 0.3rem;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 0.4rem; }
h4 { font-size: 1rem; margin: 1rem 0 0.3rem; }
p, ul { margin: 0.5rem 0; max-width: 50rem; }
.muted, figcaption, caption, .tile .note { color: var(--muted); }
.muted { font-size: 0.95rem; }
.verdict { margin: 1rem 0; padding: 0.9rem 1.1rem; border-radius: 10px;
  border-left: 6px solid var(--tone); background: var(--tone-back); }
.verdict p { margin: 0; font-size: 1.05rem; max-width: none; }
.verdict ul { margin: 0.5rem 0 0; padding-left: 1.2rem; max-width: none; }
.badge { display: inline-block; margin-right: 0.5rem; padding: 0.05rem 0.6rem; border-radius: 1rem;
  background: var(--tone); color: var(--card); font-weight: 650; }
.neutral { --tone: var(--neutral); --tone-back: var(--neutral-back); }
.good { --tone: var(--good); --tone-back: var(--good-back); }
.warning { --tone: var(--warning); --tone-back: var(--warning-back); }
.bad { --tone: var(--bad); --tone-back: var(--bad-back); }
.tiles { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 1rem 0; }
.tile { flex: 1 1 12rem; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); }
.tile .label { font-size: 0.85rem; color: var(--muted); }
.tile .value { font-size: 1.6rem; font-weight: 650; line-height: 1.25;
  font-variant-numeric: tabular-nums; }
.tile .note { font-size: 0.85rem; }
.scroll { overflow-x: auto; margin: 0.75rem 0; width: fit-content; max-width: 100%;
  background:
  linear-gradient(to right, var(--card) 40%, transparent) left / 3rem 100% local,
  linear-gradient(to left, var(--card) 40%, transparent) right / 3rem 100% local,
  linear-gradient(to right, var(--shade), transparent) left / 0.9rem 100%,
  linear-gradient(to left, var(--shade), transparent) right / 0.9rem 100%, var(--card);
  background-repeat: no-repeat; }
table { border-collapse: collapse; font-size: 0.9rem; min-width: 60%; }
caption { text-align: left; padding: 0 0 0.4rem; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.55rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: middle; }
th { font-weight: 600; color: var(--muted); white-space: nowrap; border-bottom-width: 2px; }
th[title] { text-decoration: underline dotted; text-underline-offset: 3px; cursor: help; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.toned { color: var(--tone); font-weight: 600; }
tr.strong td { font-weight: 650; border-bottom-color: var(--accent); border-top: 1px solid
  var(--accent); }
tr.strong td:first-child { box-shadow: inset 4px 0 var(--accent); }
a { color: var(--accent); }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; font-size: 0.88rem; }
td:not(.number) { min-width: 7rem; }
td svg { display: block; }
dl { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: 0.25rem 1.25rem;
  margin: 0.75rem 0; font-size: 0.95rem; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
.columns { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr));
  gap: 1rem; align-items: start; }
figure { margin: 0.75rem 0; padding: 0.75rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); break-inside: avoid; }
figure svg { display: block; width: 100%; max-width: 720px; height: auto; margin: 0 auto; }
.columns figure { margin: 0; }
figcaption { font-size: 0.88rem; line-height: 1.4; margin-top: 0.5rem; }
details { margin: 0.75rem 0; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); padding: 0 1rem; }
summary { padding: 0.6rem 0; cursor: pointer; font-weight: 600; }
details[open] { padding-bottom: 0.75rem; }
details > figure { border: 0; padding: 0.25rem 0; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: 0.88rem; }
pre { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); white-space: pre-wrap; overflow-wrap: anywhere; }
@media print {
  body { background: #fff; font-size: 11pt; }
  main { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  tr, .verdict, .tile { break-inside: avoid; print-color-adjust: exact; }
  .scroll { overflow: visible; background: none; }
  nav { display: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
)css";

std::string_view ToneClass(HtmlTone tone) {
  switch (tone) {
    case HtmlTone::kGood:
      return "good";
    case HtmlTone::kWarning:
      return "warning";
    case HtmlTone::kBad:
      return "bad";
    case HtmlTone::kNeutral:
      break;
  }
  return "neutral";
}

std::string_view AlignClass(HtmlAlign align) {
  return align == HtmlAlign::kNumber ? " class=\"number\"" : "";
}

// An id in a page from words: "How good is the model?" becomes "how-good-is-the-model".
std::string IdOf(std::string_view words) {
  std::string id;
  for (const char c : words) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    if (plain || capital) {
      id += capital ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (id.ends_with('-')) id.pop_back();
  return id;
}

// A relative path as a link has it: all but letters, digits and "-._~/" as hexadecimal bytes.
std::string UrlOf(std::string_view path) {
  std::string url;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

// What stands between the tags of a cell.
std::string ContentOf(const HtmlCell& cell) {
  const std::string text = EscapeMarkup(cell.text);
  if (!cell.svg.empty()) {
    return fmt::format("<span role=\"img\" aria-label=\"{}\">{}</span>", text, cell.svg);
  }
  if (!cell.path.empty()) return fmt::format("<a href=\"{}\">{}</a>", UrlOf(cell.path), text);
  return text;
}

std::string ClassOf(const HtmlCell& cell, HtmlAlign align) {
  if (cell.tone == HtmlTone::kNeutral) return std::string(AlignClass(align));
  return fmt::format(" class=\"toned {}{}\"", ToneClass(cell.tone),
                     align == HtmlAlign::kNumber ? " number" : "");
}

// Links to the sections of a long page; nothing for a short one.
std::string Contents(const std::vector<std::string>& sections) {
  constexpr std::size_t kFewestSections = 4;
  if (sections.size() < kFewestSections) return "";
  std::string html = "<nav aria-label=\"Contents\">\n";
  for (const std::string& section : sections) {
    html += fmt::format("<a href=\"#{}\">{}</a>\n", IdOf(section), EscapeMarkup(section));
  }
  return html + "</nav>\n";
}

std::string ListItems(const std::vector<std::string>& items) {
  std::string html = "<ul>\n";
  for (const std::string& item : items) html += "<li>" + EscapeMarkup(item) + "</li>\n";
  return html + "</ul>\n";
}

// Ids are global in a page, and every plot has the same ones: puts `prefix` in front of those that
// the tags of `svg` define and refer to, and leaves its text alone.
std::string WithIdPrefix(std::string_view svg, const std::string& prefix) {
  constexpr std::string_view kSpots[] = {" id='", " id=\"", "href='#", "href=\"#"};
  std::string result;
  bool in_tag = false;
  for (std::size_t i = 0; i < svg.size(); ++i) {
    if (svg[i] == '<') in_tag = true;
    if (svg[i] == '>') in_tag = false;
    result += svg[i];
    if (!in_tag) continue;
    for (const std::string_view spot : kSpots)
      if (std::string_view(result).ends_with(spot)) result += prefix + "-";
  }
  return result;
}

}  // namespace

HtmlCell HtmlCell::Drawing(std::string svg, std::string words) {
  HtmlCell cell(std::move(words));
  cell.svg = std::move(svg);
  return cell;
}

HtmlCell HtmlCell::Toned(std::string words, HtmlTone tone) {
  HtmlCell cell(std::move(words));
  cell.tone = tone;
  return cell;
}

HtmlCell HtmlCell::Link(std::string words, std::string path) {
  HtmlCell cell(std::move(words));
  cell.path = std::move(path);
  return cell;
}

void HtmlFragment::Append(const HtmlFragment& fragment) {
  html_ += fragment.html_;
  sections_.insert(sections_.end(), fragment.sections_.begin(), fragment.sections_.end());
}

void HtmlFragment::Heading(int level, const std::string& text) {
  LFIW_ASSERT(level >= 1 && level <= 4);
  std::string id;
  if (level == 2) {
    sections_.push_back(text);
    id = fmt::format(" id=\"{}\"", IdOf(text));
  }
  html_ += fmt::format("<h{}{}>{}</h{}>\n", level, id, EscapeMarkup(text), level);
}

void HtmlFragment::Paragraph(const std::string& text) {
  html_ += "<p>" + EscapeMarkup(text) + "</p>\n";
}

void HtmlFragment::Muted(const std::string& text) {
  html_ += "<p class=\"muted\">" + EscapeMarkup(text) + "</p>\n";
}

void HtmlFragment::List(const std::vector<std::string>& items) { html_ += ListItems(items); }

void HtmlFragment::Code(const std::string& text) {
  html_ += "<pre><code>" + EscapeMarkup(text) + "</code></pre>\n";
}

void HtmlFragment::Definitions(const std::vector<std::pair<std::string, std::string>>& entries) {
  html_ += "<dl>\n";
  for (const auto& [term, meaning] : entries)
    html_ += "<dt>" + EscapeMarkup(term) + "</dt><dd>" + EscapeMarkup(meaning) + "</dd>\n";
  html_ += "</dl>\n";
}

void HtmlFragment::Tiles(const std::vector<HtmlTile>& tiles) {
  html_ += "<div class=\"tiles\">\n";
  for (const HtmlTile& tile : tiles)
    html_ += fmt::format(
        "<div class=\"tile\"><div class=\"label\">{}</div><div class=\"value\">{}</div>"
        "<div class=\"note\">{}</div></div>\n",
        EscapeMarkup(tile.label), EscapeMarkup(tile.value), EscapeMarkup(tile.note));
  html_ += "</div>\n";
}

void HtmlFragment::Table(const HtmlTable& table) {
  html_ += "<div class=\"scroll\"><table>\n";
  if (!table.caption.empty()) html_ += "<caption>" + EscapeMarkup(table.caption) + "</caption>\n";
  html_ += "<thead><tr>";
  for (const HtmlColumn& column : table.columns) {
    const std::string title = column.explanation.empty()
                                  ? ""
                                  : fmt::format(" title=\"{}\"", EscapeMarkup(column.explanation));
    html_ += fmt::format("<th scope=\"col\"{}{}>{}</th>", AlignClass(column.align), title,
                         EscapeMarkup(column.title));
  }
  html_ += "</tr></thead>\n<tbody>\n";
  for (const HtmlRow& row : table.rows) {
    LFIW_ASSERT(row.cells.size() == table.columns.size());
    html_ += row.emphasis == HtmlEmphasis::kStrong ? "<tr class=\"strong\">" : "<tr>";
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const HtmlCell& cell = row.cells[i];
      html_ += fmt::format("<td{}>{}</td>", ClassOf(cell, table.columns[i].align), ContentOf(cell));
    }
    html_ += "</tr>\n";
  }
  html_ += "</tbody></table></div>\n";
}

void HtmlFragment::Verdict(HtmlTone tone, const std::string& badge, const std::string& sentence,
                           const std::vector<std::string>& reasons) {
  html_ +=
      fmt::format("<div class=\"verdict {}\"><p><span class=\"badge\">{}</span>{}</p>\n{}</div>\n",
                  ToneClass(tone), EscapeMarkup(badge), EscapeMarkup(sentence),
                  reasons.empty() ? "" : ListItems(reasons));
}

void HtmlFragment::Figure(const std::string& name, const std::string& svg,
                          const std::string& caption) {
  const std::string id = EscapeMarkup(name);
  html_ += fmt::format("<figure id=\"{}\">\n{}\n<figcaption>{}</figcaption>\n</figure>\n", id,
                       WithIdPrefix(svg, id), EscapeMarkup(caption));
}

void HtmlFragment::Columns(const std::vector<HtmlFragment>& fragments) {
  html_ += "<div class=\"columns\">\n";
  for (const HtmlFragment& fragment : fragments) html_ += "<div>\n" + fragment.html() + "</div>\n";
  html_ += "</div>\n";
}

void HtmlFragment::Details(const std::string& summary, const HtmlFragment& body) {
  html_ += fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", EscapeMarkup(summary),
                       body.html());
}

std::string HtmlPage(const std::string& title, const HtmlFragment& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}{}</main>\n</body>\n"
      "</html>\n",
      EscapeMarkup(title), kStyleSheet, Contents(body.sections()), body.html());
}

}  // namespace lfiw::experiments
