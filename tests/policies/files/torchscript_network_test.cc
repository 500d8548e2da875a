#include "policies/files/torchscript_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/core/test_dir.h"
#include "tests/policies/torch_module.h"
#include "tests/shared_data.h"

namespace lfiw::policies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TorchScriptNetworkTest : public testing::Test {
 protected:
  std::unique_ptr<TorchScriptNetwork> LoadAndBind(const TorchScriptNetwork::Shape& shape) {
    auto network = TorchScriptNetwork::Load(path_);
    network->Bind(shape);
    return network;
  }

  std::string ErrorOf(const TorchScriptNetwork::Shape& shape) {
    try {
      LoadAndBind(shape);
    } catch (const PolicyError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path_), Not(HasSubstr("\n"))));
      return error.what();
    }
    return "no error";
  }

  TestDir dir_;
  std::string path_ = dir_ / "a.pt";
};

TEST_F(TorchScriptNetworkTest, OutputsAreThoseOfTheModule) {
  SaveModule(path_, kLinearBody, 2, 1);
  const auto network = LoadAndBind({2, 1});
  MatrixF outputs(3, 1);
  network->Forward(MatrixF{{1.0f, 0.0f}, {0.0f, 1.0f}, {2.0f, -1.0f}}, outputs);
  EXPECT_TRUE(outputs.isApprox(MatrixF{{0.1f}, {0.2f}, {0.0f}}, 1e-6f));
}

TEST_F(TorchScriptNetworkTest, APairOfMeanAndDeviationIsJoined) {
  SaveModule(path_, "return torch.matmul(x, torch.t(self.weight)), self.calls - 1.0", 2, 2);
  const auto network = LoadAndBind({2, 4});
  MatrixF outputs(1, 4);
  network->Forward(MatrixF{{1.0f, 0.0f}}, outputs);
  EXPECT_TRUE(outputs.isApprox(MatrixF{{0.1f, 0.3f, -1.0f, -1.0f}}, 1e-6f));
}

TEST_F(TorchScriptNetworkTest, ManyThreadsGetWhatOneGets) {
  SaveModule(path_, "return torch.tanh(torch.matmul(x, torch.t(self.weight)))", 4, 3);
  const auto network = LoadAndBind({4, 3});
  const MatrixF inputs = MatrixF::Random(64, 4);
  MatrixF one(64, 3);
  for (Eigen::Index i = 0; i < 64; ++i) {
    network->Forward(inputs.middleRows(i, 1), one.middleRows(i, 1));
  }
  MatrixF many(64, 3);
  ParallelFor(64, [&](std::int64_t i) {
    network->Forward(inputs.middleRows(i, 1), many.middleRows(i, 1));
  });
  EXPECT_EQ(one, many);
}

TEST_F(TorchScriptNetworkTest, WeightsOfAnotherTypeThanTheContractsAreNamed) {
  SaveModule(path_, kLinearBody, 2, 1, at::kDouble);
  EXPECT_THAT(ErrorOf({2, 1, NetworkDtype::kFloat32}),
              AllOf(HasSubstr("float64 weights"), HasSubstr("write dtype: float64")));
  EXPECT_EQ(LoadAndBind({2, 1, NetworkDtype::kFloat64})->outputs(), 1);
}

TEST_F(TorchScriptNetworkTest, WrongSizesNameBothSides) {
  SaveModule(path_, kLinearBody, 11, 3);
  EXPECT_THAT(ErrorOf({17, 3}), AllOf(HasSubstr("[1, 17] observations"), HasSubstr("11")));
  EXPECT_THAT(ErrorOf({11, 6}), AllOf(HasSubstr("returns shape [1, 3]"), HasSubstr("[1, 6]")));
}

TEST_F(TorchScriptNetworkTest, CodeThatNamesAGpuIsToldFromOtherFailures) {
  SaveModule(path_, "return x + torch.zeros([2], device=torch.device('cuda:0'))", 2, 2);
  EXPECT_THAT(ErrorOf({2, 2}), HasSubstr("names a GPU"));
}

TEST_F(TorchScriptNetworkTest, AModuleThatCountsItsCallsIsStateful) {
  SaveModule(path_, "self.calls.add_(1.0)\n  return torch.matmul(x, torch.t(self.weight))", 2, 1);
  EXPECT_THAT(ErrorOf({2, 1}), HasSubstr("answers differently when asked twice"));
}

TEST_F(TorchScriptNetworkTest, AModuleThatDrawsRandomNumbersIsRefused) {
  SaveModule(path_, "return torch.randn_like(x)", 2, 2);
  EXPECT_THAT(ErrorOf({2, 2}), HasSubstr("random"));
}

TEST_F(TorchScriptNetworkTest, StateIsKnownByItsName) {
  SaveModule(path_, kLinearBody, 2, 1, at::kFloat, "hidden_state");
  EXPECT_THAT(ErrorOf({2, 1}), HasSubstr("keeps a state (hidden_state)"));
}

TEST_F(TorchScriptNetworkTest, RowsThatDependOnEachOtherAreRefused) {
  SaveModule(path_, "return x - torch.mean(x, 0)", 2, 2);
  EXPECT_THAT(ErrorOf({2, 2}), HasSubstr("mixes the rows of a batch"));
}

TEST_F(TorchScriptNetworkTest, ARecurrentPolicyOfARobotIsRefusedByItsState) {
  const std::string path = SharedData("rl/torchscript/unitree_g1_motion.pt");
  if (path.empty()) GTEST_SKIP() << "shared data is not at hand";
  path_ = path;
  EXPECT_THAT(ErrorOf({47, 12}), AllOf(HasSubstr("hidden_state"), HasSubstr("cell_state")));
}

}  // namespace
}  // namespace lfiw::policies
