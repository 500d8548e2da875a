#include "experiments/presentation/fit_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const FitHistory kShort{.steps = {5, 10}, .train_loss = {0.5, 0.25}, .validation_loss = {1.5, 1.0}};
const FitHistory kOther{.steps = {7}, .train_loss = {3.0}, .validation_loss = {4.0}};

TEST(PutHistory, KeepsSeveralCurvesInAFileEachUnderItsPrefix) {
  const TestDir dir;
  NpzFile file;
  PutHistory(kShort, "", file);
  PutHistory(kOther, "1_", file);
  PutHistory({}, "2_", file);
  file.Write(dir / "fits.npz");
  const NpzFile read = NpzFile::Read(dir / "fits.npz");
  EXPECT_EQ(GetHistory(read, ""), kShort);
  EXPECT_EQ(GetHistory(read, "1_"), kOther);
  EXPECT_EQ(GetHistory(read, "2_"), FitHistory{});
}

TEST(GetHistory, NamesTheArrayThatIsMissing) {
  NpzFile file;
  PutHistory(kShort, "a_", file);
  EXPECT_THAT([&] { GetHistory(file, "b_"); }, ThrowsMessage<DataError>(HasSubstr("b_step")));
}

TEST(MetricLines, AreOneObjectForEachValidation) {
  std::istringstream lines(MetricLines(kShort, "dynamics 3"));
  std::vector<nlohmann::json> objects;
  for (std::string line; std::getline(lines, line);) {
    objects.push_back(nlohmann::json::parse(line));
  }
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[1], nlohmann::json({{"series", "dynamics 3"},
                                        {"step", 10},
                                        {"train_loss", 0.25},
                                        {"validation_loss", 1.0}}));
  EXPECT_EQ(MetricLines({}, "none"), "");
}

TEST(MetricLines, ALossThatIsNotFiniteIsNull) {
  const FitHistory diverged{.steps = {1},
                            .train_loss = {std::numeric_limits<double>::infinity()},
                            .validation_loss = {std::numeric_limits<double>::quiet_NaN()}};
  const auto object = nlohmann::json::parse(MetricLines(diverged, "a"));
  EXPECT_EQ(object["train_loss"], nullptr);
  EXPECT_EQ(object["validation_loss"], nullptr);
}

}  // namespace
}  // namespace lfiw::experiments
