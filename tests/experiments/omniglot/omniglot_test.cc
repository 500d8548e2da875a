#include "experiments/omniglot/omniglot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "core/config/config.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/run/atomic_file.h"
#include "core/run/csv_text.h"
#include "core/run/progress.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/omniglot/toy_drawings.h"
#include "tests/models/image/small_generators.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class OmniglotTest : public testing::Test {
 protected:
  OmniglotTest() { WriteDrawings(ToyDrawings(20), dir_ / "toy.npz"); }

  OmniglotConfig Config() {
    OmniglotConfig config;
    config.data = {dir_ / "toy.npz"};
    config.split.classes = 2;
    config.dagan.widths = {3, 4};
    config.dagan.generator_inner = config.dagan.critic_inner = 0;
    config.dagan.noise_dim = 3;
    config.dagan.critic_steps = 1;
    config.dagan.training = {
        .steps = 6, .batch = 4, .report_every = 2, .device = Device::kCpu, .adam = {}};
    config.generated_per_class = 12;
    config.ratio.folds = 2;
    config.ratio.epochs = 2;
    config.classifier.epochs = 2;
    for (ConvClassifierOptions* fit : {&config.ratio.fit, &config.classifier.fit}) {
      fit->filters = 4;
      fit->blocks = 2;
      fit->training.batch = 8;
      fit->training.device = Device::kCpu;
    }
    config.runs = 2;
    return config;
  }

  // Runs in a cache and directory of these names; returns the stages.
  std::vector<StageRecord> Run(const OmniglotConfig& config, const std::string& cache_name,
                               const std::string& out) {
    StageCache cache(dir_ / cache_name);
    RunDirectory directory(dir_ / out);
    EXPECT_EQ(RunOmniglot(config, {cache, directory, Verbosity::kQuiet, "lfiw run x"}).status, 0);
    return cache.records();
  }

  std::string Read(const std::string& path) { return ReadFile(dir_ / path); }

  static std::int64_t Computed(const std::vector<StageRecord>& stages, const std::string& name) {
    return std::ranges::count_if(stages, [&](const StageRecord& stage) {
      return stage.name == name && stage.outcome == StageOutcome::kComputed;
    });
  }

  // What results.csv says of a column, without its name.
  static std::string Column(const std::string& csv, const std::string& column) {
    const std::string start = QuotedCsv(column) + ",";
    std::istringstream lines(csv);
    std::string found;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(start)) found += line.substr(start.size()) + "\n";
    }
    return found;
  }

  TestDir dir_;
};

TEST_F(OmniglotTest, WritesTablesFiguresAndAPage) {
  const std::vector<StageRecord> stages = Run(Config(), "cache", "run");
  EXPECT_EQ(Computed(stages, "omniglot_dagan"), 1);
  EXPECT_EQ(Computed(stages, "omniglot_generated"), 1);
  EXPECT_EQ(Computed(stages, "omniglot_ratios"), 2);
  EXPECT_EQ(Computed(stages, "omniglot_classifier"), 2 * 7)
      << "two shares of each of the columns with weights; the third is no weights at all";
  EXPECT_EQ(std::ranges::count(Read("run/results.csv"), '\n'), 1 + 5 * 2);
  EXPECT_EQ(std::ranges::count(Read("run/shares.csv"), '\n'), 1 + 2 * 3);
  EXPECT_EQ(std::ranges::count(Read("run/weights.csv"), '\n'), 1 + 2 * 2);
  EXPECT_THAT(Read("run/table.csv"), HasSubstr("\"D_cl + D_g w/ LFIW\","));
  EXPECT_THAT(Read("run/metrics.jsonl"), AllOf(HasSubstr("generator 0"), HasSubstr("run 1 D_cl")));
  EXPECT_THAT(Read("run/manifest.json"), HasSubstr("toy.npz"));
  for (const char* picture : {"run/plots/dagan_0.png", "run/plots/ranked.png"}) {
    EXPECT_TRUE(std::filesystem::exists(dir_ / picture)) << picture;
  }
  EXPECT_THAT(Read("run/report.html"),
              AllOf(HasSubstr("the paper, 1200 classes"), HasSubstr("conditional on them"),
                    HasSubstr("here it is 10/5/5"), HasSubstr("lfiw run x")));
}

TEST_F(OmniglotTest, GivesTheSameResultsForOneThreadAndTwo) {
  SetThreads(1);
  Run(Config(), "one", "a");
  SetThreads(2);
  Run(Config(), "two", "b");
  SetThreads(0);
  EXPECT_EQ(Read("a/results.csv"), Read("b/results.csv"));
  EXPECT_EQ(Read("a/weights.csv"), Read("b/weights.csv"));
}

TEST_F(OmniglotTest, AnotherAlphaTrainsTheColumnsWithWeightsOnly) {
  OmniglotConfig config = Config();
  Run(config, "cache", "a");
  config.classifier.tempered.clear();
  config.classifier.alpha = 0.0;
  const std::vector<StageRecord> stages = Run(config, "cache", "b");
  EXPECT_EQ(Computed(stages, "omniglot_dagan") + Computed(stages, "omniglot_ratios"), 0);
  EXPECT_EQ(Computed(stages, "omniglot_classifier"), 4);
  // weights that are all alike change nothing
  const std::string csv = Read("b/results.csv");
  EXPECT_EQ(Column(csv, "D_g w/ LFIW"), Column(csv, "D_g"));
  EXPECT_EQ(Column(csv, "D_cl + D_g w/ LFIW"), Column(csv, "D_cl + D_g"));
  EXPECT_NE(Column(csv, "D_cl"), Column(csv, "D_g"));
}

TEST_F(OmniglotTest, AnotherMixtureTrainsTheMixturesOnly) {
  OmniglotConfig config = Config();
  Run(config, "cache", "a");
  config.classifier.mixture_weight = 0.8;
  EXPECT_EQ(Computed(Run(config, "cache", "b"), "omniglot_classifier"), 2 * 3);
}

TEST_F(OmniglotTest, AShareOfAllDrawingsIsNoWeightsAndTrainsNothingMore) {
  OmniglotConfig config = Config();
  config.classifier.tempered = {1.0};
  EXPECT_EQ(Computed(Run(config, "cache", "run"), "omniglot_classifier"), 2 * 3);
  const std::string csv = Read("run/results.csv");
  EXPECT_EQ(Column(csv, "D_g w/ LFIW"), Column(csv, "D_g"));
  EXPECT_THAT(Read("run/report.html"), HasSubstr("until they are worth 1 of the drawings"));
}

TEST_F(OmniglotTest, GivesTheSameResultsHoweverOftenItIsInterrupted) {
  Run(Config(), "cache", "whole");
  int tries = 0;
  for (bool done = false; !done;) {
    const auto patience = std::chrono::milliseconds(40 * tries++);
    const std::jthread user([patience](const std::stop_token& left) {
      std::this_thread::sleep_for(patience);
      InterruptRequested() = !left.stop_requested();
    });
    try {
      Run(Config(), "other", "resumed");
      done = true;
    } catch (const Interrupted&) {
      InterruptRequested() = false;
    }
  }
  InterruptRequested() = false;
  EXPECT_GT(tries, 1);
  EXPECT_EQ(Read("whole/results.csv"), Read("resumed/results.csv"));
}

TEST_F(OmniglotTest, EveryRunCanHaveAGeneratorOfItsOwn) {
  OmniglotConfig config = Config();
  config.generators = 2;
  EXPECT_EQ(Computed(Run(config, "cache", "run"), "omniglot_dagan"), 2);
  EXPECT_THAT(Read("run/report.html"), HasSubstr("standard errors are over generators as well"));
  config.generators = 3;
  EXPECT_THAT([&] { Run(config, "cache", "run"); },
              ThrowsMessage<ConfigError>(HasSubstr("generators is 3, expected at most runs")));
}

TEST_F(OmniglotTest, WithoutDataItSaysWhatToGive) {
  OmniglotConfig config = Config();
  config.data.clear();
  EXPECT_THAT([&] { Run(config, "cache", "run"); },
              ThrowsMessage<ConfigError>(HasSubstr("data: no files given")));
}

OmniglotConfig Shipped(const std::string& name) {
  return LoadWithPreset<OmniglotConfig>(SourceFile("experiments/configs/" + std::string(name)));
}

TEST(OmniglotConfigs, TheSmallOneHasTheSmallGenerator) {
  const OmniglotConfig config = Shipped("omniglot_small.yaml");
  EXPECT_EQ(CanonicalText(config.dagan), CanonicalText(SmallDaganOptions()));
  EXPECT_EQ(config.split.classes, 100);
  EXPECT_EQ(config.generated_per_class, 100);
  EXPECT_EQ(config.classifier.epochs, 3);
}

TEST(OmniglotConfigs, TheLargeOneHasThePublishedSettings) {
  const OmniglotConfig config = Shipped("omniglot.yaml");
  OmniglotConfig published = OmniglotConfig::DefaultsOf(ImagePreset::kPaper);
  EXPECT_EQ(published.ratio.sees, RatioInput::kDrawing);
  EXPECT_EQ(published.classifier.balance, WeightBalance::kNone);
  EXPECT_TRUE(published.classifier.tempered.empty());
  EXPECT_EQ(CanonicalText(config), CanonicalText(published));
  EXPECT_EQ(CanonicalText(config.dagan), CanonicalText(DaganOptions()));
  EXPECT_EQ(config.split.classes, 1200);
  EXPECT_EQ(config.classifier.epochs, 100);
  EXPECT_EQ(config.classifier.fit.training.batch, 32);
  EXPECT_EQ(config.classifier.fit.training.adam.learning_rate, 1e-3);
}

}  // namespace
}  // namespace lfiw::experiments
