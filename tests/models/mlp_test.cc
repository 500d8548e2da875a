#include "models/mlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <cmath>

#include "core/bfloat16_product.h"
#include "core/error.h"
#include "core/parallel.h"

namespace lfiw::models {
namespace {

MatrixF RandomInputs(std::int64_t rows, std::int64_t cols, std::uint64_t index) {
  MatrixF out(rows, cols);
  Stream(3, "rows", {index})
      .FillNormal(std::span(out.data(), static_cast<std::size_t>(out.size())));
  return out;
}

torch::Tensor Tensor(const MatrixF& rows) {
  return torch::from_blob(const_cast<float*>(rows.data()), {rows.rows(), rows.cols()}).clone();
}

// The same network built from LibTorch's own differentiable operations.
struct Oracle {
  explicit Oracle(const Mlp& mlp) : activation(mlp.options().activation) {
    std::int64_t in = mlp.input_dim(), at = 0;
    const auto take = [&](at::IntArrayRef shape) {
      auto* data = const_cast<float*>(mlp.parameters().data()) + at;
      leaves.push_back(torch::from_blob(data, shape).clone().requires_grad_(true));
      at += leaves.back().numel();
    };
    for (std::int64_t l = 0; l <= mlp.options().hidden_layers; ++l) {
      const std::int64_t out =
          l == mlp.options().hidden_layers ? mlp.output_dim() : mlp.options().width;
      take({in, out});
      take({out});
      in = out;
    }
  }

  torch::Tensor Apply(torch::Tensor x) const {
    for (std::size_t l = 0; l < leaves.size(); l += 2) {
      if (l > 0) {
        x = activation == Activation::kSilu   ? x * torch::sigmoid(x)
            : activation == Activation::kTanh ? torch::tanh(x)
                                              : torch::clamp_min(x, 0);
      }
      x = torch::matmul(x, leaves[l]) + leaves[l + 1];
    }
    return x;
  }

  Activation activation;
  std::vector<torch::Tensor> leaves;
};

class MlpOfEveryActivation : public ::testing::TestWithParam<Activation> {};

TEST_P(MlpOfEveryActivation, GradientsEqualAutograd) {
  Mlp mlp(
      5, 3,
      {.hidden_layers = 2, .width = 16, .activation = GetParam(), .precision = Precision::kFloat},
      Stream(1, "w"));
  const MatrixF inputs = RandomInputs(7, 5, 0), output_gradient = RandomInputs(7, 3, 1);
  const Oracle oracle(mlp);
  const torch::Tensor expected = oracle.Apply(Tensor(inputs));
  const auto gradients =
      torch::autograd::grad({expected}, oracle.leaves, {Tensor(output_gradient)});

  const MatrixF outputs = mlp.ForwardTraining(inputs);
  EXPECT_LT((Tensor(outputs) - expected).abs().max().item<float>(), 1e-5f);
  VectorF gradient(mlp.parameters().size());
  mlp.Backward(output_gradient, gradient);
  std::int64_t at = 0;
  for (const torch::Tensor& part : gradients) {
    const auto own = torch::from_blob(gradient.data() + at, part.sizes());
    EXPECT_LT((own - part).abs().max().item<float>(), 2e-5f);
    at += part.numel();
  }
  EXPECT_EQ(at, gradient.size());
}

TEST_P(MlpOfEveryActivation, InferenceEqualsTrainingPass) {
  Mlp mlp(
      4, 2,
      {.hidden_layers = 3, .width = 8, .activation = GetParam(), .precision = Precision::kFloat},
      Stream(2, "w"));
  const MatrixF inputs = RandomInputs(9, 4, 0);
  MatrixF outputs(9, 2);
  mlp.Forward(inputs, outputs);
  EXPECT_LT((outputs - mlp.ForwardTraining(inputs)).cwiseAbs().maxCoeff(), 1e-6f);
}

TEST_P(MlpOfEveryActivation, BFloat16RoundsGradientsAndNothingElse) {
  if (!HasBFloat16Products()) GTEST_SKIP() << "this CPU has no bfloat16 products";
  const auto network = [&](Precision precision) {
    return Mlp(5, 3,
               {.hidden_layers = 2, .width = 40, .activation = GetParam(), .precision = precision},
               Stream(1, "w"));
  };
  Mlp plain = network(Precision::kFloat), rounded = network(Precision::kBFloat16);
  const MatrixF inputs = RandomInputs(70, 5, 0), output_gradient = RandomInputs(70, 3, 1);
  const MatrixF expected = plain.ForwardTraining(inputs);
  const MatrixF outputs = rounded.ForwardTraining(inputs);
  EXPECT_GT((outputs - expected).norm(), 0.0f);
  EXPECT_LT((outputs - expected).norm(), 0.01f * expected.norm());
  VectorF expected_gradient(plain.parameters().size()), gradient(plain.parameters().size());
  plain.Backward(output_gradient, expected_gradient);
  rounded.Backward(output_gradient, gradient);
  // rounding carries some units of a rectifier over its kink
  const float rounding = GetParam() == Activation::kRelu ? 0.1f : 0.02f;
  EXPECT_LT((gradient - expected_gradient).norm(), rounding * expected_gradient.norm());
  MatrixF inference(70, 3), expected_inference(70, 3);
  plain.Forward(inputs, expected_inference);
  rounded.Forward(inputs, inference);
  EXPECT_EQ(inference, expected_inference);
}

INSTANTIATE_TEST_SUITE_P(Activations, MlpOfEveryActivation,
                         ::testing::Values(Activation::kSilu, Activation::kTanh,
                                           Activation::kRelu));

TEST(Mlp, ChunkedInferenceEqualsRowsAlone) {
  const Mlp mlp(3, 2, {.hidden_layers = 2, .width = 8, .activation = {}, .precision = {}},
                Stream(2, "w"));
  const MatrixF inputs = RandomInputs(2345, 3, 0);
  MatrixF outputs(2345, 2), one(1, 2);
  mlp.Forward(inputs, outputs);
  for (const Eigen::Index i : {0, 999, 1000, 2344}) {
    mlp.Forward(inputs.middleRows(i, 1), one);
    EXPECT_LT((one - outputs.row(i)).cwiseAbs().maxCoeff(), 1e-5f);
  }
}

TEST(Mlp, SmallNetworksTrainInFloatUnlessTold) {
  const MatrixF inputs = RandomInputs(9, 4, 0);
  const auto outputs = [&](Precision precision) -> MatrixF {
    Mlp mlp(4, 2, {.hidden_layers = 1, .width = 64, .activation = {}, .precision = precision},
            Stream(2, "w"));
    return mlp.ForwardTraining(inputs);
  };
  EXPECT_EQ(outputs(Precision::kAuto), outputs(Precision::kFloat));
}

TEST(Mlp, RefusesBFloat16WhereTheCpuHasNone) {
  if (HasBFloat16Products()) GTEST_SKIP() << "this CPU multiplies bfloat16";
  Mlp mlp(4, 2,
          {.hidden_layers = 1, .width = 8, .activation = {}, .precision = Precision::kBFloat16},
          Stream(2, "w"));
  EXPECT_THROW(mlp.ForwardTraining(RandomInputs(9, 4, 0)), ConfigError);
}

TEST(Mlp, AcceptsColumnBlocksOfWiderRows) {
  const Mlp mlp(3, 2, {.hidden_layers = 1, .width = 8, .activation = {}, .precision = {}},
                Stream(2, "w"));
  const MatrixF wide = RandomInputs(6, 8, 0);
  const MatrixF narrow = wide.middleCols(2, 3);
  MatrixF expected(6, 2), into = MatrixF::Zero(6, 5);
  mlp.Forward(narrow, expected);
  mlp.Forward(wide.middleCols(2, 3), into.middleCols(1, 2));
  EXPECT_EQ(MatrixF(into.middleCols(1, 2)), expected);
  EXPECT_TRUE((into.col(0).array() == 0.0f).all() && (into.col(3).array() == 0.0f).all());
}

TEST(Mlp, InitialWeightsAreTruncatedNormalAndBiasesZero) {
  const Mlp mlp(100, 50, {.hidden_layers = 0, .width = 1, .activation = {}, .precision = {}},
                Stream(5, "w"));
  const auto weights = mlp.parameters().head(5000), biases = mlp.parameters().tail(50);
  const float sigma = 0.5f / std::sqrt(100.0f);
  EXPECT_LE(weights.cwiseAbs().maxCoeff(), 2.0f * sigma);
  // the deviation of a normal truncated at 2 is 0.880; 5 standard errors of 5000 draws
  EXPECT_NEAR(std::sqrt(weights.squaredNorm() / 5000.0f), 0.880f * sigma, 0.05f * sigma);
  EXPECT_TRUE((biases.array() == 0.0f).all());
}

TEST(Mlp, TorchRunsOnOneThreadInsideTasks) {
  const Mlp mlp(2, 1, {.hidden_layers = 1, .width = 4, .activation = {}, .precision = {}},
                Stream(5, "w"));
  std::atomic<int> most = 0;
  ParallelFor(32, [&](std::int64_t) {
    MatrixF inputs = MatrixF::Zero(3, 2), outputs(3, 1);
    mlp.Forward(inputs, outputs);
    if (at::get_num_threads() > most) most = at::get_num_threads();
  });
  EXPECT_EQ(most, 1);
}

TEST(Mlp, LoadsWhatItSaved) {
  const Mlp mlp(3, 2,
                {.hidden_layers = 2, .width = 8, .activation = Activation::kTanh, .precision = {}},
                Stream(2, "w"));
  NpzFile file;
  mlp.Save("net", file);
  const Mlp loaded = Mlp::Load(file, "net");
  EXPECT_EQ(loaded.parameters(), mlp.parameters());
  EXPECT_EQ(loaded.options().activation, Activation::kTanh);
}

TEST(Mlp, LoadRejectsAParameterCountThatDisagrees) {
  const Mlp mlp(3, 2, {.hidden_layers = 1, .width = 8, .activation = {}, .precision = {}},
                Stream(2, "w"));
  NpzFile file;
  mlp.Save("net", file);
  file.Put("net.parameters", VectorF(VectorF::Zero(7)));
  EXPECT_THROW(Mlp::Load(file, "net"), DataError);
}

}  // namespace
}  // namespace lfiw::models
