#include "models/image/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/image/gradient_check.h"

namespace lfiw::models {
namespace {

using testing::Each;
using testing::ElementsAre;

at::Tensor Input() { return NormalTensor({3, 2, 6, 6}, 1); }

TEST(TensorLayoutTest, LaysTensorsOutOneAfterAnother) {
  TensorLayout layout;
  EXPECT_EQ(layout.Add({2, 3}, Initializer::Constant(1.0)), 0u);
  EXPECT_EQ(layout.Add({4}, Initializer::Constant(2.0)), 1u);
  VectorF values = layout.Draw(Stream(1, "w"));
  EXPECT_THAT(values, ElementsAre(1, 1, 1, 1, 1, 1, 2, 2, 2, 2));
  const std::vector<at::Tensor> views = layout.Views(values.data());
  EXPECT_EQ(views[0].sizes(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(views[1].data_ptr<float>(), values.data() + 6);
  const std::vector<at::Tensor> parts = layout.Cut(at::arange(10, at::kFloat));
  EXPECT_EQ(parts[0][1][0].item<float>(), 3.0f);
  EXPECT_EQ(parts[1][3].item<float>(), 9.0f);
}

TEST(TensorLayoutTest, DrawsTheStatedDistributionsFromTheStreamAlone) {
  TensorLayout layout;
  layout.Add({20'000}, Initializer::Normal(0.5));
  layout.Add({20'000}, Initializer::Glorot(3.0, 3.0, 2.0));
  const VectorF values = layout.Draw(Stream(1, "w"));
  EXPECT_EQ(values, layout.Draw(Stream(1, "w")));
  const auto normal = values.head(20'000), uniform = values.tail(20'000);
  // standard errors: 0.5 / sqrt(40000) and 2 / sqrt(3) / sqrt(20000)
  EXPECT_NEAR(std::sqrt(normal.squaredNorm() / 20'000.0f), 0.5, 0.01);
  EXPECT_NEAR(uniform.mean(), 0.0, 0.033);
  EXPECT_LE(uniform.cwiseAbs().maxCoeff(), 2.0f);
  EXPECT_GT(uniform.cwiseAbs().maxCoeff(), 1.99f);
}

TEST(LayerGradientTest, Conv) {
  NetworkLayout layout;
  const Conv conv(layout, {2, 3, 3, 2, 1}, Initializer::Normal(1.0));
  ExpectNetworkGradientsMatch(layout, Input(),
                              [&](Pass& pass, const at::Tensor& x) { return conv(pass, x); });
}

TEST(LayerGradientTest, TransposedConvDoublesTheSide) {
  NetworkLayout layout;
  const TransposedConv conv(layout, {2, 3, 4, 2, 1}, Initializer::Normal(1.0));
  ExpectNetworkGradientsMatch(layout, Input(), [&](Pass& pass, const at::Tensor& x) {
    const at::Tensor y = conv(pass, x);
    EXPECT_EQ(y.sizes(), (std::vector<std::int64_t>{3, 3, 12, 12}));
    return y;
  });
}

TEST(LayerGradientTest, Dense) {
  NetworkLayout layout;
  const Dense dense(layout, 72, 4, Initializer::Normal(1.0));
  ExpectNetworkGradientsMatch(
      layout, Input(), [&](Pass& pass, const at::Tensor& x) { return dense(pass, x.flatten(1)); });
}

TEST(LayerGradientTest, BatchNorm) {
  NetworkLayout layout;
  const BatchNorm norm(layout, 2);
  ExpectNetworkGradientsMatch(layout, Input(),
                              [&](Pass& pass, const at::Tensor& x) { return norm(pass, x); });
}

TEST(LayerGradientTest, LayerNorm) {
  NetworkLayout layout;
  const LayerNorm norm(layout, 2);
  ExpectNetworkGradientsMatch(layout, Input(),
                              [&](Pass& pass, const at::Tensor& x) { return norm(pass, x); });
}

// The gradient of the gradient by the input, as a gradient penalty needs it.
TEST(LayerGradientTest, LayerNormAndConvTwice) {
  NetworkLayout layout;
  const Conv conv(layout, {2, 3, 3, 2, 1}, Initializer::Normal(1.0));
  const LayerNorm norm(layout, 3);
  ExpectNetworkGradientsMatch(layout, Input(), [&](Pass& pass, const at::Tensor& given) {
    // also where the check itself wants no gradient
    const at::AutoGradMode grad(true);
    const at::Tensor x = given.requires_grad() ? given : given.detach().requires_grad_();
    const at::Tensor y = norm(pass, at::leaky_relu(conv(pass, x), 0.2)).pow(2).sum();
    return torch::autograd::grad({y}, {x}, {}, true, true)[0].pow(2).sum();
  });
}

TEST(LayerGradientTest, DropoutWithAFixedMask) {
  const NetworkLayout none;
  ExpectNetworkGradientsMatch(
      none, Input(), [&](Pass& pass, const at::Tensor& x) { return Dropout(pass, x, 0.5); });
}

TEST(LayerGradientTest, UpsampleAndDownsample) {
  const NetworkLayout none;
  ExpectNetworkGradientsMatch(none, Input(), [&](Pass& /*pass*/, const at::Tensor& x) {
    return Upsample(x) + Upsample(Upsample(Downsample(x)));
  });
}

TEST(UpsampleTest, IsUndoneByDownsample) {
  EXPECT_TRUE(at::allclose(Downsample(Upsample(Input())), Input()));
}

TEST(DropoutTest, KeepsTheMeanAndDoesNothingInInference) {
  Pass pass;
  const at::Tensor ones = at::ones({100'000});
  EXPECT_TRUE(at::equal(Dropout(pass, ones, 0.3), ones));
  pass.mode = PassMode::kTraining;
  pass.noise = Stream(1, "mask");
  const at::Tensor dropped = Dropout(pass, ones, 0.3);
  // standard errors: sqrt(0.3 0.7 / 1e5) = 0.0014, and 1 / 0.7 of it
  EXPECT_NEAR((dropped == 0.0).to(at::kFloat).mean().item<float>(), 0.3, 0.006);
  EXPECT_NEAR(dropped.mean().item<float>(), 1.0, 0.009);
}

// A spectral layer with power iterations run to their limit.
struct Spectral {
  Spectral() : conv(layout, {2, 3, 3, 1, 1}, Initializer::Normal(1.0)) {
    parameters = layout.parameters.Draw(Stream(1, "p"));
    state = layout.state.Draw(Stream(1, "s"));
    std::vector<at::Tensor> views = layout.state.Views(state.data());
    for (int i = 0; i < 300; ++i) {
      conv.weight().Iterate(layout.parameters.Views(parameters.data()), views);
    }
  }
  NetworkLayout layout;
  SpectralConv conv;
  VectorF parameters, state;
};

TEST(SpectralWeightTest, HasUnitNormAfterManyIterations) {
  Spectral spectral;
  Pass pass;
  pass.parameters = spectral.layout.parameters.Views(spectral.parameters.data());
  pass.state = spectral.layout.state.Views(spectral.state.data());
  const at::Tensor weight = spectral.conv.weight()(pass).flatten(1);
  const at::Tensor norm = at::linalg_matrix_norm(weight, 2);
  EXPECT_NEAR(norm.item<float>(), 1.0, 1e-5);
}

TEST(SpectralWeightTest, GradientMatchesWhereTheIterationHasConverged) {
  Spectral spectral;
  std::vector<at::Tensor> inputs = {Input()};
  for (const at::Tensor& parameter : spectral.layout.parameters.Views(spectral.parameters.data())) {
    inputs.push_back(parameter);
  }
  ExpectGradientsMatch(
      [&](const std::vector<at::Tensor>& given) {
        Pass pass;
        pass.parameters.assign(given.begin() + 1, given.end());
        pass.state = {spectral.layout.state.Views(spectral.state.data())[0].to(at::kDouble)};
        return spectral.conv(pass, given[0]);
      },
      inputs, 1e-4);
}

TEST(BatchNormTest, MovesItsMomentsTowardsTheBatchAndUsesThemInInference) {
  NetworkLayout layout;
  const BatchNorm norm(layout, 2, 1.0);
  VectorF parameters = layout.parameters.Draw(Stream(1, "p"));
  VectorF state = layout.state.Draw(Stream(1, "s"));
  Pass pass;
  pass.parameters = layout.parameters.Views(parameters.data());
  pass.state = layout.state.Views(state.data());
  pass.mode = PassMode::kTraining;
  const at::Tensor x = (3.0 * Input() + 2.0).to(at::kFloat);
  norm(pass, x);
  const at::Tensor flat = x.transpose(0, 1).flatten(1);
  EXPECT_TRUE(at::allclose(pass.observed[0], flat.mean(1), 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(pass.observed[1], flat.var(1), 1e-4, 1e-5));
  pass.state = pass.observed;
  pass.mode = PassMode::kInference;
  const at::Tensor y = norm(pass, x).transpose(0, 1).flatten(1);
  EXPECT_TRUE(at::allclose(y.mean(1), at::zeros({2}), 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(y.var(1), at::ones({2}), 1e-4, 1e-5));
}

TEST(LayerNormTest, NormalizesEachImageAlone) {
  NetworkLayout layout;
  const LayerNorm norm(layout, 2);
  VectorF parameters = layout.parameters.Draw(Stream(1, "p"));
  Pass pass;
  pass.parameters = layout.parameters.Views(parameters.data());
  const at::Tensor x = (3.0 * Input() + 2.0).to(at::kFloat);
  const at::Tensor y = norm(pass, x);
  EXPECT_TRUE(at::allclose(y.flatten(1).mean(1), at::zeros({3}), 1e-4, 1e-5));
  EXPECT_TRUE(at::allclose(y.slice(0, 1, 2), norm(pass, x.slice(0, 1, 2)), 1e-5, 1e-6));
}

}  // namespace
}  // namespace lfiw::models
