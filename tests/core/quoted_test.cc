#include "core/quoted.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace lfiw::core {
namespace {

TEST(OneLine, KeepsTextAndEscapesControlCharacters) {
  EXPECT_EQ(OneLine("obs_0, Größe \xE2\x82\xAC"), "obs_0, Größe \xE2\x82\xAC");
  EXPECT_EQ(OneLine("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(OneLine("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(OneLine(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(OneLine, EscapesBytesThatAreNoText) {
  EXPECT_EQ(OneLine("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(OneLine("\xC2\x9B"), "\\xc2\\x9b") << "an 8-bit control character";
}

TEST(Quoted, LongTextsAreShortened) {
  EXPECT_EQ(Quoted("abc"), "abc");
  EXPECT_EQ(Quoted(std::string(5000, 'x'), 10), "xxxxxxxxxx...");
  // not inside a character
  EXPECT_EQ(Quoted("abc\xC3\xA4", 4), "abc...");
}

TEST(Throw, MessagesAreOneLineWhateverTheyQuote) {
  try {
    Throw<DataError>("column '{}'", "a\nb\x1b");
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "column 'a\\nb\\x1b'");
  }
}

}  // namespace
}  // namespace lfiw::core
