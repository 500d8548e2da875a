#include "experiments/bench/bench_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "ope/fits/fqe.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct OwnOptions {
  double share = 0.5;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("share", share, "a share");
  }
};

BenchConfig Read(const std::string& yaml) {
  const TestDir dir;
  WriteFileAtomically(dir / "bench.yaml", yaml);
  return LoadBenchConfig(dir / "bench.yaml", {"seeds=3"});
}

TEST(BenchConfig, ReadsBackFromWhatItIsWrittenAs) {
  const BenchConfig config = Read(
      "tabular: [graph]\n"
      "estimators: [wis, {name: wis, ratios: {max_weight: 20}}]\n"
      "fits: {fqe: {fit: {steps: 123}}}\n");
  EXPECT_EQ(config.seeds, 3);
  const std::string written = DumpConfig(config);
  BenchConfig again = Read(written);
  EXPECT_EQ(DumpConfig(again), written);
  EXPECT_EQ(again.fits.Options<FqeOptions>("fqe").fit.steps, 123);
  EXPECT_EQ(CanonicalText(again), CanonicalText(config));
}

TEST(BenchConfig, AWrongFieldOfAFitIsToldWithItsPlaceAndTheNearestName) {
  EXPECT_THAT([] { Read("fits:\n  fqe: {stepz: 3}\n  fqq: {}\n"); },
              ThrowsMessage<ConfigError>(testing::AllOf(HasSubstr("bench.yaml:2: fits.fqe.stepz"),
                                                        HasSubstr("did you mean 'fits.fqe'?"))));
}

TEST(BenchConfig, AFitOfOnesOwnHasASectionInTheFile) {
  FitRegistry fits = StandardFits();
  fits.Add(
      {.name = "own", .summary = "of one's own", .provides = {"own"}, .options = OwnOptions()});
  const BenchConfig config = LoadBenchConfig("", {"fits.own.share=0.25"}, fits);
  EXPECT_EQ(config.fits.Find("own").options.As<OwnOptions>().share, 0.25);
  EXPECT_THROW(LoadBenchConfig("", {"fits.own.share=0.25"}), ConfigError);
}

TEST(CheckConfig, KnowsTheEstimatorsOfTheRegistryThatItIsGiven) {
  BenchConfig config;
  config.tabular = {"graph"};
  config.estimators = {"own_mean"};
  EXPECT_THAT([&] { CheckConfig(config); },
              ThrowsMessage<ConfigError>(HasSubstr("unknown estimator \"own_mean\"")));
  EstimatorRegistry registry = StandardEstimators();
  registry.Add({.name = "own_mean", .summary = "the log", .needs = {}, .estimate = nullptr});
  EXPECT_NO_THROW(CheckConfig(config, registry));
}

}  // namespace
}  // namespace lfiw::experiments
