#include "policies/gaussian_mlp_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "policies/normal_density.h"
#include "tests/core/test_dir.h"
#include "tests/policies/fake_env.h"

namespace lfiw::policies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kObsDim = 3, kActionDim = 2;

MatrixF RandomMatrix(std::int64_t rows, std::int64_t columns, std::uint64_t index) {
  MatrixF m(rows, columns);
  Stream(5, "matrix", {index}).FillNormal(std::span<float>(m.data(), std::size_t(m.size())));
  return m;
}

GaussianMlpPolicy MakePolicy() {
  TanhMlp mlp({kObsDim, 64, 64, kActionDim});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.Initialize(Stream(6, "policy"), 1.4, 0.7, parameters.data());
  mlp.SetBias(VectorF{{0.1f, -0.2f}}, 2, parameters.data());
  ObservationNormalizer normalizer(kObsDim, 10.0);
  normalizer.SetStatistics(VectorD{{0.5, -1.0, 0.0}}, VectorD{{4.0, 0.25, 1e-6}});
  return GaussianMlpPolicy(std::move(mlp), std::move(parameters), VectorF{{-0.5f, 0.3f}},
                           std::move(normalizer), "made by hand");
}

// The mean of one row in double, from the arrays of the documented file layout.
std::vector<double> SlowMean(const GaussianMlpPolicy& policy, const MatrixF& observation) {
  NpzFile file;
  policy.Put("", file);
  const std::vector<double> mean = file.GetDoubles("obs_mean");
  const std::vector<double> variance = file.GetDoubles("obs_variance");
  std::vector<double> h;
  for (std::size_t j = 0; j < mean.size(); ++j) {
    const double z = (observation(0, Eigen::Index(j)) - mean[j]) / std::sqrt(variance[j] + 1e-8);
    h.push_back(std::min(10.0, std::max(-10.0, z)));
  }
  for (int l = 0; l < 3; ++l) {
    const MatrixF weight = file.GetMatrix("weight_" + std::to_string(l));
    const VectorF bias = file.GetVector("bias_" + std::to_string(l));
    std::vector<double> next;
    for (Eigen::Index j = 0; j < weight.cols(); ++j) {
      double sum = bias[j];
      for (Eigen::Index k = 0; k < weight.rows(); ++k) sum += h[std::size_t(k)] * weight(k, j);
      next.push_back(l < 2 ? std::tanh(sum) : sum);
    }
    h = next;
  }
  return h;
}

// The message of the PolicyError that loading `file` gives.
std::string LoadError(const NpzFile& file) {
  const std::string path = TestFile("broken.npz");
  file.Write(path);
  try {
    GaussianMlpPolicy::Load(path);
  } catch (const PolicyError& error) {
    return error.what();
  }
  return "no error";
}

NpzFile Arrays() {
  NpzFile file;
  MakePolicy().Put("", file);
  return file;
}

TEST(GaussianMlpPolicy, MeanEqualsTheSlowVersion) {
  const GaussianMlpPolicy policy = MakePolicy();
  const MatrixF observations = RandomMatrix(100, kObsDim, 0);
  const std::vector<std::int64_t> steps(100);
  MatrixF actions(100, kActionDim);
  policy.Mean(observations, steps, actions);
  for (Eigen::Index i = 0; i < 100; ++i) {
    const std::vector<double> expected = SlowMean(policy, observations.row(i));
    for (Eigen::Index j = 0; j < kActionDim; ++j) {
      EXPECT_NEAR(actions(i, j), expected[std::size_t(j)], 3e-6);
    }
  }
}

TEST(GaussianMlpPolicy, SampleIsMeanPlusStandardDeviationTimesNoise) {
  const GaussianMlpPolicy policy = MakePolicy();
  const MatrixF observations = RandomMatrix(5, kObsDim, 0), noise = RandomMatrix(5, kActionDim, 1);
  const std::vector<std::int64_t> steps(5);
  MatrixF mean(5, kActionDim), sample(5, kActionDim);
  policy.Mean(observations, steps, mean);
  policy.Sample(observations, steps, noise, sample);
  for (Eigen::Index i = 0; i < 5; ++i) {
    EXPECT_NEAR(sample(i, 0), mean(i, 0) + std::exp(-0.5) * noise(i, 0), 1e-6);
    EXPECT_NEAR(sample(i, 1), mean(i, 1) + std::exp(0.3) * noise(i, 1), 1e-6);
  }
}

TEST(GaussianMlpPolicy, RowIsTheSameInEveryBatchAndThread) {
  const GaussianMlpPolicy policy = MakePolicy();
  const MatrixF observations = RandomMatrix(150, kObsDim, 0);
  const MatrixF noise = RandomMatrix(150, kActionDim, 1);
  const std::vector<std::int64_t> steps(150);
  MatrixF batch(150, kActionDim), single(150, kActionDim);
  policy.Sample(observations, steps, noise, batch);
  ParallelFor(150, [&](std::int64_t i) {
    policy.Sample(observations.middleRows(i, 1), std::span(steps).first(1), noise.middleRows(i, 1),
                  single.middleRows(i, 1));
  });
  EXPECT_EQ(batch, single);
}

TEST(GaussianMlpPolicy, LogDensityIsTheSumOfCensoredDensities) {
  const GaussianMlpPolicy policy = MakePolicy();
  // 0.4 is not a float: the executed action at the bound is its rounded value
  const VectorD low{{-1.0, -0.4}}, high{{1.0, 0.4}};
  MatrixF observations = RandomMatrix(3, kObsDim, 0);
  MatrixF executed(3, kActionDim);
  executed << 0.2f, -0.1f, 1.0f, 0.4f, -1.0f, -0.4f;
  const std::vector<std::int64_t> steps(3);
  MatrixF mean(3, kActionDim);
  policy.Mean(observations, steps, mean);
  std::vector<double> density(3);
  policy.LogDensity(observations, steps, executed, low, high, density);
  const double s0 = std::exp(-0.5), s1 = std::exp(0.3);
  EXPECT_NEAR(density[0],
              LogNormalDensity(executed(0, 0), mean(0, 0), s0) +
                  LogNormalDensity(executed(0, 1), mean(0, 1), s1),
              1e-6);
  EXPECT_NEAR(density[1],
              LogNormalCdf((mean(1, 0) - 1.0) / s0) + LogNormalCdf((mean(1, 1) - 0.4) / s1), 1e-6);
  EXPECT_NEAR(density[2],
              LogNormalCdf((-1.0 - mean(2, 0)) / s0) + LogNormalCdf((-0.4 - mean(2, 1)) / s1),
              1e-6);
}

TEST(GaussianMlpPolicy, LoadedPolicyActsLikeTheSavedOneToTheBit) {
  const GaussianMlpPolicy policy = MakePolicy();
  const std::string path = TestFile("saved.npz");
  policy.Save(path);
  const GaussianMlpPolicy loaded = GaussianMlpPolicy::Load(path);
  const MatrixF observations = RandomMatrix(20, kObsDim, 0);
  const MatrixF noise = RandomMatrix(20, kActionDim, 1);
  const std::vector<std::int64_t> steps(20);
  MatrixF a(20, kActionDim), b(20, kActionDim);
  policy.Sample(observations, steps, noise, a);
  loaded.Sample(observations, steps, noise, b);
  EXPECT_EQ(a, b);
  EXPECT_EQ(loaded.Description(), policy.Description());
  EXPECT_THAT(loaded.Description(), AllOf(HasSubstr("3-64-64-2"), HasSubstr("made by hand")));
}

TEST(GaussianMlpPolicy, LoadNamesWhatIsWrongWithAFile) {
  EXPECT_THROW(GaussianMlpPolicy::Load("/nonexistent/policy.npz"), PolicyError);

  NpzFile other;
  other.Put("observations", MatrixF(2, 2));
  EXPECT_THAT(LoadError(other), HasSubstr("not a policy"));

  NpzFile bias = Arrays();
  bias.Put("bias_1", VectorF(VectorF::Zero(63)));
  EXPECT_THAT(LoadError(bias), AllOf(HasSubstr("bias_1"), HasSubstr("63"), HasSubstr("64")));

  NpzFile weight = Arrays();
  weight.Put("weight_1", MatrixF(MatrixF::Zero(32, 64)));
  EXPECT_THAT(LoadError(weight), AllOf(HasSubstr("weight_1"), HasSubstr("32"), HasSubstr("64")));

  NpzFile nan = Arrays();
  nan.Put("bias_2", VectorF(VectorF::Constant(2, std::numeric_limits<float>::quiet_NaN())));
  EXPECT_THAT(LoadError(nan), AllOf(HasSubstr("bias_2"), HasSubstr("not finite")));

  NpzFile std_error = Arrays();
  std_error.Put("log_std", VectorF{{0.0f, 99.0f}});
  EXPECT_THAT(LoadError(std_error), AllOf(HasSubstr("log_std"), HasSubstr("99")));

  NpzFile statistics = Arrays();
  statistics.Put("obs_mean", std::vector<double>(17));
  EXPECT_THAT(LoadError(statistics), AllOf(HasSubstr("obs_mean"), HasSubstr("17")));

  NpzFile variance = Arrays();
  variance.Put("obs_variance", std::vector<double>{1.0, -1.0, 1.0});
  EXPECT_THAT(LoadError(variance), AllOf(HasSubstr("obs_variance"), HasSubstr("-1")));
}

TEST(GaussianMlpPolicy, LoadNamesAMissingArray) {
  const NpzFile complete = Arrays();
  for (const auto& [missing, array] : complete.arrays()) {
    NpzFile file;
    for (const auto& [name, other] : complete.arrays()) {
      if (name != missing) file.Put(name, other);
    }
    EXPECT_THAT(LoadError(file), HasSubstr(missing));
  }
}

}  // namespace
}  // namespace lfiw::policies
