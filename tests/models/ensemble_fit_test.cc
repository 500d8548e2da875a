#include "models/ensemble_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// |x - goal|^2 / 2 of one parameter.
class Bowl : public FitProblem {
 public:
  explicit Bowl(float goal) : goal_(goal) {}
  VectorF& parameters() override { return x_; }
  double LossGradient(std::int64_t /*step*/, VectorF& gradient) override {
    gradient(0) = x_(0) - goal_;
    return ValidationLoss();
  }
  double ValidationLoss() override {
    return 0.5 * static_cast<double>(x_(0) - goal_) * static_cast<double>(x_(0) - goal_);
  }

 private:
  float goal_;
  VectorF x_ = VectorF::Zero(1);
};

FitOptions Steps() {
  return {.steps = 400, .batch = 1, .validate_every = 100, .adam = {.learning_rate = 0.05}};
}

TEST(FitEnsemble, FitsEveryMemberToItsOwnProblem) {
  std::vector<float> found(3);
  const std::vector<FitSummary> summaries = FitEnsemble(
      3, Steps(), {.name = "bowl", .identity = "1", .file = "bowl"}, {},
      [](std::int64_t k) { return Bowl(static_cast<float>(k + 1)); },
      [&](std::int64_t k, Bowl& bowl) {
        found[static_cast<std::size_t>(k)] = bowl.parameters()(0);
      });
  EXPECT_EQ(summaries.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], static_cast<double>(k + 1), 0.05);
}

TEST(FitEnsemble, NamesCheckpointsAndFailuresByMember) {
  const TestDir folder;
  const FitRun run{.folder = folder.path(), .checkpoint_seconds = 60.0, .progress = nullptr};
  const EnsembleJob job{.name = "bowl", .identity = "1", .file = "round"};
  FitEnsemble(2, Steps(), job, run, [](std::int64_t /*k*/) { return Bowl(1.0f); });
  EXPECT_TRUE(std::filesystem::exists(folder / "round_0.npz"));
  EXPECT_TRUE(std::filesystem::exists(folder / "round_1.npz"));
  try {
    FitEnsemble(3, Steps(), job, {}, [](std::int64_t k) {
      return Bowl(k == 0 ? 1.0f : std::numeric_limits<float>::infinity());
    });
    FAIL() << "accepted";
  } catch (const NumericError& error) {
    EXPECT_THAT(error.what(), HasSubstr("bowl 1:"));
  }
}

TEST(MakeNetworks, DrawsTheWeightsOfEachFromItsOwnStream) {
  const MlpOptions options{.hidden_layers = 1, .width = 3};
  const std::vector<Mlp> networks = MakeNetworks(2, 2, 1, options, 5, "weights");
  EXPECT_EQ(networks[1].parameters(), Mlp(2, 1, options, Stream(5, "weights", {1})).parameters());
  EXPECT_NE(networks[0].parameters(), networks[1].parameters());
}

}  // namespace
}  // namespace lfiw::models
