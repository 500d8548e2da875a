#ifndef LFIW_EXPERIMENTS_PRESENTATION_HTML_PAGE_H_
#define LFIW_EXPERIMENTS_PRESENTATION_HTML_PAGE_H_

#include <string>
#include <utility>
#include <vector>

#include "core/layers.h"

namespace lfiw::experiments {

// What a color says: nothing in particular, or how far something can be trusted.
enum class HtmlTone { kNeutral, kGood, kWarning, kBad };

enum class HtmlAlign { kText, kNumber };  // to the left, or to the right with digits of one width

struct HtmlColumn {
  std::string title = {};
  HtmlAlign align = HtmlAlign::kText;
  std::string explanation = {};  // shown where the pointer rests on the title
};

struct HtmlCell {
  HtmlCell() = default;
  HtmlCell(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  HtmlCell(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
  // A drawing made by this program, put in unescaped; `words` say the same to who cannot see it.
  static HtmlCell Drawing(std::string svg, std::string words);
  static HtmlCell Toned(std::string words, HtmlTone tone);
  // Leads to another page; `path` is relative to this one.
  static HtmlCell Link(std::string words, std::string path);

  std::string text;
  std::string svg = {};
  std::string path = {};
  HtmlTone tone = HtmlTone::kNeutral;
};

// A row that a table is about stands out from the others.
enum class HtmlEmphasis { kNone, kStrong };

struct HtmlRow {
  std::vector<HtmlCell> cells = {};  // [columns]
  HtmlEmphasis emphasis = HtmlEmphasis::kNone;
};

struct HtmlTable {
  std::string caption = {};  // may be empty
  std::vector<HtmlColumn> columns = {};
  std::vector<HtmlRow> rows = {};
};

// One of the large numbers at the top of a page.
struct HtmlTile {
  std::string label;
  std::string value;
  std::string note;
};

// A piece of a page, built top to bottom. All text is escaped; only SVG is taken as it is.
class HtmlFragment {
 public:
  void Append(const HtmlFragment& fragment);
  // Levels 1 to 4; those of level 2 make up the list of contents of a long page.
  void Heading(int level, const std::string& text);
  void Paragraph(const std::string& text);
  void Muted(const std::string& text);  // a paragraph of less weight, such as what is missing
  void List(const std::vector<std::string>& items);
  void Code(const std::string& text);
  void Definitions(const std::vector<std::pair<std::string, std::string>>& entries);
  void Tiles(const std::vector<HtmlTile>& tiles);
  void Table(const HtmlTable& table);
  // A colored box: a badge with one word or two, a sentence, and reasons (may be empty).
  void Verdict(HtmlTone tone, const std::string& badge, const std::string& sentence,
               const std::vector<std::string>& reasons);
  // `svg` is one <svg> element; its ids get `name` (unique in the page) in front.
  void Figure(const std::string& name, const std::string& svg, const std::string& caption);
  // Several fragments side by side where the screen is wide enough.
  void Columns(const std::vector<HtmlFragment>& fragments);
  // Folded until the reader opens it.
  void Details(const std::string& summary, const HtmlFragment& body);

  const std::string& html() const { return html_; }
  const std::vector<std::string>& sections() const { return sections_; }

 private:
  std::string html_;
  std::vector<std::string> sections_;  // headings of level 2
};

// A whole page that needs no other file, no network and no script; it follows the reader's light or
// dark screen and prints. From four sections on it begins with links to them.
std::string HtmlPage(const std::string& title, const HtmlFragment& body);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_HTML_PAGE_H_
