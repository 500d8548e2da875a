#include "models/adam.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "core/error.h"
#include "core/rng.h"

namespace lfiw::models {
namespace {

constexpr std::int64_t kCount = 1003;  // no multiple of a vector width

// Standard normal draws.
VectorF Random(std::uint64_t index) {
  VectorF out(kCount);
  Stream(3, "adam", {index}).FillNormal(std::span(out.data(), static_cast<std::size_t>(kCount)));
  return out;
}

// In double, so that the reference adds no rounding of its own.
torch::Tensor Tensor(const VectorF& values) {
  return torch::from_blob(const_cast<float*>(values.data()), {values.size()}).to(torch::kDouble);
}

// Largest difference of parameters after 50 steps on the same gradients.
template <class Optimizer, class Options>
double DifferenceToTorch(const AdamOptions& own, const Options& theirs) {
  VectorF parameters = 0.1f * Random(0);  // the size of weights
  torch::Tensor expected = Tensor(parameters).requires_grad_(true);
  Optimizer optimizer({expected}, theirs);
  Adam adam(kCount, own);
  for (std::uint64_t step = 1; step <= 50; ++step) {
    const VectorF gradient = Random(step);
    expected.mutable_grad() = Tensor(gradient);
    if (own.clip_norm > 0.0) torch::nn::utils::clip_grad_norm_({expected}, own.clip_norm);
    optimizer.step();
    adam.Step(gradient, parameters);
  }
  return (Tensor(parameters) - expected).abs().max().template item<double>();
}

TEST(Adam, EqualsTorchAdam) {
  EXPECT_LT((DifferenceToTorch<torch::optim::Adam>({}, torch::optim::AdamOptions(1e-3))), 1e-6);
}

TEST(Adam, EqualsTorchAdamWithL2Decay) {
  EXPECT_LT(
      (DifferenceToTorch<torch::optim::Adam>({.weight_decay = 0.01, .decay_kind = WeightDecay::kL2},
                                             torch::optim::AdamOptions(1e-3).weight_decay(0.01))),
      1e-6);
}

TEST(Adam, EqualsTorchAdamWWithDecoupledDecay) {
  EXPECT_LT((DifferenceToTorch<torch::optim::AdamW>(
                {.weight_decay = 0.01}, torch::optim::AdamWOptions(1e-3).weight_decay(0.01))),
            1e-6);
}

TEST(Adam, ClipsTheGlobalNormAsTorchDoes) {
  EXPECT_LT(
      (DifferenceToTorch<torch::optim::Adam>({.clip_norm = 0.5}, torch::optim::AdamOptions(1e-3))),
      1e-6);
}

TEST(Adam, ReportsTheNormBeforeClipping) {
  VectorF parameters = VectorF::Zero(2), gradient(2);
  gradient << 3.0f, 4.0f;
  Adam adam(2, {.clip_norm = 1.0});
  EXPECT_DOUBLE_EQ(adam.Step(gradient, parameters), 5.0);
}

TEST(Adam, AddsEpsilonToTheUncorrectedRootAsTensorFlowDoes) {
  constexpr std::int64_t kWhole = 48;  // whole lanes
  constexpr double kRate = 0.01, kEpsilon = 1e-3;
  VectorF parameters = Random(0).head(kWhole);
  VectorD expected = parameters.cast<double>(), mean = VectorD::Zero(kWhole), square = mean;
  Adam adam(kWhole, {.learning_rate = kRate, .epsilon = kEpsilon, .clip_norm = 2.0},
            EpsilonPlacement::kUncorrected);
  for (std::uint64_t step = 1; step <= 20; ++step) {
    const VectorF gradient = Random(step).head(kWhole);
    const VectorD g = gradient.cast<double>() * std::min(1.0, 2.0 / gradient.cast<double>().norm());
    mean = 0.9 * mean + 0.1 * g;
    square = 0.999 * square + 0.001 * g.cwiseAbs2();
    const auto t = static_cast<double>(step);
    const double rate = kRate * std::sqrt(1.0 - std::pow(0.999, t)) / (1.0 - std::pow(0.9, t));
    expected.array() -= rate * mean.array() / (square.array().sqrt() + kEpsilon);
    EXPECT_NEAR(adam.Step(gradient, parameters), gradient.cast<double>().norm(), 1e-4);
  }
  EXPECT_LT((parameters.cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Adam, ContinuesFromSavedState) {
  VectorF straight = Random(0), resumed = straight;
  Adam one(kCount, {}), first(kCount, {}), second(kCount, {});
  for (std::uint64_t step = 1; step <= 10; ++step) one.Step(Random(step), straight);
  for (std::uint64_t step = 1; step <= 4; ++step) first.Step(Random(step), resumed);
  NpzFile file;
  first.Save("adam", file);
  second.Load(file, "adam");
  for (std::uint64_t step = 5; step <= 10; ++step) second.Step(Random(step), resumed);
  EXPECT_EQ(resumed, straight);
}

TEST(Adam, LoadRejectsAnotherParameterCount) {
  NpzFile file;
  Adam(4, {}).Save("adam", file);
  Adam other(5, {});
  EXPECT_THROW(other.Load(file, "adam"), DataError);
}

}  // namespace
}  // namespace lfiw::models
