#include "models/tanh_mlp.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lfiw::models {
namespace {

MatrixF RandomMatrix(std::int64_t rows, std::int64_t columns, std::uint64_t index) {
  MatrixF m(rows, columns);
  Stream(2, "matrix", {index}).FillNormal(std::span<float>(m.data(), std::size_t(m.size())));
  return m;
}

VectorF RandomParameters(const TanhMlp& mlp) {
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  for (std::size_t l = 0; l < mlp.layers().size(); ++l) {
    const auto& layer = mlp.layers()[l];
    mlp.SetWeight(0.3f * RandomMatrix(layer.inputs, layer.outputs, 10 + l), l, parameters.data());
    mlp.SetBias(0.3f * RandomMatrix(layer.outputs, 1, 20 + l).col(0), l, parameters.data());
  }
  return parameters;
}

// The network in double, layer by layer.
MatrixD SlowForward(const TanhMlp& mlp, const VectorD& parameters, const MatrixF& input) {
  MatrixD h = input.cast<double>();
  for (std::size_t l = 0; l < mlp.layers().size(); ++l) {
    const auto& layer = mlp.layers()[l];
    MatrixD out(h.rows(), layer.outputs);
    for (Eigen::Index i = 0; i < h.rows(); ++i) {
      for (Eigen::Index j = 0; j < layer.outputs; ++j) {
        double sum = parameters[layer.bias_offset + j];
        for (Eigen::Index k = 0; k < layer.inputs; ++k) {
          sum += h(i, k) * parameters[layer.weight_offset + k * layer.width + j];
        }
        out(i, j) = l + 1 < mlp.layers().size() ? std::tanh(sum) : sum;
      }
    }
    h = out;
  }
  return h;
}

TEST(TanhMlp, ForwardEqualsTheSlowVersion) {
  const TanhMlp mlp({5, 20, 33, 3});
  const VectorF parameters = RandomParameters(mlp);
  const MatrixF input = RandomMatrix(11, 5, 0);
  TanhMlp::Workspace workspace(mlp, 11);
  mlp.Forward(parameters.data(), 11, input.data(), 5, workspace);
  const MatrixD expected = SlowForward(mlp, parameters.cast<double>(), input);
  for (Eigen::Index i = 0; i < 11; ++i) {
    for (Eigen::Index j = 0; j < 3; ++j) {
      EXPECT_NEAR(workspace.activations.back()[i * mlp.output_width() + j], expected(i, j), 2e-6);
    }
  }
}

TEST(TanhMlp, BackwardEqualsFiniteDifferences) {
  const TanhMlp mlp({4, 17, 5, 2});
  const VectorF parameters = RandomParameters(mlp);
  const MatrixF input = RandomMatrix(6, 4, 0), slopes = RandomMatrix(6, 2, 1);
  TanhMlp::Workspace workspace(mlp, 6);
  mlp.Forward(parameters.data(), 6, input.data(), 4, workspace);
  for (Eigen::Index i = 0; i < 6; ++i) {
    for (Eigen::Index j = 0; j < 2; ++j) {
      workspace.deltas.back()[i * mlp.output_width() + j] = slopes(i, j);
    }
  }
  VectorF gradient(mlp.parameter_count());
  mlp.Backward(parameters.data(), 6, input.data(), 4, workspace, gradient.data());

  // loss = sum of slopes times outputs
  const auto loss = [&](const VectorD& p) {
    return SlowForward(mlp, p, input).cwiseProduct(slopes.cast<double>()).sum();
  };
  const VectorD center = parameters.cast<double>();
  for (Eigen::Index p = 0; p < center.size(); ++p) {
    VectorD up = center, down = center;
    up[p] += 1e-6;
    down[p] -= 1e-6;
    const bool padding = parameters[p] == 0.0f;
    const double expected = padding ? 0.0 : (loss(up) - loss(down)) / 2e-6;
    EXPECT_NEAR(gradient[p], expected, 2e-5) << "parameter " << p;
  }
}

TEST(TanhMlp, InitialWeightsAreOrthogonalTimesTheGain) {
  const TanhMlp mlp({7, 30, 30, 3});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.Initialize(Stream(3, "init"), 1.5, 0.01, parameters.data());
  const MatrixF wide = mlp.Weight(parameters.data(), 0);    // [7, 30]
  const MatrixF square = mlp.Weight(parameters.data(), 1);  // [30, 30]
  const MatrixF tall = mlp.Weight(parameters.data(), 2);    // [30, 3]
  EXPECT_TRUE((wide * wide.transpose()).isApprox(2.25f * MatrixF::Identity(7, 7), 1e-5f));
  EXPECT_TRUE((square.transpose() * square).isApprox(2.25f * MatrixF::Identity(30, 30), 1e-5f));
  EXPECT_TRUE((tall.transpose() * tall).isApprox(1e-4f * MatrixF::Identity(3, 3), 1e-5f));
  EXPECT_TRUE(mlp.Bias(parameters.data(), 1).isZero());
}

}  // namespace
}  // namespace lfiw::models
