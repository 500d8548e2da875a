#include "core/config/config_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

// The values that one argument expands to, without the key "a=".
std::vector<std::string> Values(const std::string& value) {
  std::vector<std::string> values;
  for (const auto& overrides : ExpandSweep({"a=" + value})) {
    values.push_back(overrides.at(0).substr(2));
  }
  return values;
}

TEST(ExpandSweepTest, ProductInOrderLastFastest) {
  EXPECT_THAT(
      ExpandSweep({"a=1,2", "b=x", "c=[1,2],[3]"}),
      ElementsAre(ElementsAre("a=1", "b=x", "c=[1,2]"), ElementsAre("a=1", "b=x", "c=[3]"),
                  ElementsAre("a=2", "b=x", "c=[1,2]"), ElementsAre("a=2", "b=x", "c=[3]")));
}

TEST(ExpandSweepTest, NoArgumentsAreOneRun) {
  EXPECT_THAT(ExpandSweep({}), ElementsAre(IsEmpty()));
}

TEST(ExpandSweepTest, RangesAreHalfOpen) {
  EXPECT_THAT(Values("range(0,3)"), ElementsAre("0", "1", "2"));
  EXPECT_THAT(Values("range(0, 100, 40)"), ElementsAre("0", "40", "80"));
  EXPECT_THAT(Values("range(10,0,-5)"), ElementsAre("10", "5"));
  EXPECT_THAT(Values("range(0,0.5,0.1)"), ElementsAre("0", "0.1", "0.2", "0.3", "0.4"));
  EXPECT_THAT(Values("5,range(0,2),x"), ElementsAre("5", "0", "1", "x"));
}

TEST(ExpandSweepTest, CommasInQuotesAndBracketsDoNotSplit) {
  EXPECT_THAT(Values("'x,y',{p: 1, q: 2}"), ElementsAre("'x,y'", "{p: 1, q: 2}"));
  EXPECT_THAT(Values(""), ElementsAre(""));
}

TEST(ExpandSweepTest, MalformedArgumentsAreNamed) {
  for (const char* value : {"range(3,0)", "range(0,1,0)", "range(0)", "range(0,x)", "range(0,inf)",
                            "[1", "1)", "range(0,1e9)"}) {
    EXPECT_THAT([&] { Values(value); },
                ThrowsMessage<ConfigError>(HasSubstr(std::string("argument 'a=") + value)));
  }
  EXPECT_THROW(ExpandSweep({"a"}), ConfigError);
}

TEST(ExpandSweepTest, HugeProductsAreRefused) {
  EXPECT_THAT(ExpandSweep({"a=range(0,1000)", "b=range(0,100)"}), SizeIs(100'000));
  EXPECT_THAT(
      [] {
        ExpandSweep({"a=range(0,1000)", "b=range(0,101)"});
      },
      ThrowsMessage<ConfigError>(HasSubstr("more than 100000")));
}

}  // namespace
}  // namespace lfiw::core
