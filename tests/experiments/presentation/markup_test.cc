#include "experiments/presentation/markup.h"

#include <gtest/gtest.h>

namespace lfiw::experiments {
namespace {

TEST(CleanText, KeepsUtf8AsItIs) {
  const std::string text = "v\xCC\x82 \xCE\xB4 \xE2\x82\xAC \xF0\x9F\x90\x86 plain";
  EXPECT_EQ(CleanText(text), text);
}

TEST(CleanText, LineBreaksAndControlCharactersBecomeSpaces) {
  EXPECT_EQ(CleanText("a\nb\tc\rd\x01"
                      "e\x7F"
                      "f\xC2\x85g"),
            "a b c d e f g");
  EXPECT_EQ(CleanText(std::string("a\0b", 3)), "a b");
}

TEST(CleanText, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(CleanText("a\xFFz"), "a" + replacement + "z");
  EXPECT_EQ(CleanText("cut \xE2\x82"), "cut " + replacement + replacement);
  EXPECT_EQ(CleanText("\xC0\xAF"), replacement + replacement);                    // overlong '/'
  EXPECT_EQ(CleanText("\xED\xA0\x80"), replacement + replacement + replacement);  // a surrogate
  EXPECT_EQ(CleanText("\xEF\xBF\xBF"), replacement);                              // U+FFFF
}

TEST(EscapeMarkup, TheFiveSpecialCharactersBecomeEntities) {
  EXPECT_EQ(EscapeMarkup("<a href=\"x\">'&amp;'</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt;");
}

}  // namespace
}  // namespace lfiw::experiments
