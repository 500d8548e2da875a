#include "ope/fits/mrdr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "core/statistics.h"
#include "envs/linear_gaussian_env.h"
#include "ope/fits/fqe.h"
#include "ope/fits/logged_rows.h"
#include "tests/core/test_dir.h"
#include "tests/models/change_fields.h"
#include "tests/ope/linear_gaussian_model.h"
#include "tests/ope/scalar_log.h"
#include "tests/ope/two_state_log.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

constexpr std::array<double, 2> kEvaluation = {0.8, 0.3};
constexpr std::int64_t kHorizon = TwoStates::kHorizon;

const EnvSpec& Spec() {
  static const std::shared_ptr<const EnvFactory> env =
      MakeLinearGaussianFactory(ScalarLinearGaussian());
  return env->spec();
}

MrdrOptions Small() {
  MrdrOptions options;
  options.members = 1;
  options.network.width = 32;
  options.fit = {.steps = 2500, .batch = 128, .validate_every = 500, .adam = {}};
  return options;
}

Array<double, 2> TwoStateRatios() {
  const TwoStates system(kEvaluation);
  const EpisodeBatch log = TwoStates::Log();
  Array<double, 2> out({log.episodes(), kHorizon});
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t < kHorizon; ++t) {
      const int s = log.observations(log.ObservationRow(e, t), 0) > 0.5f ? 1 : 0;
      const int a = log.actions(e * kHorizon + t, 0) > 0.5f ? 1 : 0;
      out(e, t) = std::log(system.Evaluation(s, a) / 0.5);
    }
  }
  return out;
}

// Root mean square error of Q over the log.
double ValueError(const MrdrOptions& options, double discount) {
  const EpisodeBatch log = TwoStates::Log();
  const TwoStatePolicy policy(kEvaluation);
  const Estimand estimand = FiniteHorizon(kHorizon, discount);
  const LoggedProblem logged{log, policy, Spec(), estimand};
  const MrdrFit fit = FitMrdr(logged, TwoStateRatios(), options, 3);
  const ValueArrays values =
      MrdrValues(fit, logged, IndexList(log.episodes()), kHorizon, options, 4);
  double squares = 0.0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t < kHorizon; ++t) {
      const std::size_t s = log.observations(log.ObservationRow(e, t), 0) > 0.5f ? 1 : 0;
      const std::size_t a = log.actions(e * kHorizon + t, 0) > 0.5f ? 1 : 0;
      const double exact = TwoStates(kEvaluation).Q(kHorizon - t, discount)[s][a];
      squares += std::pow(values.q(e, t) - exact, 2);
    }
  }
  return std::sqrt(squares / static_cast<double>(log.steps()));
}

TEST(FitMrdr, LearnsTheValueThatItsNetworksCanExpress) {
  // values run from 0 to 4; returns have a deviation of 1 at each step
  EXPECT_LT(ValueError(Small(), 0.9), 0.2);
}

TEST(FitMrdr, LearnsItFromWeightedReturnsToo) {
  MrdrOptions options = Small();
  options.target = MrdrTarget::kReturns;
  EXPECT_LT(ValueError(options, 0.9), 0.25);
}

// One step: u ~ N(0, 1) in the log, N(1, 0.7^2) under evaluation, reward u^2 + u^3 / 2.
struct OneStep {
  explicit OneStep(std::int64_t n) : log(ConstantLog(n, 1, 0.0, 0)), log_ratios({n, 1}) {
    Stream stream(5, "one step");
    for (std::int64_t e = 0; e < n; ++e) {
      const double u = stream.Normal();
      log.actions(e, 0) = static_cast<float>(u);
      log.rewards[static_cast<std::size_t>(e)] = u * u + 0.5 * u * u * u;
      log_ratios(e, 0) = 0.5 * u * u - 0.5 * (u - 1.0) * (u - 1.0) / 0.49 - std::log(0.7);
    }
  }
  // w (r - Q) of each episode: what varies in the doubly robust estimate.
  double Variance(const ValueArrays& values) const {
    std::vector<double> terms;
    for (std::int64_t e = 0; e < log.episodes(); ++e) {
      const double error = log.rewards[static_cast<std::size_t>(e)] - values.q(e, 0);
      terms.push_back(std::exp(log_ratios(e, 0)) * error);
    }
    return core::Variance(terms);
  }
  // The least that a Q linear in u can reach: regression of w r on w, w u and 1.
  double LeastVariance() const {
    const std::int64_t n = log.episodes();
    MatrixD columns(n, 3);
    VectorD target(n);
    for (std::int64_t e = 0; e < n; ++e) {
      const double w = std::exp(log_ratios(e, 0));
      columns.row(e) << w, w * static_cast<double>(log.actions(e, 0)), 1.0;
      target(e) = w * log.rewards[static_cast<std::size_t>(e)];
    }
    const MatrixD gram = columns.transpose() * columns;
    const VectorD x = gram.ldlt().solve(columns.transpose() * target);
    return (target - columns * x).squaredNorm() / static_cast<double>(n);
  }
  EpisodeBatch log;
  Array<double, 2> log_ratios;
};

// u ~ N(1, 0.7^2) in every state.
class ShiftedPolicy final : public Policy {
 public:
  std::int64_t obs_dim() const override { return 1; }
  std::int64_t action_dim() const override { return 1; }
  std::int64_t noise_dim() const override { return 1; }
  std::string Description() const override { return "shifted"; }
  void Sample(ConstMatrixRef /*observations*/, std::span<const std::int64_t> /*steps*/,
              ConstMatrixRef noise, MatrixRef actions) const override {
    actions = (0.7f * noise).array() + 1.0f;
  }
  void Mean(ConstMatrixRef /*observations*/, std::span<const std::int64_t> /*steps*/,
            MatrixRef actions) const override {
    actions.setOnes();
  }
  bool has_density() const override { return false; }
  void LogDensity(ConstMatrixRef /*observations*/, std::span<const std::int64_t> /*steps*/,
                  ConstMatrixRef /*executed*/, const VectorD& /*low*/, const VectorD& /*high*/,
                  std::span<double> /*log_density*/) const override {}
};

TEST(FitMrdr, MinimizesTheVarianceOfTheDoublyRobustEstimateAmongLinearFunctions) {
  const OneStep problem(2000);
  const ShiftedPolicy policy;
  const Estimand estimand = FiniteHorizon(1);
  const std::vector<std::int64_t> all = IndexList(problem.log.episodes());
  MrdrOptions options = Small();
  options.network.hidden_layers = 0;
  options.fit.adam.learning_rate = 0.01;
  const LoggedProblem logged{problem.log, policy, Spec(), estimand};
  const MrdrFit fit = FitMrdr(logged, problem.log_ratios, options, 3);
  const double variance = problem.Variance(MrdrValues(fit, logged, all, 1, options, 4));

  FqeOptions plain;
  plain.members = 1;
  plain.network = options.network;
  plain.fit = options.fit;
  const FqeFit fqe = FitFqe(logged, plain, 3);
  const double plain_variance = problem.Variance(FqeValues(fqe, logged, all, 1, plain, 4));
  EXPECT_EQ(fit.clipped_share, 0.0);
  EXPECT_LT(variance, 1.1 * problem.LeastVariance());
  EXPECT_LT(variance, 0.5 * plain_variance);
}

TEST(FitMrdr, CountsWhatItClips) {
  const OneStep problem(200);
  MrdrOptions options = Small();
  options.fit.steps = 1;
  options.largest_ratio = 1.0;
  std::int64_t above = 0;
  for (const double ratio : problem.log_ratios.flat()) above += ratio > 0.0 ? 1 : 0;
  const MrdrFit fit = FitMrdr({problem.log, ShiftedPolicy(), Spec(), FiniteHorizon(1)},
                              problem.log_ratios, options, 3);
  EXPECT_DOUBLE_EQ(fit.clipped_share, static_cast<double>(above) / 200.0);
}

TEST(FitMrdr, GivesTheSameBytesForAnyNumberOfThreadsAndResumed) {
  const EpisodeBatch log = TwoStates::Log();
  const TwoStatePolicy policy(kEvaluation);
  const Estimand estimand = FiniteHorizon(kHorizon);
  MrdrOptions options = Small();
  options.members = 2;
  options.fit.steps = 50;
  const auto values = [&](const FitRun& run) {
    const LoggedProblem logged{log, policy, Spec(), estimand};
    const MrdrFit fit = FitMrdr(logged, TwoStateRatios(), options, 3, run);
    return MrdrValues(fit, logged, IndexList<std::int64_t>(9), kHorizon, options, 4).q;
  };
  SetThreads(1);
  const Array<double, 2> one = values({});
  SetThreads(2);
  EXPECT_EQ(one, values({}));
  SetThreads(0);

  // a checkpoint after every step, and a fit that goes on from the one at its end
  const TestDir dir;
  const FitRun run{.folder = dir.path(), .checkpoint_seconds = 0.0, .progress = nullptr};
  EXPECT_EQ(values(run), one);
  EXPECT_EQ(values(run), one);
}

TEST(FitMrdr, RefusesTheCheckpointOfOtherOptions) {
  const EpisodeBatch log = TwoStates::Log();
  const TwoStatePolicy policy(kEvaluation);
  const Array<double, 2> ratios = TwoStateRatios();
  ExpectEveryFieldCounts(TinyFit<MrdrOptions>(), [&](const auto& options, const FitRun& run) {
    FitMrdr({log, policy, Spec(), FiniteHorizon(kHorizon)}, ratios, options, 3, run);
  });
}

TEST(FitMrdr, RefusesRatiosOfAnotherShape) {
  try {
    FitMrdr({TwoStates::Log(), TwoStatePolicy(kEvaluation), Spec(), FiniteHorizon(kHorizon)},
            Array<double, 2>({4, 3}), Small(), 3);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[4, 3], expected [1024, 3]"));
  }
}

}  // namespace
}  // namespace lfiw::ope
