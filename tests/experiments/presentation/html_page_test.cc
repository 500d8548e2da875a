#include "experiments/presentation/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/presentation/markup_check.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const char* const kHostile = "<script>alert(\"1\")</script> & ' \" \x01 \xFF </style>";

HtmlFragment EverythingOf(const std::string& text) {
  HtmlFragment html, inner;
  html.Heading(1, text);
  html.Paragraph(text);
  html.Muted(text);
  html.List({text, text});
  html.Code(text);
  html.Definitions({{text, text}});
  html.Tiles({{text, text, text}});
  html.Table({.caption = text,
              .columns = {{text, HtmlAlign::kNumber, text}, {text}},
              .rows = {{{text, HtmlCell::Drawing("<svg></svg>", text)}, HtmlEmphasis::kStrong},
                       {{HtmlCell::Toned(text, HtmlTone::kBad), HtmlCell::Link(text, text)}}}});
  html.Verdict(HtmlTone::kGood, text, text, {text});
  html.Figure("figure", "<svg></svg>", text);
  inner.Paragraph(text);
  html.Columns({inner, inner});
  html.Details(text, inner);
  return html;
}

TEST(HtmlPage, HostileTextIsEscapedEverywhere) {
  const std::string page = HtmlPage(kHostile, EverythingOf(kHostile));
  EXPECT_EQ(MarkupFault(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("alert(\"")));
  EXPECT_THAT(page, Not(HasSubstr("\x01")));
  EXPECT_THAT(page, Not(HasSubstr("\xFF")));
  EXPECT_THAT(page, HasSubstr("<p>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;"));
}

TEST(HtmlPage, NeedsNoScriptAndNothingFromElsewhere) {
  const std::string page = HtmlPage("title", EverythingOf("text"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("url(")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

TEST(HtmlPage, LongOnesBeginWithLinksToTheirSections) {
  HtmlFragment body, part;
  for (const char* title : {"First & last?", "Two", "Three"}) body.Heading(2, title);
  EXPECT_THAT(HtmlPage("short", body), Not(HasSubstr("<nav")));
  part.Heading(2, "Four");
  body.Append(part);
  const std::string page = HtmlPage("long", body);
  EXPECT_THAT(page, HasSubstr("<a href=\"#first-last\">First &amp; last?</a>"));
  EXPECT_THAT(page, HasSubstr("<h2 id=\"first-last\">First &amp; last?</h2>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#four\">Four</a>"));
}

TEST(HtmlFragment, NumbersAreAlignedInHeadAndBody) {
  HtmlFragment html;
  html.Table({.columns = {{"name"}, {"value", HtmlAlign::kNumber}}, .rows = {{{"a", "1.0"}}}});
  EXPECT_THAT(html.html(), HasSubstr("<th scope=\"col\">name</th>"));
  EXPECT_THAT(html.html(), HasSubstr("<th scope=\"col\" class=\"number\">value</th>"));
  EXPECT_THAT(html.html(), HasSubstr("<td>a</td><td class=\"number\">1.0</td>"));
}

TEST(HtmlFragment, FigureIdsAreMadeUniqueAndTextIsLeftAlone) {
  HtmlFragment html;
  html.Figure("ess",
              "<svg><g id=\"a\"/><g id='b'/><use xlink:href='#b'/><text>x id='c' "
              "href='#d'</text></svg>",
              "caption");
  EXPECT_THAT(html.html(), HasSubstr("<figure id=\"ess\">"));
  EXPECT_THAT(html.html(), HasSubstr("<g id=\"ess-a\"/><g id='ess-b'/><use xlink:href='#ess-b'/>"));
  EXPECT_THAT(html.html(), HasSubstr("<text>x id='c' href='#d'</text>"));
}

TEST(HtmlFragment, VerdictHasTheClassOfItsTone) {
  HtmlFragment html;
  html.Verdict(HtmlTone::kBad, "do not use", "why", {});
  EXPECT_THAT(html.html(), HasSubstr("class=\"verdict bad\""));
  EXPECT_THAT(html.html(), Not(HasSubstr("<ul>")));
}

}  // namespace
}  // namespace lfiw::experiments
