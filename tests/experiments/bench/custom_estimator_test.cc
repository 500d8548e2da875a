// The example of docs/library.md, an estimator and a fit of one's own: what stands between the two
// marks is its text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/run/atomic_file.h"
#include "experiments/bench/bench.h"
#include "ope/estimators/doubly_robust.h"
#include "tests/core/test_dir.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;

// docs/library.md: begin
// An estimator is a function of arrays: here the mean return of the log.
Estimate LoggedMean(const EstimatorInputs& in, const Estimand& estimand) {
  const std::vector<double> factors = StepFactors(estimand, in.steps());
  Estimate out;
  out.terms = {Array<double, 2>({in.episodes(), 1}), Array<double, 2>({in.episodes(), 0})};
  for (std::int64_t i = 0; i < in.episodes(); ++i) {
    for (std::int64_t t = 0; t < in.steps(); ++t) {
      out.terms.numerators(i, 0) += factors[static_cast<std::size_t>(t)] * in.rewards(i, t);
    }
  }
  return out;
}

// A fit makes what estimators read: here a baseline, the mean logged return to go at each step.
struct BaselineOptions {
  double share = 1.0;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("share", share, "share of the mean return to go", Between(0.0, 1.0));
  }
};

FittedArrays FitBaseline(const EstimatorInputs& in, const Estimand& estimand,
                         const AnyOptions& options) {
  ValueArrays values{Array<double, 2>({in.episodes(), in.steps()}),
                     Array<double, 2>({in.episodes(), in.steps() + 1}),
                     {}};
  double to_go = 0.0;
  for (std::int64_t t = in.steps() - 1; t >= 0; --t) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < in.episodes(); ++i) sum += in.rewards(i, t);
    to_go = sum / static_cast<double>(in.episodes()) + estimand.discount * to_go;
    for (std::int64_t i = 0; i < in.episodes(); ++i) {
      if (t >= in.lengths[static_cast<std::size_t>(i)]) continue;
      values.q(i, t) = values.v(i, t) = options.As<BaselineOptions>().share * to_go;
    }
  }
  FittedArrays out;
  out.values["baseline"] = std::move(values);
  return out;
}

Outcome RunMyBench(const std::string& file, const ExperimentRun& run) {
  FitRegistry fits = StandardFits();
  fits.Add({.name = "baseline",
            .summary = "mean logged return to go",
            .provides = {"baseline"},
            .options = BaselineOptions(),
            .on_arrays = FitBaseline});

  EstimatorRegistry estimators = StandardEstimators();
  estimators.Add({.name = "own_mean", .summary = "the log", .needs = {}, .estimate = LoggedMean});
  DoublyRobustOptions options;
  options.values = "baseline";
  estimators.Add(Configurable<DoublyRobustOptions>(options, DoublyRobust));  // wdr_baseline

  return RunBench(LoadBenchConfig(file, {}, fits), estimators, run);
}
// docs/library.md: end

// What stands between two lines of a file.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  const std::size_t to = text.find(end, from + begin.size());
  if (from == std::string::npos || to == std::string::npos) return "";
  return text.substr(from + begin.size(), to - from - begin.size());
}

// The cells of every row of results.csv, by "estimator,params".
std::map<std::string, std::vector<std::string>> Rows(const std::string& csv) {
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream of(line);
    for (std::string cell; std::getline(of, cell, ',');) cells.push_back(cell);
    rows[cells.at(3) + "," + cells.at(4)] = cells;
  }
  return rows;
}

std::string ResultsOf(const std::string& yaml) {
  const TestDir dir;
  WriteFileAtomically(dir / "bench.yaml", yaml);
  StageCache cache(dir / "cache");
  RunDirectory directory(dir / "out");
  EXPECT_EQ(
      RunMyBench(dir / "bench.yaml", {cache, directory, Verbosity::kQuiet, "my_bench"}).status, 0);
  return ReadFile(dir / "out/results.csv");
}

constexpr const char* kConfig =
    "experiment: bench\n"
    "tabular: [model_win]\n"
    "linear_gaussian: 1\n"
    "log_episodes: [60]\n"
    "seeds: 1\n"
    "interval: {resamples: 100}\n";

TEST(CustomEstimator, RunsByItsNameWithAFitOfItsOwn) {
  const auto rows =
      Rows(ResultsOf(std::string(kConfig) + "estimators: [own_mean, wdr_baseline,\n"
                                            "  {name: wdr_baseline, ratios: {max_weight: 2}}]\n"));
  EXPECT_THAT(rows, Contains(Key("own_mean,")));
  EXPECT_THAT(rows, Contains(Key("wdr_baseline,")));
  EXPECT_THAT(rows, Contains(Key("wdr_baseline,ratios.max_weight=2")));
  constexpr std::size_t kValue = 7;
  for (const auto& [name, cells] : rows) EXPECT_NE(cells.at(kValue), "") << name;
}

TEST(CustomEstimator, ReadsTheOptionsOfItsFitFromTheFile) {
  // without a baseline doubly robust is per-decision importance sampling
  const auto rows = Rows(ResultsOf(std::string(kConfig) + "estimators: [wpdis, wdr_baseline]\n"
                                                          "fits: {baseline: {share: 0}}\n"));
  constexpr std::size_t kValue = 7;
  EXPECT_NEAR(std::stod(rows.at("wdr_baseline,").at(kValue)),
              std::stod(rows.at("wpdis,").at(kValue)), 1e-9);
}

TEST(CustomEstimator, IsTheExampleOfThePage) {
  const std::string code =
      Between(ReadFile(SourceFile("tests/experiments/bench/custom_estimator_test.cc")),
              "// docs/library.md: begin\n", "// docs/library.md: end\n");
  ASSERT_NE(code, "");
  EXPECT_THAT(ReadFile(SourceFile("docs/library.md")), HasSubstr("```cpp\n" + code + "```\n"));
}

}  // namespace
}  // namespace lfiw::experiments
