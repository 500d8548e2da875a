#include "models/image/logistic_mixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/models/image/gradient_check.h"

namespace lfiw::models {
namespace {

constexpr std::int64_t kComponents = 3;

// Parameters [1, parameter_count, 1, 1] of three channels with scales from a bin to the range.
at::Tensor Parameters(std::uint64_t seed) {
  return NormalTensor({1, LogisticMixture{3, kComponents}.parameter_count(), 1, 1}, seed) *
         at::tensor({1.0}, at::kDouble);
}

// Those of the mixture of the first channels alone.
at::Tensor Leading(const at::Tensor& parameters, std::int64_t channels) {
  const std::int64_t levels = kComponents * (1 + 2 * channels);
  const std::int64_t pairs = kComponents * channels * (channels - 1) / 2;
  return at::cat({parameters.narrow(1, 0, levels), parameters.narrow(1, 7 * kComponents, pairs)},
                 1);
}

// All 256 values of the last channel after fixed ones: [1, channels, 1, 256].
at::Tensor AllValues(std::vector<double> fixed) {
  const at::Tensor last = at::arange(256, at::kDouble).view({1, 1, 1, 256}) / 127.5 - 1.0;
  std::vector<at::Tensor> parts;
  for (const double value : fixed) parts.push_back(at::full({1, 1, 1, 256}, value, at::kDouble));
  parts.push_back(last);
  return at::cat(parts, 1);
}

double SumOverLast(const at::Tensor& parameters, const std::vector<double>& fixed) {
  const LogisticMixture mixture{std::ssize(fixed) + 1, kComponents};
  const at::Tensor own = Leading(parameters, mixture.channels);
  const at::Tensor log = mixture.LogProbability(own.expand({1, -1, 1, 256}), AllValues(fixed));
  return log.exp().sum().item<double>();
}

double Probability(const at::Tensor& parameters, const std::vector<double>& values) {
  const LogisticMixture mixture{std::ssize(values), kComponents};
  const at::Tensor x = at::tensor(values, at::kDouble).view({1, -1, 1, 1});
  return mixture.LogProbability(Leading(parameters, mixture.channels), x).exp().item<double>();
}

TEST(LogisticMixtureTest, SumsToOneOverTheValuesOfEachChannelGivenThoseBefore) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const at::Tensor parameters = Parameters(seed);
    EXPECT_NEAR(SumOverLast(parameters, {}), 1.0, 1e-12);
    for (const double red : {-1.0, 3.0 / 127.5 - 1.0, 1.0}) {
      EXPECT_NEAR(SumOverLast(parameters, {red}) / Probability(parameters, {red}), 1.0, 1e-10);
      EXPECT_NEAR(SumOverLast(parameters, {red, 0.2}) / Probability(parameters, {red, 0.2}), 1.0,
                  1e-10);
    }
  }
}

TEST(LogisticMixtureTest, AWideLogisticHasTheDensityOfItsFormula) {
  // one component of mean 0 and scale 0.5: density s (1 - s) / scale at x, s = sigmoid(x / scale)
  const LogisticMixture mixture{1, 1};
  const at::Tensor parameters =
      at::tensor({0.0, 0.0, std::log(0.5)}, at::kDouble).view({1, 3, 1, 1});
  const double x = 100.0 / 127.5 - 1.0, s = 1.0 / (1.0 + std::exp(-x / 0.5));
  const double probability =
      mixture.LogProbability(parameters, at::full({1, 1, 1, 1}, x, at::kDouble))
          .exp()
          .item<double>();
  EXPECT_NEAR(probability, s * (1.0 - s) / 0.5 * 2.0 / 255.0, 1e-6);
}

TEST(LogisticMixtureTest, GradientsMatchFiniteDifferences) {
  const LogisticMixture mixture{3, kComponents};
  const at::Tensor x = at::tensor({-1.0, 0.2, 1.0}, at::kDouble).view({1, 3, 1, 1});
  ExpectGradientsMatch(
      [&](const std::vector<at::Tensor>& given) {
        return mixture.LogProbability(given[0], x.expand({1, 3, 1, 1}));
      },
      {Parameters(1)}, 1e-5, 30);
}

TEST(LogisticMixtureTest, ExtremeParametersStayFinite) {
  const LogisticMixture mixture{1, 1};
  for (const double mean : {-30.0, 0.0, 30.0}) {
    for (const double log_scale : {-50.0, 0.0, 30.0}) {
      at::Tensor parameters =
          at::tensor({0.0, mean, log_scale}, at::kFloat).view({1, 3, 1, 1}).requires_grad_();
      for (const double x : {-1.0, 0.1, 1.0}) {
        const at::Tensor log = mixture.LogProbability(parameters, at::full({1, 1, 1, 1}, x));
        EXPECT_TRUE(std::isfinite(log.item<float>())) << mean << " " << log_scale << " " << x;
        const auto gradient = torch::autograd::grad({log.sum()}, {parameters})[0];
        EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << mean << " " << log_scale;
      }
    }
  }
}

TEST(LogisticMixtureTest, SamplesHaveTheStatedProbabilities) {
  const LogisticMixture mixture{1, kComponents};
  const at::Tensor parameters = Leading(Parameters(4), 1);
  const at::Tensor expected =
      mixture.LogProbability(parameters.expand({1, -1, 1, 256}), AllValues({})).exp().flatten();
  const at::Tensor single = parameters.to(at::kFloat).contiguous();
  constexpr int kDraws = 100'000;
  std::vector<double> counts(256, 0.0);
  Stream stream(1, "draws");
  for (int i = 0; i < kDraws; ++i) {
    std::uint8_t byte = 0;
    mixture.Sample({single.data_ptr<float>(), static_cast<std::size_t>(single.numel())}, stream,
                   {&byte, 1});
    counts[byte] += 1.0;
  }
  for (std::size_t v = 0; v < 256; ++v) {
    const double p = expected[static_cast<std::int64_t>(v)].item<double>();
    // five standard errors
    EXPECT_NEAR(counts[v] / kDraws, p, 5.0 * std::sqrt(p / kDraws) + 1e-5) << v;
  }
}

TEST(LogisticMixtureTest, LaterChannelsFollowEarlierOnes) {
  // mean of green = tanh(9) red, and hardly any noise
  const LogisticMixture mixture{2, 1};
  const std::vector<float> parameters = {0.0f, 0.0f, 0.0f, 0.0f, -7.0f, 9.0f};
  Stream stream(1, "draws");
  for (int i = 0; i < 100; ++i) {
    std::vector<std::uint8_t> pixel(2);
    mixture.Sample(parameters, stream, pixel);
    EXPECT_NEAR(pixel[0], pixel[1], 2);
  }
}

}  // namespace
}  // namespace lfiw::models
