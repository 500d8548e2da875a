#include "models/torchscript_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/matrix.h"
#include "tests/core/test_dir.h"
#include "tests/models/torch_function.h"

namespace lfiw::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kGain =
    "return self.scale * (next_states[:, 0] - states[:, 0]) - torch.sum(actions * actions, 1)";

class TorchScriptFunctionTest : public testing::Test {
 protected:
  std::string ErrorOf(const std::string& body, std::int64_t obs_dim = 2,
                      std::int64_t action_dim = 1) {
    SaveFunction(path_, body);
    try {
      TorchScriptFunction::Load(path_, obs_dim, action_dim);
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(path_));
      return error.what();
    }
    return "no error";
  }

  TestDir dir_;
  std::string path_ = dir_ / "reward.pt";
};

TEST_F(TorchScriptFunctionTest, ValuesAreThoseOfTheModule) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    SaveFunction(path_, kGain, type);
    const auto function = TorchScriptFunction::Load(path_, 2, 1);
    std::vector<double> values(2);
    function->Predict(MatrixF{{1.0f, 9.0f}, {0.0f, 9.0f}}, MatrixF{{0.5f}, {1.0f}},
                      MatrixF{{2.0f, 9.0f}, {0.5f, 9.0f}}, values);
    EXPECT_THAT(values, ElementsAre(1.75, 0.0));
  }
}

TEST_F(TorchScriptFunctionTest, AColumnIsOneNumberPerRow) {
  SaveFunction(path_, "return next_states[:, :1]");
  const auto function = TorchScriptFunction::Load(path_, 2, 1);
  std::vector<double> values(1);
  function->Predict(MatrixF{{0.0f, 0.0f}}, MatrixF{{0.0f}}, MatrixF{{3.0f, 0.0f}}, values);
  EXPECT_EQ(values[0], 3.0);
}

TEST_F(TorchScriptFunctionTest, ManyRowsGetWhatEachAloneGets) {
  SaveFunction(path_, kGain);
  const auto function = TorchScriptFunction::Load(path_, 2, 1);
  constexpr std::int64_t kRows = 9000;
  MatrixF states = MatrixF::Zero(kRows, 2), next_states = MatrixF::Zero(kRows, 2);
  for (std::int64_t i = 0; i < kRows; ++i) next_states(i, 0) = static_cast<float>(i);
  std::vector<double> values(kRows);
  function->Predict(states, MatrixF::Zero(kRows, 1), next_states, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], 2.0 * static_cast<double>(i));
  }
}

TEST_F(TorchScriptFunctionTest, WrongModulesAreNamedWithWhatWasExpected) {
  EXPECT_THAT(ErrorOf("return states, actions"), HasSubstr("expected a tensor of one number"));
  EXPECT_THAT(ErrorOf("return states"), HasSubstr("shape [3, 2] for 3 rows"));
  EXPECT_THAT(ErrorOf("return torch.sum(states)"), HasSubstr("expected [3] or [3, 1]"));
  EXPECT_THAT(ErrorOf("return states[:, 0] - torch.mean(states)"), HasSubstr("mixes the rows"));
  EXPECT_THAT(ErrorOf("self.calls += 1.0\n  return states[:, 0] + self.calls"),
              HasSubstr("asked twice"));
  EXPECT_THAT(ErrorOf("return torch.matmul(states, torch.ones(5, 1))"),
              HasSubstr("states [3, 2], actions [3, 1] and next states [3, 2]"));
}

TEST_F(TorchScriptFunctionTest, AFileThatIsNoModuleIsNamed) {
  EXPECT_THROW(TorchScriptFunction::Load(dir_ / "missing.pt", 2, 1), DataError);
}

TEST_F(TorchScriptFunctionTest, AnswersThatAreNotFiniteAreRefused) {
  SaveFunction(path_, "return torch.log(states[:, 0])");
  const auto function = TorchScriptFunction::Load(path_, 1, 1);
  std::vector<double> values(1);
  const MatrixF action{{0.0f}};
  function->Predict(MatrixF{{1.0f}}, action, action, values);
  EXPECT_EQ(values[0], 0.0);
  EXPECT_THROW(function->Predict(MatrixF{{-1.0f}}, action, action, values), NumericError);
}

}  // namespace
}  // namespace lfiw::models
