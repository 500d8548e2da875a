#include "models/learned_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::models {
namespace {

using ::testing::HasSubstr;

VectorF VectorOf(std::initializer_list<float> values) {
  VectorF out(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

// Two states (the second next state and change dropped), one action. Member k's output is linear:
// 1 s0 + 2 s1 + 3 a + 4 c + 5 n + 6 + k, with scaled change c = (s'0 - s0) / .5 and next state
// n = (s'0 - 1) / 4.
LearnedFunction LinearFunction(FunctionKind kind, std::int64_t members = 2) {
  TransitionScaler scaler{
      Scaler(VectorOf({0, 0}), VectorOf({1, 1})), Scaler(VectorOf({0}), VectorOf({1})),
      Scaler(VectorOf({0, 0}), VectorOf({0.5f, 1})), Scaler(VectorOf({1, 0}), VectorOf({4, 1}))};
  scaler.changes.Drop(std::vector<std::int64_t>{1});
  scaler.next_states.Drop(std::vector<std::int64_t>{1});
  std::vector<Mlp> networks;
  for (std::int64_t k = 0; k < members; ++k) {
    networks.emplace_back(
        5, 1, MlpOptions{.hidden_layers = 0, .width = 1, .activation = {}, .precision = {}},
        Stream(1, "w"));
    networks.back().parameters() << 1, 2, 3, 4, 5, 6 + static_cast<float>(k);
  }
  return LearnedFunction(kind, std::move(scaler), {.mean = 10.0, .deviation = 2.0},
                         std::move(networks));
}

constexpr double kOutput = 0.2 + 2 * 0.3 + 3 * -2.0 + 4 * (0.7 - 0.2) / 0.5 + 5 * (0.7 - 1) / 4 + 6;

double Predict(const LearnedFunction& function) {
  std::vector<double> values(1);
  function.Predict(MatrixF{{0.2f, 0.3f}}, MatrixF{{-2.0f}}, MatrixF{{0.7f, 9.0f}}, values);
  return values[0];
}

TEST(LearnedFunction, RewardIsTheMeanOfItsMembersInTheDatasUnit) {
  EXPECT_NEAR(Predict(LinearFunction(FunctionKind::kReward)), 10.0 + 2.0 * (kOutput + 0.5), 1e-5);
}

TEST(LearnedFunction, TerminationIsTheMeanOfItsMembersProbabilities) {
  const auto sigmoid = [](double z) { return 1.0 / (1.0 + std::exp(-z)); };
  EXPECT_NEAR(Predict(LinearFunction(FunctionKind::kTermination)),
              0.5 * (sigmoid(kOutput) + sigmoid(kOutput + 1.0)), 1e-6);
}

TEST(LearnedFunction, WithoutNetworksIsAConstant) {
  EXPECT_EQ(Predict(LinearFunction(FunctionKind::kReward, 0)), 10.0);
}

TEST(LearnedFunction, ManyRowsEqualRowsAlone) {
  const LearnedFunction function = LinearFunction(FunctionKind::kTermination);
  const MatrixF states = MatrixF::Random(2001, 2), actions = MatrixF::Random(2001, 1),
                next_states = MatrixF::Random(2001, 2);
  std::vector<double> all(2001), one(1);
  function.Predict(states, actions, next_states, all);
  for (const Eigen::Index i : {0, 999, 1000, 2000}) {
    function.Predict(states.row(i), actions.row(i), next_states.row(i), one);
    EXPECT_NEAR(all[static_cast<std::size_t>(i)], one[0], 1e-6);
  }
}

TEST(LearnedFunction, FileGivesTheSameBits) {
  const TestDir dir;
  for (const std::int64_t members : {2, 0}) {
    const LearnedFunction function = LinearFunction(FunctionKind::kReward, members);
    function.Save(dir / "reward.npz");
    const LearnedFunction loaded = LearnedFunction::Load(dir / "reward.npz");
    EXPECT_EQ(loaded.kind(), FunctionKind::kReward);
    EXPECT_EQ(loaded.members(), members);
    EXPECT_EQ(Predict(loaded), Predict(function));
  }
}

// What Load says of a reward's file with one array replaced.
template <class Value>
std::string LoadError(const std::string& name, const Value& value) {
  const TestDir dir;
  LinearFunction(FunctionKind::kReward).Save(dir / "f.npz");
  NpzFile file = NpzFile::Read(dir / "f.npz");
  file.Put(name, value);
  file.Write(dir / "f.npz");
  try {
    LearnedFunction::Load(dir / "f.npz");
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LearnedFunction, DamagedFilesAreErrors) {
  EXPECT_THAT(LoadError("kind", std::string("cost")), HasSubstr("expected reward or termination"));
  EXPECT_THAT(LoadError("members", std::vector<std::int64_t>{-1}), HasSubstr("members"));
  EXPECT_THAT(LoadError("output", std::vector<double>{0.0, 0.0}), HasSubstr("deviation > 0"));
  EXPECT_THAT(LoadError("changes.active", std::vector<std::int64_t>{}), HasSubstr("expected 4"));
}

}  // namespace
}  // namespace lfiw::models
