#include "models/timed_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::models {
namespace {

using ::testing::HasSubstr;

// Member k's output is 2 s + 3 (2 t / 4 - 1) + k, with s = (x - 1) / 2.
TimedFunction LinearFunction(std::int64_t members) {
  Scaler scaler(VectorF::Constant(1, 1.0f), VectorF::Constant(1, 2.0f));
  std::vector<Mlp> networks;
  for (std::int64_t k = 0; k < members; ++k) {
    networks.emplace_back(
        2, 1, MlpOptions{.hidden_layers = 0, .width = 1, .activation = {}, .precision = {}},
        Stream(1, "w"));
    networks.back().parameters() << 2, 3, static_cast<float>(k);
  }
  return TimedFunction(std::move(scaler), {0, 10, 20, 30}, {1, 2, 3, 4}, std::move(networks));
}

std::vector<double> Predict(const TimedFunction& function) {
  std::vector<double> values(2);
  function.Predict(MatrixF{{1.0f}, {5.0f}}, std::vector<std::int64_t>{1, 3}, values);
  return values;
}

TEST(TimedFunction, MapsTheMeanOfItsMembersByTheStepsOwnScale) {
  const auto values = Predict(LinearFunction(3));
  EXPECT_NEAR(values[0], 10 + 2 * (0 - 1.5 + 1), 1e-5);
  EXPECT_NEAR(values[1], 30 + 4 * (4 + 1.5 + 1), 1e-5);
}

TEST(TimedFunction, LoadsWhatItSavedToTheBit) {
  const std::string path = TestFile("f.npz");
  const TimedFunction function = LinearFunction(2);
  function.Save(path);
  EXPECT_EQ(Predict(TimedFunction::Load(path)), Predict(function));
}

TEST(TimedFunction, RefusesAFileWhoseStepsDisagree) {
  const std::string path = TestFile("f.npz");
  LinearFunction(1).Save(path);
  NpzFile file = NpzFile::Read(path);
  file.Put("widths", std::vector<double>{1.0});
  file.Write(path);
  try {
    TimedFunction::Load(path);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("members or steps disagree"));
  }
}

}  // namespace
}  // namespace lfiw::models
