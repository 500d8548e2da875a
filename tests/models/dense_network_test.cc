#include "models/dense_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/config/visitor.h"
#include "core/error.h"
#include "core/rng.h"

namespace lfiw::models {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

MatrixF RandomMatrix(std::int64_t rows, std::int64_t columns, std::uint64_t index) {
  MatrixF m(rows, columns);
  Stream(7, "matrix", {index}).FillNormal(std::span<float>(m.data(), std::size_t(m.size())));
  return m;
}

std::vector<DenseLayer> Layers() {
  return {{RandomMatrix(5, 33, 0), RandomMatrix(33, 1, 1)},
          {0.2f * RandomMatrix(33, 7, 2), RandomMatrix(7, 1, 3)},
          {RandomMatrix(7, 2, 4), RandomMatrix(2, 1, 5)}};
}

double Slow(Activation activation, double x) {
  switch (activation) {
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kRelu:
      return std::max(0.0, x);
  }
  return 0.0;
}

TEST(DenseNetworkTest, OutputsEqualASlowForwardInDouble) {
  const MatrixF inputs = RandomMatrix(9, 5, 6);
  for (const Activation activation : {Activation::kSilu, Activation::kTanh, Activation::kRelu}) {
    const DenseNetwork network(Layers(), activation, "test");
    MatrixF outputs(9, 2);
    network.Forward(inputs, outputs);
    MatrixD h = inputs.cast<double>();
    for (std::size_t l = 0; l < 3; ++l) {
      MatrixD next = h * Layers()[l].weight.cast<double>();
      next.rowwise() += Layers()[l].bias.cast<double>().transpose();
      if (l < 2) next = next.unaryExpr([&](double x) { return Slow(activation, x); });
      h = next;
    }
    EXPECT_LT((h - outputs.cast<double>()).cwiseAbs().maxCoeff(), 2e-5) << EnumName(activation);
  }
}

TEST(DenseNetworkTest, ARowIsTheSameInEveryBatchToTheBit) {
  const DenseNetwork network(Layers(), Activation::kSilu, "test");
  const MatrixF inputs = RandomMatrix(50, 5, 6);
  MatrixF batch(50, 2), single(50, 2);
  network.Forward(inputs, batch);
  for (Eigen::Index i = 0; i < 50; ++i) {
    network.Forward(inputs.middleRows(i, 1), single.middleRows(i, 1));
  }
  EXPECT_EQ(batch, single);
}

TEST(DenseNetworkTest, LayersThatDoNotFitAreNamed) {
  EXPECT_THAT([] { DenseNetwork({}, Activation::kTanh, "a.npz"); },
              ThrowsMessage<PolicyError>(HasSubstr("no layer")));
  auto gap = Layers();
  gap[1].weight = MatrixF::Zero(32, 7);
  EXPECT_THAT([&] { DenseNetwork(gap, Activation::kTanh, "a.npz"); },
              ThrowsMessage<PolicyError>(
                  AllOf(HasSubstr("a.npz: layer 1"), HasSubstr("32"), HasSubstr("33"))));
  auto nan = Layers();
  nan[2].bias[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT([&] { DenseNetwork(nan, Activation::kTanh, "a.npz"); },
              ThrowsMessage<PolicyError>(HasSubstr("layer 2 holds a number that is not finite")));
}

}  // namespace
}  // namespace lfiw::models
