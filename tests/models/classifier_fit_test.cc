#include "models/classifier_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "tests/core/test_dir.h"
#include "tests/models/linear_log.h"

namespace lfiw::models {
namespace {

using ::testing::ElementsAre;

// Next states that are independent of everything: s' ~ N(0, deviation^2), whatever the member.
// Member 1 must not be asked about even episodes.
class StandardNormalModel : public TransitionModel {
 public:
  explicit StandardNormalModel(float deviation = 1.0f) : deviation_(deviation) {}
  std::int64_t obs_dim() const override { return 2; }
  std::int64_t action_dim() const override { return 1; }
  std::int64_t aux_dim() const override { return 0; }
  std::int64_t members() const override { return 2; }
  std::int64_t noise_dim() const override { return 1; }
  void Sample(ConstMatrixRef /*states*/, ConstMatrixRef actions,
              std::span<const std::int64_t> member, ConstMatrixRef noise, MatrixRef next_states,
              MatrixRef /*aux*/) const override {
    for (Eigen::Index i = 0; i < noise.rows(); ++i) {
      // actions carry the parity of their episode
      EXPECT_FALSE(actions(i, 0) < 0.0f && member[static_cast<std::size_t>(i)] == 1);
      next_states.row(i) << deviation_ * noise(i, 0), 5.0f;
    }
  }
  std::vector<std::int64_t> FixedStateDims() const override { return {1}; }
  std::vector<std::int64_t> MembersFor(std::int64_t episode) const override {
    return episode % 2 == 0 ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{0, 1};
  }

 private:
  float deviation_;
};

// s' ~ N(shift, 1); the second state is noise that the model above does not learn. Actions are
// negative in even episodes.
EpisodeBatch NormalLog(std::int64_t episodes, std::int64_t length, double shift) {
  EpisodeBatch log;
  log.observations.resize(episodes * (length + 1), 2);
  log.actions.resize(episodes * length, 1);
  log.aux.resize(episodes * length, 0);
  log.rewards.assign(static_cast<std::size_t>(episodes * length), 0.0);
  log.terminated.assign(static_cast<std::size_t>(episodes), 0);
  Stream stream(5, "normal log");
  for (Eigen::Index i = 0; i < log.observations.rows(); ++i) {
    log.observations.row(i) << static_cast<float>(shift + stream.Normal()),
        static_cast<float>(stream.Normal());
  }
  for (std::int64_t e = 0; e < episodes; ++e) {
    log.offsets.push_back((e + 1) * length);
    for (std::int64_t t = 0; t < length; ++t) {
      const auto size = static_cast<float>(1.0 + stream.Uniform());
      log.actions(e * length + t, 0) = e % 2 == 0 ? -size : size;
    }
  }
  return log;
}

ClassifierOptions SmallClassifier() {
  ClassifierOptions options;
  options.network = {
      .hidden_layers = 1, .width = 16, .activation = Activation::kSilu, .precision = {}};
  options.fit.steps = 60;
  options.fit.validate_every = 20;
  options.fit.adam.learning_rate = 5e-3;
  return options;
}

// Log-ratios of s' = -1, -0.5, .., 2 at one (s, a).
std::vector<double> Curve(const RatioClassifier& classifier) {
  MatrixF states = MatrixF::Zero(7, 2), actions = MatrixF::Ones(7, 1), next_states(7, 2);
  for (Eigen::Index i = 0; i < 7; ++i) {
    next_states.row(i) << -1.0f + 0.5f * static_cast<float>(i), 0.0f;
  }
  std::vector<double> out(7);
  classifier.LogRatios(states, actions, next_states, MatrixF(7, 0), out);
  return out;
}

// The exact log-ratio of N(d, 1) to N(0, 1) is d x - d^2 / 2.
void ExpectApproachesTheTruth(const ClassifierOptions& options) {
  const EpisodeBatch log = NormalLog(100, 100, 1.0);
  const ClassifierFit fit = FitClassifier(log, Range(100), StandardNormalModel(), options, 3, 0);
  const std::vector<double> curve = Curve(fit.classifier);
  for (std::size_t i = 0; i < 7; ++i) {
    const double x = -1.0 + 0.5 * static_cast<double>(i);
    // a classifier fitted to 8,000 rows; about 4 of its standard errors at the ends
    EXPECT_NEAR(curve[i], x - 0.5, 0.25) << "at " << x;
  }
}

ClassifierOptions Longer() {
  ClassifierOptions options = SmallClassifier();
  options.fit.steps = 1000;
  options.fit.validate_every = 100;
  return options;
}

TEST(FitClassifier, ApproachesTheTrueLogRatio) { ExpectApproachesTheTruth(Longer()); }

TEST(FitClassifier, ApproachesItForFourGeneratedTriplesPerRealOne) {
  // case C26: without the class ratio every value would be log 4 = 1.39 too low
  ClassifierOptions options = Longer();
  options.generated_per_real = 4;
  ExpectApproachesTheTruth(options);
}

TEST(FitClassifier, ApproachesItOnChangesOfState) {
  ClassifierOptions options = Longer();
  options.input_delta = true;
  options.fit.steps = 2000;
  ExpectApproachesTheTruth(options);
}

// Conformance case N14: a mixture of N(-2, 1) and N(2, 1) against N(0, 5), for which the exact
// classifier says 0.2323 at 0 and 0.6253 at 2.
TEST(FitClassifier, ApproachesTheRatioOfTwoModesToOne) {
  EpisodeBatch log = NormalLog(100, 100, 0.0);
  Stream stream(6, "modes");
  for (Eigen::Index i = 0; i < log.observations.rows(); ++i) {
    log.observations(i, 0) += stream.Uniform() < 0.5 ? -2.0f : 2.0f;
  }
  // both sides have the same mean and variance, so it takes longer
  ClassifierOptions options = Longer();
  options.network.hidden_layers = 2;
  options.network.width = 32;
  options.fit.steps = 3000;
  const ClassifierFit fit =
      FitClassifier(log, Range(100), StandardNormalModel(std::sqrt(5.0f)), options, 3, 0);
  const std::vector<double> curve = Curve(fit.classifier);
  EXPECT_NEAR(1.0 / (1.0 + std::exp(-curve[2])), 0.2323, 0.05);
  EXPECT_NEAR(1.0 / (1.0 + std::exp(-curve[6])), 0.6253, 0.05);
}

TEST(FitClassifier, LeavesOutWhatTheModelDoesNotLearn) {
  const ClassifierFit fit = FitClassifier(NormalLog(10, 20, 1.0), Range(10), StandardNormalModel(),
                                          SmallClassifier(), 3, 0);
  EXPECT_THAT(fit.summary.dropped_outcome_dims, ElementsAre(1));
  EXPECT_EQ(fit.classifier.scaler().input_dim(), 4);
}

TEST(FitClassifier, InputNoiseFlattensTheRatio) {
  ClassifierOptions sharp = Longer(), noisy = Longer();
  noisy.input_noise = 1.0;
  const EpisodeBatch log = NormalLog(50, 50, 1.0);
  const auto slope = [&](const ClassifierOptions& options) {
    const auto curve =
        Curve(FitClassifier(log, Range(50), StandardNormalModel(), options, 3, 0).classifier);
    return curve.back() - curve.front();
  };
  // noise doubles both variances, which halves the slope
  EXPECT_NEAR(slope(noisy) / slope(sharp), 0.5, 0.2);
}

TEST(FitClassifier, RepeatedEpisodesStayOnOneSide) {
  const EpisodeBatch log = NormalLog(4, 20, 1.0);
  const std::vector<std::int64_t> drawn = {0, 0, 0, 1, 2, 2, 3};
  const ClassifierFit fit =
      FitClassifier(log, drawn, StandardNormalModel(), SmallClassifier(), 3, 0);
  EXPECT_EQ(fit.summary.train_steps + fit.summary.validation_steps, 140);
}

// Asks for an interruption in the middle of a block of generated batches.
class InterruptHalfway : public Progress {
 public:
  void Advance(std::int64_t /*done*/) override { InterruptRequested() = true; }
  void Note(const std::string& /*text*/) override {}
};

TEST(FitClassifier, ResumesToTheSameBytes) {
  const EpisodeBatch log = NormalLog(10, 20, 1.0);
  const TestDir folder;
  const StandardNormalModel model;
  InterruptHalfway interrupt;
  EXPECT_THROW(FitClassifier(log, Range(10), model, SmallClassifier(), 3, 0,
                             {.folder = folder.path(), .progress = &interrupt}),
               Interrupted);
  InterruptRequested() = false;
  const ClassifierFit resumed =
      FitClassifier(log, Range(10), model, SmallClassifier(), 3, 0, {.folder = folder.path()});
  const ClassifierFit straight = FitClassifier(log, Range(10), model, SmallClassifier(), 3, 0);
  EXPECT_EQ(Curve(resumed.classifier), Curve(straight.classifier));
  EXPECT_EQ(resumed.summary.fit.history, straight.summary.fit.history);
}

TEST(FitClassifier, SeedAndIndexBothMatter) {
  const EpisodeBatch log = NormalLog(10, 20, 1.0);
  const auto curve = [&](std::uint64_t seed, std::int64_t index) {
    return Curve(
        FitClassifier(log, Range(10), StandardNormalModel(), SmallClassifier(), seed, index)
            .classifier);
  };
  EXPECT_EQ(curve(3, 0), curve(3, 0));
  EXPECT_NE(curve(3, 0), curve(3, 1));
  EXPECT_NE(curve(3, 0), curve(4, 0));
}

TEST(FitClassifier, RejectsALogOfOtherDimensions) {
  EXPECT_THROW(
      FitClassifier(LinearLog(4, 10, 1), Range(4), StandardNormalModel(), SmallClassifier(), 3, 0),
      DataError);
}

TEST(FitClassifier, RejectsABatchWithoutARealRow) {
  ClassifierOptions options = SmallClassifier();
  options.fit.batch = 4;
  options.generated_per_real = 4;
  EXPECT_THROW(FitClassifier(NormalLog(4, 10, 1.0), Range(4), StandardNormalModel(), options, 3, 0),
               ConfigError);
}

TEST(FitClassifier, DoesNotReadEndsThatAreNotRecorded) {
  // the same transitions, with and without a last step of unknown outcome
  EpisodeBatch log = NormalLog(20, 10, 1.0);
  log.terminated.assign(20, 1);
  log.end_unrecorded.assign(20, 1);
  EpisodeBatch cut = NormalLog(20, 9, 1.0);
  for (std::int64_t e = 0; e < 20; ++e) {
    cut.observations.middleRows(e * 10, 10) = log.observations.middleRows(e * 11, 10);
    cut.actions.middleRows(e * 9, 9) = log.actions.middleRows(e * 10, 9);
    log.observations.row(e * 11 + 10).setConstant(1e6f);
  }
  const StandardNormalModel model;
  EXPECT_EQ(Curve(FitClassifier(log, Range(20), model, SmallClassifier(), 3, 0).classifier),
            Curve(FitClassifier(cut, Range(20), model, SmallClassifier(), 3, 0).classifier));
}

}  // namespace
}  // namespace lfiw::models
