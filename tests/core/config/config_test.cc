#include "core/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
enum class Shade { kLight, kDark };
constexpr auto EnumNames(Shade /*kind*/) {
  return std::to_array<std::string_view>({"light", "dark"});
}

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

struct Inner {
  std::int64_t steps = 100'000;
  double learning_rate = 1e-3;

  bool operator==(const Inner&) const = default;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("steps", steps, "gradient steps", AtLeast(1));
    v.Field("learning_rate", learning_rate, "step size", Positive());
  }
};

struct Outer {
  std::string name = "default";
  std::uint64_t seed = 0;
  bool enabled = true;
  Shade shade = Shade::kLight;
  int small = 3;
  double bound = 0.5;
  double horizon = 1.0;
  std::vector<double> alphas = {1.0};
  std::vector<Shade> shades;
  std::vector<Inner> stages;
  std::optional<std::int64_t> limit;
  Inner fit;

  bool operator==(const Outer&) const = default;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "what it is called");
    v.Field("seed", seed, "root seed");
    v.Field("enabled", enabled, "whether it runs");
    v.Field("shade", shade, "a choice");
    v.Field("small", small, "a 32-bit number");
    v.Field("bound", bound, "a share", Between(0, 1));
    v.Field("horizon", horizon, "may be endless", OrInfinity(Positive()));
    v.Field("alphas", alphas, "exponents", Between(0, 1));
    v.Field("shades", shades, "choices");
    v.Field("stages", stages, "fits in turn");
    v.Field("limit", limit, "a limit", AtLeast(1));
    v.Field("fit", fit, "the fit");
  }
};

Outer Load(const std::string& yaml) {
  Outer outer;
  ReadConfig(ParseYaml(yaml, "f.yaml"), outer);
  return outer;
}

// The lines of the error that reading `yaml` gives.
std::vector<std::string> Problems(const std::string& yaml) {
  try {
    Load(yaml);
  } catch (const ConfigError& e) {
    std::vector<std::string> lines(1);
    for (const char* c = e.what(); *c != '\0'; ++c) {
      if (*c == '\n') {
        lines.emplace_back();
      } else {
        lines.back() += *c;
      }
    }
    return lines;
  }
  return {};
}

// A number of steps that may be endless.
struct Steps {
  std::int64_t steps = 10;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("steps", steps, "how many", OrInfinity(AtLeast(1)));
  }
};

TEST(LoadConfig, ReadsInfiniteIntegersAsTheLargestAndWritesThemBack) {
  auto steps = LoadConfig<Steps>("", {"steps=inf"});
  EXPECT_EQ(steps.steps, std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(DumpConfig(steps), HasSubstr("steps: .inf"));
  EXPECT_THROW(LoadConfig<Steps>("", {"steps=-inf"}), ConfigError);
  EXPECT_THROW(LoadConfig<Steps>("", {"steps=1.5"}), ConfigError);
}

TEST(ConfigTest, MissingFieldsKeepTheirDefaults) {
  EXPECT_EQ(Load(""), Outer());
  EXPECT_EQ(Load("fit:\n"), Outer());
}

TEST(ConfigTest, ReadsEveryType) {
  const Outer outer = Load(
      "name: 007\nseed: 18446744073709551615\nenabled: false\nshade: dark\nsmall: -1\n"
      "bound: 1e-3\nhorizon: inf\nalphas: [1, 0.5]\nshades: [dark, light]\n"
      "stages: [{steps: 1}, {}]\nlimit: 5\nfit:\n  steps: 1_000_000\n");
  EXPECT_EQ(outer.name, "007");
  EXPECT_EQ(outer.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(outer.enabled);
  EXPECT_EQ(outer.shade, Shade::kDark);
  EXPECT_EQ(outer.small, -1);
  EXPECT_EQ(outer.bound, 1e-3);
  EXPECT_TRUE(std::isinf(outer.horizon));
  EXPECT_THAT(outer.alphas, ElementsAre(1.0, 0.5));
  EXPECT_THAT(outer.shades, ElementsAre(Shade::kDark, Shade::kLight));
  EXPECT_EQ(outer.stages.at(0).steps, 1);
  EXPECT_EQ(outer.stages.at(1), Inner());
  EXPECT_EQ(outer.limit, 5);
  EXPECT_EQ(outer.fit.steps, 1'000'000);
}

TEST(ConfigTest, IntegersMayBeWrittenAsWholePowersOfTen) {
  EXPECT_EQ(Load("fit: {steps: 1e6}").fit.steps, 1'000'000);
  EXPECT_EQ(Load("fit: {steps: 2.5E3}").fit.steps, 2500);
  EXPECT_EQ(Load("limit: null").limit, std::nullopt);
  for (const char* value : {"1.5", "1.0", "1e-1", "1e60", "0x10", "abc", "'5'", "1__0", "_1", "1_",
                            "9223372036854775808", "nan", "[1]", "true", ""}) {
    EXPECT_THAT(Problems(std::string("fit: {steps: ") + value + "}"),
                ElementsAre(HasSubstr("f.yaml:1: fit.steps: got")))
        << value;
  }
}

TEST(ConfigTest, NumbersOutsideTheirLimitsAreWrong) {
  EXPECT_THAT(Problems("bound: 1.01"),
              ElementsAre("f.yaml:1: bound: got '1.01', expected a number in [0, 1]"));
  EXPECT_THAT(Problems("fit: {learning_rate: 0}"),
              ElementsAre("f.yaml:1: fit.learning_rate: got '0', expected a number > 0"));
  EXPECT_THAT(Problems("fit: {learning_rate: inf}"), ElementsAre(HasSubstr("got 'inf'")));
  EXPECT_THAT(Problems("horizon: nan"), ElementsAre(HasSubstr("expected a number > 0 or inf")));
  EXPECT_THAT(Problems("small: 3_000_000_000"), ElementsAre(HasSubstr("small: got")));
  EXPECT_THAT(Problems("seed: -1"), ElementsAre(HasSubstr("expected an integer >= 0")));
  EXPECT_THAT(Problems("alphas: [0.5, 2]"), ElementsAre(HasSubstr("alphas.1: got '2'")));
  EXPECT_THAT(Problems("limit: 0"), ElementsAre(HasSubstr("expected an integer >= 1")));
}

TEST(ConfigTest, EveryProblemIsToldInOneGo) {
  EXPECT_THAT(Problems("shade: gray\nfit:\n  stpes: 5\n  learning_rate: fast\nenabled: maybe\n"),
              ElementsAre("f.yaml:5: enabled: got 'maybe', expected true or false",
                          "f.yaml:1: shade: got 'gray', expected one of light, dark",
                          "f.yaml:4: fit.learning_rate: got 'fast', expected a number > 0",
                          "f.yaml:3: fit.stpes: unknown key; did you mean 'fit.steps'?"));
}

TEST(ConfigTest, UnknownKeysSuggestTheNearestRightName) {
  EXPECT_THAT(Problems("sed: 1"), ElementsAre(HasSubstr("did you mean 'seed'?")));
  EXPECT_THAT(Problems("fit: {rate: 1}"),
              ElementsAre(HasSubstr("did you mean 'fit.learning_rate'?")));
  // a right name at the wrong place
  EXPECT_THAT(Problems("learning_rate: 1"),
              ElementsAre("f.yaml:1: learning_rate: unknown key; did you mean "
                          "'fit.learning_rate'?"));
  EXPECT_THAT(Problems("fit: {qqqqqq: 1}"),
              ElementsAre(HasSubstr("unknown key; known here: steps, learning_rate")));
  EXPECT_THAT(Problems("stages: [{}, {step: 1}]"),
              ElementsAre(HasSubstr("did you mean 'stages.1.steps'?")));
}

TEST(ConfigTest, WrongShapesAreNamed) {
  EXPECT_THAT(Problems("fit: 3"), ElementsAre("f.yaml:1: fit: got '3', expected a map of fields"));
  EXPECT_THAT(Problems("alphas: 1"), ElementsAre(HasSubstr("expected a list such as [a, b]")));
  EXPECT_THAT(Problems("name:"), ElementsAre(HasSubstr("got nothing, expected a text")));
  EXPECT_THAT(Problems("[1, 2]"), ElementsAre(HasSubstr("the file: got a list of 2")));
}

TEST(ConfigTest, DumpLoadsBackToTheSameValues) {
  Outer outer;
  outer.name = "yes: #1";
  outer.seed = std::numeric_limits<std::uint64_t>::max();
  outer.shade = Shade::kDark;
  outer.bound = 0.1 + 0.2;
  outer.horizon = std::numeric_limits<double>::infinity();
  outer.alphas = {1.0 / 3.0, 5e-324, 1e-5};
  outer.shades = {Shade::kDark};
  outer.stages = {Inner{5, 1e20}, Inner{}};
  outer.limit = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Load("alphas: [1]"), Outer());
  EXPECT_EQ(Load(DumpConfig(Outer())), Outer());
  // bound exceeds nothing, learning rates are positive: all within limits
  EXPECT_EQ(Load(DumpConfig(outer)), outer);
  EXPECT_EQ(Load(DescribeConfig(outer)), outer);
}

TEST(ConfigTest, DescribeTellsMeaningDefaultAndWhatIsAllowed) {
  const std::string text = DescribeConfig<Outer>();
  EXPECT_THAT(text, HasSubstr("shade: light  "));
  EXPECT_THAT(text, HasSubstr("# a choice (one of light, dark)\n"));
  EXPECT_THAT(text, HasSubstr("# gradient steps (integer >= 1)\n"));
  EXPECT_THAT(text, HasSubstr("# exponents (list of number in [0, 1])\n"));
  EXPECT_THAT(text, HasSubstr("# a limit (integer >= 1 or null)\n"));
}

TEST(ConfigTest, CanonicalTextChangesWithValuesOnly) {
  Outer changed;
  changed.fit.steps = 5;
  EXPECT_EQ(CanonicalText(Outer()), CanonicalText(Load("# comment\nseed: 0\n")));
  EXPECT_NE(CanonicalText(Outer()), CanonicalText(changed));
  EXPECT_EQ(CanonicalText(Inner()), R"({"learning_rate":0.001,"steps":100000})");
}

TEST(LoadConfigTest, OverridesComeAfterTheFileAndAreNamedInErrors) {
  const TestDir dir;
  WriteFileAtomically(dir / "a.yaml", "seed: 1\nfit: {steps: 7}\n");
  const auto outer = LoadConfig<Outer>(dir / "a.yaml", {"seed=2", "seed=3", "alphas=[0,1]"});
  EXPECT_EQ(outer.seed, 3u);
  EXPECT_EQ(outer.fit.steps, 7);
  EXPECT_THAT(outer.alphas, ElementsAre(0.0, 1.0));
  EXPECT_EQ(LoadConfig<Outer>("", {"fit.steps=9"}).fit.steps, 9);
  EXPECT_THAT([&] { LoadConfig<Outer>(dir / "a.yaml", {"fit.step=1"}); },
              ThrowsMessage<ConfigError>(
                  "argument 'fit.step=1': fit.step: unknown key; did you mean 'fit.steps'?"));
}

TEST(LoadConfigTest, AMissingFileIsNamed) {
  EXPECT_THAT([] { LoadConfig<Outer>("/no/such.yaml"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("/no/such.yaml"), HasSubstr("No such file"))));
}

TEST(AllPaths, NamesEveryLevelHoweverManyFieldsThereAre) {
  // three levels of eight fields each outgrow any small buffer of paths on the way
  ConfigNode root = ConfigNode::Map();
  for (int i = 0; i < 8; ++i) {
    ConfigNode middle = ConfigNode::Map();
    for (int j = 0; j < 8; ++j) {
      ConfigNode inner = ConfigNode::Map();
      for (int k = 0; k < 8; ++k) {
        inner.Add("a_leaf_of_some_length_" + std::to_string(k), ConfigNode::Scalar("1"));
      }
      middle.Add("a_middle_of_some_length_" + std::to_string(j), std::move(inner));
    }
    root.Add("a_root_of_some_length_" + std::to_string(i), std::move(middle));
  }
  const std::vector<std::string> paths = internal::AllPaths(root);
  ASSERT_EQ(paths.size(), 8u + 64u + 512u);
  EXPECT_EQ(paths.back(),
            "a_root_of_some_length_7.a_middle_of_some_length_7.a_leaf_of_some_length_7");
  EXPECT_THAT(paths, testing::Each(testing::StartsWith("a_root_of_some_length_")));
}

}  // namespace
}  // namespace lfiw::core
