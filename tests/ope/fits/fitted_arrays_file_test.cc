#include "ope/fits/fitted_arrays_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;

Array<double, 2> Filled(std::int64_t rows, std::int64_t columns, double first) {
  Array<double, 2> array({rows, columns});
  for (double& x : array.flat()) x = first++;
  return array;
}

TEST(FittedArraysFile, ReadsBackWhatWasWritten) {
  FittedArrays arrays;
  arrays.values["fqe"] = {Filled(2, 3, 0.1), Filled(2, 4, 7.0), {}};
  arrays.values["model"] = {Filled(2, 3, 1.0), Filled(2, 4, 2.0), Filled(2, 4, 3.0)};
  arrays.log_ratios["action"] = Filled(2, 3, -1.0);
  arrays.log_ratios["action"](0, 0) = -std::numeric_limits<double>::infinity();
  arrays.weights["mwl"] = Filled(2, 3, 5.0);
  arrays.model_rewards = Array<double, 3>({1, 2, 3}, 4.0);
  arrays.model_log_weights = Array<double, 4>({1, 2, 2, 3}, 6.0);
  arrays.model_alive = {1.0, 0.5};
  arrays.notes["mwl"] = {"first", "second"};
  arrays.missing["mrdr"] = "no density";
  const TestDir dir;
  SaveFittedArrays(arrays, dir / "arrays.npz");
  const FittedArrays read = LoadFittedArrays(dir / "arrays.npz");
  EXPECT_EQ(read.values.size(), 2u);
  EXPECT_EQ(read.values.at("fqe").q, arrays.values["fqe"].q);
  EXPECT_EQ(read.values.at("fqe").v, arrays.values["fqe"].v);
  EXPECT_TRUE(read.values.at("fqe").v_fit.empty());
  EXPECT_EQ(read.values.at("model").v_fit, arrays.values["model"].v_fit);
  EXPECT_EQ(read.log_ratios, arrays.log_ratios);
  EXPECT_EQ(read.weights, arrays.weights);
  EXPECT_EQ(read.model_rewards, arrays.model_rewards);
  EXPECT_EQ(read.model_log_weights, arrays.model_log_weights);
  EXPECT_THAT(read.model_alive, ElementsAre(1.0, 0.5));
  EXPECT_EQ(read.notes, arrays.notes);
  EXPECT_EQ(read.missing, arrays.missing);
}

TEST(FittedArraysFile, HoldsNothingToo) {
  const TestDir dir;
  SaveFittedArrays({}, dir / "arrays.npz");
  EXPECT_TRUE(LoadFittedArrays(dir / "arrays.npz").values.empty());
}

TEST(FittedArraysFile, RefusesOtherFiles) {
  const TestDir dir;
  NpzFile file;
  file.Put("format", std::vector<std::int64_t>{2});
  file.Write(dir / "other.npz");
  EXPECT_THROW(LoadFittedArrays(dir / "other.npz"), DataError);
}

}  // namespace
}  // namespace lfiw::ope
