#include "models/torchscript_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"
#include "tests/models/torch_function.h"

namespace lfiw::models {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class TorchScriptModuleTest : public testing::Test {
 protected:
  TorchScriptModule Saved(const std::string& body) {
    SaveFunction(path_, body);
    return TorchScriptModule::Load(path_);
  }
  static c10::IValue Ask(const TorchScriptModule& module, const at::Tensor& states) {
    return module.Call({states, states, states}, "states of the test");
  }
  // The message of the DataError that the module's body gives.
  std::string ErrorOf(const std::string& body) {
    try {
      Ask(Saved(body), at::ones({2, 1}));
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  }

  TestDir dir_;
  std::string path_ = dir_ / "module.pt";
};

TEST_F(TorchScriptModuleTest, CallsForwardWithoutGradients) {
  const TorchScriptModule module = Saved("return self.scale * states + actions");
  const at::Tensor states = at::full({2, 1}, 3.0).set_requires_grad(true);
  const at::Tensor result = Ask(module, states).toTensor();
  EXPECT_TRUE(at::equal(result, at::full({2, 1}, 9.0)));
  EXPECT_FALSE(result.requires_grad());
  EXPECT_EQ(module.path(), path_);
}

TEST_F(TorchScriptModuleTest, IsNotInTheStateOfTraining) {
  torch::jit::Module module("Dropout");
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define("def forward(self, x):\n  return torch.dropout(x, 0.5, self.training)\n");
  module.save(path_);
  const at::Tensor x = at::ones({100, 1});
  EXPECT_TRUE(at::equal(TorchScriptModule::Load(path_).Call({x}, "x").toTensor(), x));
}

TEST_F(TorchScriptModuleTest, AFailedCallIsOneLineWithWhatItWasCalledOn) {
  const std::string error = ErrorOf("return torch.matmul(states, torch.ones(5, 1))");
  EXPECT_THAT(error, AllOf(HasSubstr(path_ + ": the module fails on states of the test: "),
                           Not(HasSubstr("\n")), Not(HasSubstr("GPU"))));
}

TEST_F(TorchScriptModuleTest, CodeThatNamesAGpuSaysHowToExportIt) {
  EXPECT_THAT(ErrorOf("assert False, 'no CUDA here'\n  return states"),
              AllOf(HasSubstr("move the model to the CPU before exporting it"),
                    HasSubstr("no CUDA here"), Not(HasSubstr("\n"))));
}

TEST_F(TorchScriptModuleTest, AFileThatIsNoModuleIsNamedInOneLine) {
  WriteFileAtomically(dir_ / "text.pt", "no module");
  for (const std::string& path : {dir_ / "none.pt", dir_ / "text.pt"}) {
    try {
      TorchScriptModule::Load(path);
      ADD_FAILURE() << "accepted " << path;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path + ": LibTorch "), HasSubstr("export it again"),
                                      Not(HasSubstr("\n"))));
    }
  }
}

TEST_F(TorchScriptModuleTest, TensorsShowThatACallChangedABuffer) {
  const TorchScriptModule module = Saved("self.calls += 1.0\n  return states");
  ASSERT_EQ(module.Tensors().size(), 2u);
  const std::vector<at::Tensor> before = CopiesOf(module.Tensors());
  EXPECT_TRUE(AllEqual(before, module.Tensors()));
  Ask(module, at::ones({1, 1}));
  EXPECT_FALSE(AllEqual(before, module.Tensors()));
}

TEST_F(TorchScriptModuleTest, AttributesNamedAsRecurrentStateAreFound) {
  EXPECT_THAT(Saved("return states").StateAttributes(), IsEmpty());
  torch::jit::Module inner("Inner"), outer("Outer");
  inner.register_buffer("hidden_state", at::zeros({1}));
  inner.register_buffer("hidden_states_seen", at::zeros({1}));
  outer.register_module("core", inner);
  outer.define("def forward(self, x):\n  return x\n");
  outer.save(path_);
  EXPECT_THAT(TorchScriptModule::Load(path_).StateAttributes(), ElementsAre("core.hidden_state"));
}

TEST(AllEqual, TellsShapesNumbersAndCountsApart) {
  const std::vector<at::Tensor> a = {at::ones({2, 1})};
  EXPECT_TRUE(AllEqual(a, {at::ones({2, 1})}));
  EXPECT_FALSE(AllEqual(a, {at::ones({1, 2})}));
  EXPECT_FALSE(AllEqual(a, {at::zeros({2, 1})}));
  EXPECT_FALSE(AllEqual(a, {at::ones({2, 1}), at::ones({1})}));
}

}  // namespace
}  // namespace lfiw::models
