#include "core/config/any_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lfiw::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Limit {
  double weight = 20.0;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("weight", weight, "largest weight", Positive());
  }
};

struct Choice {
  std::int64_t steps = 3;
  std::string name = "plain";
  std::vector<double> powers = {1.0};
  Limit limit;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("steps", steps, "steps", AtLeast(1));
    v.Field("name", name, "name");
    v.Field("powers", powers, "powers");
    v.Field("limit", limit, "limit");
  }
};

// Options as a field among others.
struct Holder {
  AnyOptions options = Choice();
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("options", options, "of some kind");
  }
};

std::string ErrorOf(const std::string& yaml) {
  AnyOptions options = Choice();
  try {
    ReadOptions(ParseYaml(yaml, "file.yaml"), "estimators.0", options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(AnyOptions, ReadAndWriteAsTheStructThatTheyHold) {
  Holder holder;
  ReadConfig(ParseYaml("options: {steps: 7, limit: {weight: 2}}", "file.yaml"), holder);
  EXPECT_EQ(holder.options.As<Choice>().steps, 7);
  EXPECT_EQ(holder.options.As<Choice>().limit.weight, 2.0);
  Holder again;
  ReadConfig(ParseYaml(DumpConfig(holder), "again"), again);
  EXPECT_EQ(CanonicalText(again), CanonicalText(holder));
  EXPECT_THAT(DescribeConfig(holder), HasSubstr("# largest weight (number > 0)"));
}

TEST(AnyOptions, CopiesAreIndependent) {
  AnyOptions first = Choice();
  AnyOptions second = first;
  second.As<Choice>().steps = 9;
  EXPECT_EQ(first.As<Choice>().steps, 3);
}

TEST(AnyOptions, WrongFieldsAreToldAllAtOnceWithTheirPlaceAndTheNearestName) {
  EXPECT_THAT(ErrorOf("stepz: 4\nlimit:\n  weight: -1\n"),
              AllOf(HasSubstr("file.yaml:1: estimators.0.stepz: unknown key; did you mean "
                              "'estimators.0.steps'?"),
                    HasSubstr("file.yaml:3: estimators.0.limit.weight: got '-1', expected a "
                              "number > 0")));
}

TEST(AnyOptions, WhereThereAreNoneEveryFieldIsWrong) {
  AnyOptions none;
  EXPECT_TRUE(none.empty());
  EXPECT_NO_THROW(ReadOptions(ConfigNode::Map(), "estimators.0", none));
  EXPECT_THROW(ReadOptions(ParseYaml("steps: 4", "file.yaml"), "estimators.0", none), ConfigError);
}

TEST(DescribeDifferences, NamesTheFieldsThatAreNotTheSame) {
  AnyOptions changed = Choice();
  EXPECT_EQ(DescribeDifferences(Choice(), changed), "");
  changed.As<Choice>().limit.weight = 4.5;
  changed.As<Choice>().powers = {1.0, 0.5};
  EXPECT_EQ(DescribeDifferences(Choice(), changed), "powers=[1, 0.5] limit.weight=4.5");
}

}  // namespace
}  // namespace lfiw::core
