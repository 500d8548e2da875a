#include "models/dynamics_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include "core/error.h"
#include "core/parallel.h"
#include "models/dynamics_checks.h"
#include "tests/core/test_dir.h"
#include "tests/models/linear_log.h"

namespace lfiw::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DynamicsOptions SmallDynamics() {
  DynamicsOptions options;
  options.members = 2;
  options.network = {
      .hidden_layers = 1, .width = 32, .activation = Activation::kSilu, .precision = {}};
  options.fit.steps = 60;
  options.fit.batch = 64;
  options.fit.validate_every = 20;
  options.fit.adam.learning_rate = 5e-3;
  return options;
}

// Everything that a fit decides, for byte comparisons.
MatrixF Fingerprint(const DynamicsFit& fit) {
  const std::int64_t n = 50;
  MatrixF states = MatrixF::Zero(n, 3), actions = MatrixF::Zero(n, 1), out(n, 4);
  Stream(1, "s").FillNormal(std::span(states.data(), static_cast<std::size_t>(states.size())));
  std::vector<std::int64_t> member;
  for (std::int64_t i = 0; i < n; ++i) member.push_back(i % fit.ensemble.members());
  fit.ensemble.Mean(states, actions, member, out.leftCols(3), out.rightCols(1));
  return out;
}

TEST(FitDynamics, LearnsALinearGaussianSystem) {
  const EpisodeBatch log = LinearLog(60, 50, 1);
  DynamicsOptions options = SmallDynamics();
  options.fit.steps = 1500;
  options.fit.validate_every = 250;
  const DynamicsFit fit = FitDynamics(log, Range(50), options, 7);
  for (const MemberSummary& member : fit.summary.members) {
    ASSERT_EQ(member.r2.size(), 3u);
    for (const double r2 : member.r2) EXPECT_GT(r2, 0.95);
  }
  const std::vector<std::int64_t> held_out = {50, 51, 52, 53, 54, 55, 56, 57, 58, 59};
  const DynamicsErrors errors = OneStepErrors(fit.ensemble, log, held_out);
  EXPECT_EQ(errors.steps, 500);
  for (const double r2 : errors.r2) EXPECT_GT(r2, 0.95);
  // entropy of the three outcomes, were they independent: deviations .05, .05 and .1
  const double entropy =
      1.5 * std::log(2.0 * std::numbers::pi * std::numbers::e) + std::log(0.05 * 0.05 * 0.1);
  EXPECT_NEAR(*errors.mixture_nll, entropy, 0.6);
}

TEST(FitDynamics, MembersFittedAloneAreThoseOfTheEnsemble) {
  const EpisodeBatch log = LinearLog(20, 20, 1);
  DynamicsOptions options = SmallDynamics();
  options.kind = DynamicsChoice::kAuto;
  for (const bool cross_fit : {false, true}) {
    const std::vector<std::vector<std::int64_t>> skipped =
        cross_fit ? std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {3, 4}}
                  : std::vector<std::vector<std::int64_t>>();
    const DynamicsFit together = FitDynamics(log, Range(20), options, 7, {}, skipped);
    // how many others there are tells a member nothing
    DynamicsOptions alone = options;
    alone.members = 1;
    std::vector<DynamicsMember> members;
    for (std::int64_t k = 0; k < options.members; ++k) {
      members.push_back(FitDynamicsMember(
          log, Range(20), alone, 7, k, {},
          cross_fit ? skipped[static_cast<std::size_t>(k)] : std::vector<std::int64_t>()));
    }
    const DynamicsFit assembled = AssembleDynamics(log, Range(20), options, 7, members, skipped);
    EXPECT_EQ(Fingerprint(assembled), Fingerprint(together));
    for (std::size_t k = 0; k < members.size(); ++k) {
      EXPECT_EQ(assembled.summary.members[k].fit.history, together.summary.members[k].fit.history);
      EXPECT_EQ(assembled.summary.members[k].r2, together.summary.members[k].r2);
      EXPECT_EQ(assembled.summary.members[k].train_episodes,
                together.summary.members[k].train_episodes);
    }
    ASSERT_TRUE(assembled.summary.noise);
    EXPECT_EQ(assembled.summary.noise->shared, together.summary.noise->shared);
  }
}

// Residuals [rows, 2] of three members: the first outcome's are shared noise of deviation 0.5 and
// small errors of each member, the second's are errors of each member alone.
std::vector<MatrixF> ResidualsOfThree() {
  const std::int64_t rows = 4000;
  Stream stream(3, "residuals");
  MatrixF noise(rows, 1);
  stream.FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  std::vector<MatrixF> residuals;
  for (int member = 0; member < 3; ++member) {
    MatrixF own(rows, 2);
    stream.FillNormal(std::span(own.data(), static_cast<std::size_t>(own.size())));
    own *= 0.1f;
    own.col(0) += 0.5f * noise;
    residuals.push_back(own);
  }
  return residuals;
}

TEST(MeasureNoise, CountsWhatAllMembersMissAlike) {
  const NoiseEvidence evidence = MeasureNoise(ResidualsOfThree());
  EXPECT_EQ(evidence.rows, 4000);
  EXPECT_NEAR(evidence.squared[0], 0.26, 0.02);
  EXPECT_NEAR(evidence.shared[0], 0.25, 0.02);
  EXPECT_NEAR(evidence.squared[1], 0.01, 0.001);
  EXPECT_NEAR(evidence.shared[1], 0.0, 0.001);
  EXPECT_THAT(evidence.counts, ElementsAre(1, 0));
  const MatrixF covariance = evidence.factor * evidence.factor.transpose();
  EXPECT_NEAR(covariance(0, 0), 0.25f, 0.02f);
  EXPECT_EQ(covariance(1, 1), 0.0f);
}

TEST(MeasureNoise, OneMemberCannotTellNoiseFromItsErrors) {
  const NoiseEvidence evidence = MeasureNoise({ResidualsOfThree()[0]});
  EXPECT_THAT(evidence.counts, ElementsAre(1, 1));
}

TEST(FitDynamics, AutoKeepsTheNoiseOfANoisySystem) {
  const EpisodeBatch log = LinearLog(60, 50, 1);
  DynamicsOptions options = SmallDynamics();
  options.kind = DynamicsChoice::kAuto;
  options.fit.steps = 1500;
  options.fit.cooldown = 1.0;
  options.fit.validate_every = 250;
  const DynamicsFit fit = FitDynamics(log, Range(60), options, 7);
  ASSERT_TRUE(fit.summary.noise);
  EXPECT_THAT(fit.summary.noise->counts, ElementsAre(1, 1, 1));
  // draws from one state and action have the deviations .05, .05 and .1 of the system
  const std::int64_t n = 4000;
  const MatrixF states = LinearLog(1, 1, 2).observations.topRows(1).replicate(n, 1);
  MatrixF noise(n, 3), next(n, 3), aux(n, 1);
  Stream(4, "noise").FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  const TestDir folder;
  fit.ensemble.Save(folder / "noisy.npz");
  const DynamicsEnsemble loaded = DynamicsEnsemble::Load(folder / "noisy.npz");
  loaded.Sample(states, MatrixF::Zero(n, 1),
                std::vector<std::int64_t>(static_cast<std::size_t>(n), 0), noise, next, aux);
  const auto deviation = [&](const VectorF& x) {
    return std::sqrt((x.array() - x.mean()).square().mean());
  };
  EXPECT_NEAR(deviation(next.col(0)), 0.05f, 0.01f);
  EXPECT_NEAR(deviation(next.col(1)), 0.05f, 0.01f);
  EXPECT_NEAR(deviation(aux.col(0)), 0.1f, 0.02f);
}

TEST(FitDynamics, ListsConstantDimensionsAndKeepsThem) {
  const DynamicsFit fit = FitDynamics(LinearLog(10, 20, 1), Range(10), SmallDynamics(), 7);
  EXPECT_THAT(fit.summary.constant_state_dims, ElementsAre(2));
  EXPECT_THAT(fit.summary.constant_outcome_dims, ElementsAre(2));
  EXPECT_THAT(fit.summary.constant_aux_dims, IsEmpty());
  EXPECT_EQ(fit.ensemble.outcome_dim(), 3);
  MatrixF states(1, 3), next_states(1, 3), aux(1, 1);
  states << 0.3f, 0.1f, 7.0f;
  fit.ensemble.Sample(states, MatrixF::Zero(1, 1), std::vector<std::int64_t>{0},
                      MatrixF::Ones(1, 3), next_states, aux);
  EXPECT_EQ(next_states(0, 2), 7.0f);
}

TEST(FitDynamics, SameBytesForAnyNumberOfThreads) {
  const EpisodeBatch log = LinearLog(10, 20, 1);
  SetThreads(1);
  const MatrixF one = Fingerprint(FitDynamics(log, Range(10), SmallDynamics(), 7));
  SetThreads(2);
  const MatrixF two = Fingerprint(FitDynamics(log, Range(10), SmallDynamics(), 7));
  SetThreads(0);
  EXPECT_EQ(one, two);
  EXPECT_NE(one, Fingerprint(FitDynamics(log, Range(10), SmallDynamics(), 8)));
}

// Asks for an interruption once half of the work is done.
class InterruptDynamicsHalfway : public Progress {
 public:
  void Advance(std::int64_t done) override {
    if ((total_ += done) >= 60) InterruptRequested() = true;
  }
  void Note(const std::string& /*text*/) override {}

 private:
  std::atomic<std::int64_t> total_ = 0;
};

TEST(FitDynamics, ResumesToTheSameBytes) {
  const EpisodeBatch log = LinearLog(10, 20, 1);
  const TestDir folder;
  InterruptDynamicsHalfway interrupt;
  EXPECT_THROW(FitDynamics(log, Range(10), SmallDynamics(), 7,
                           {.folder = folder.path(), .progress = &interrupt}),
               Interrupted);
  InterruptRequested() = false;
  const DynamicsFit resumed =
      FitDynamics(log, Range(10), SmallDynamics(), 7, {.folder = folder.path()});
  EXPECT_EQ(Fingerprint(resumed), Fingerprint(FitDynamics(log, Range(10), SmallDynamics(), 7)));
}

TEST(FitDynamics, MembersLeaveOutTheirSkippedEpisodes) {
  const DynamicsFit fit = FitDynamics(LinearLog(10, 20, 1), Range(10), SmallDynamics(), 7, {},
                                      {{0, 1, 2}, {3, 4, 5, 6}});
  const auto own = [&](std::size_t k) {
    return fit.summary.members[k].train_episodes + fit.summary.members[k].validation_episodes;
  };
  EXPECT_EQ(own(0), 7);
  EXPECT_EQ(own(1), 6);
  EXPECT_THAT(fit.ensemble.MembersFor(4), ElementsAre(1));
}

TEST(FitDynamics, DeterministicMembersLearnTheMean) {
  DynamicsOptions options = SmallDynamics();
  options.kind = DynamicsChoice::kDeterministic;
  options.fit.steps = 600;
  const EpisodeBatch log = LinearLog(30, 50, 1);
  const DynamicsFit fit = FitDynamics(log, Range(25), options, 7);
  const DynamicsErrors errors =
      OneStepErrors(fit.ensemble, log, std::vector<std::int64_t>{25, 26, 27, 28, 29});
  for (const double r2 : errors.r2) EXPECT_GT(r2, 0.95);
  EXPECT_FALSE(errors.mixture_nll.has_value());
}

TEST(FitDynamics, OneEpisodeOrConstantDataAreErrors) {
  EpisodeBatch log = LinearLog(3, 20, 1);
  EXPECT_THROW(FitDynamics(log, Range(1), SmallDynamics(), 7), DataError);
  log.observations.setConstant(1.0f);
  log.aux.setConstant(1.0f);
  try {
    FitDynamics(log, Range(3), SmallDynamics(), 7);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("every outcome is constant"));
  }
}

}  // namespace
}  // namespace lfiw::models
