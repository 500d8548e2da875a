#include "policies/gaussian_mlp_policy.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "policies/files/policy_arrays.h"
#include "policies/normal_density.h"
#include "policies/undefined_policy.h"

namespace lfiw::policies {
namespace {

constexpr const char* kFormat = "lfiw gaussian mlp policy 1";

// rows computed at once: enough to reuse weights from registers, few enough for the first cache
constexpr std::int64_t kChunk = 64;

// The buffers of one thread, kept while policies of one shape are asked.
struct Scratch {
  explicit Scratch(const TanhMlp& mlp)
      : sizes(mlp.sizes()), input(kChunk, mlp.inputs()), workspace(mlp, kChunk) {}
  std::vector<std::int64_t> sizes;
  MatrixF input;
  TanhMlp::Workspace workspace;
};

Scratch& ThreadScratch(const TanhMlp& mlp) {
  thread_local std::vector<std::unique_ptr<Scratch>> all;
  for (const auto& scratch : all) {
    if (scratch->sizes == mlp.sizes()) return *scratch;
  }
  all.push_back(std::make_unique<Scratch>(mlp));
  return *all.back();
}

// Calls use(row, mean) with the mean [action_dim] of every row.
template <class Use>
void ForEachMean(const TanhMlp& mlp, const VectorF& parameters,
                 const ObservationNormalizer& normalizer, const std::string& origin,
                 const ConstMatrixRef& observations, const Use& use) {
  LFIW_ASSERT(observations.cols() == mlp.inputs());
  Scratch& scratch = ThreadScratch(mlp);
  for (std::int64_t begin = 0; begin < observations.rows(); begin += kChunk) {
    const std::int64_t rows = std::min(kChunk, observations.rows() - begin);
    for (std::int64_t i = 0; i < rows; ++i) {
      normalizer.Apply(observations.row(begin + i).data(), scratch.input.row(i).data());
    }
    mlp.Forward(parameters.data(), rows, scratch.input.data(), mlp.inputs(), scratch.workspace);
    const float* means = scratch.workspace.activations.back().data();
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* mean = means + i * mlp.output_width();
      // weights near the largest float may overflow
      if (!Eigen::Map<const VectorF>(mean, mlp.outputs()).allFinite()) {
        RejectUndefinedPolicy(
            origin, "an action that is not finite",
            {observations.row(begin + i).data(), static_cast<std::size_t>(observations.cols())},
            std::nullopt);
      }
      use(begin + i, mean);
    }
  }
}

std::vector<double> ToDoubles(const VectorD& values) {
  return {values.data(), values.data() + values.size()};
}

// The weights and biases of a file, checked against each other.
struct Layers {
  std::vector<std::int64_t> sizes;
  std::vector<MatrixF> weights;
  std::vector<VectorF> biases;
};

void RequireShape(const std::string& source, const std::string& name, const MatrixF& weight,
                  std::int64_t rows, std::int64_t columns) {
  if (weight.rows() == rows && weight.cols() == columns) return;
  Throw<PolicyError>("{}: {} has shape [{}, {}], expected [{}, {}] as sizes say", source, name,
                     weight.rows(), weight.cols(), rows, columns);
}

Layers ReadLayers(const std::string& prefix, const std::string& source, const NpzFile& file) {
  Layers layers;
  layers.sizes = file.GetIntegers(prefix + "sizes");
  if (layers.sizes.size() < 2 || std::ranges::min(layers.sizes) < 1) {
    Throw<PolicyError>("{}: {}sizes is [{}], expected at least two positive numbers", source,
                       prefix, fmt::join(layers.sizes, ", "));
  }
  for (std::size_t l = 0; l + 1 < layers.sizes.size(); ++l) {
    const std::string weight_name = fmt::format("{}weight_{}", prefix, l);
    const std::string bias_name = fmt::format("{}bias_{}", prefix, l);
    MatrixF weight = file.GetMatrix(weight_name);
    VectorF bias = file.GetVector(bias_name);
    RequireShape(source, weight_name, weight, layers.sizes[l], layers.sizes[l + 1]);
    RequireSize(source, bias_name, bias.size(), layers.sizes[l + 1]);
    RequireFinite(source, weight_name, weight);
    RequireFinite(source, bias_name, bias);
    layers.weights.push_back(std::move(weight));
    layers.biases.push_back(std::move(bias));
  }
  return layers;
}

ObservationNormalizer ReadNormalizer(const std::string& prefix, const std::string& source,
                                     const NpzFile& file, std::int64_t obs_dim) {
  const std::string clip = prefix + "obs_clip";
  // unlike files of others, ours name the clip
  GetSized(file, clip, 1, source);
  return GetNormalizer(file, {prefix + "obs_mean", prefix + "obs_variance", clip, ""}, obs_dim,
                       source);
}

}  // namespace

GaussianMlpPolicy::GaussianMlpPolicy(TanhMlp mlp, VectorF parameters, VectorF log_std,
                                     ObservationNormalizer normalizer, std::string origin)
    : mlp_(std::move(mlp)),
      parameters_(std::move(parameters)),
      log_std_(std::move(log_std)),
      std_(log_std_.array().exp()),
      normalizer_(std::move(normalizer)),
      origin_(std::move(origin)) {
  LFIW_ASSERT(parameters_.size() == mlp_.parameter_count());
  LFIW_ASSERT(log_std_.size() == mlp_.outputs());
  LFIW_ASSERT(normalizer_.mean().size() == mlp_.inputs());
}

GaussianMlpPolicy GaussianMlpPolicy::Load(const std::string& path) {
  return AsPolicyError([&] { return Get("", path, NpzFile::Read(path)); });
}

void GaussianMlpPolicy::Save(const std::string& path) const {
  NpzFile file;
  Put("", file);
  file.Write(path);
}

void GaussianMlpPolicy::Put(const std::string& prefix, NpzFile& file) const {
  file.Put(prefix + "format", std::string(kFormat));
  file.Put(prefix + "origin", origin_);
  file.Put(prefix + "sizes", mlp_.sizes());
  for (std::size_t l = 0; l < mlp_.layers().size(); ++l) {
    file.Put(fmt::format("{}weight_{}", prefix, l), mlp_.Weight(parameters_.data(), l));
    file.Put(fmt::format("{}bias_{}", prefix, l), mlp_.Bias(parameters_.data(), l));
  }
  file.Put(prefix + "log_std", log_std_);
  file.Put(prefix + "obs_mean", ToDoubles(normalizer_.mean()));
  file.Put(prefix + "obs_variance", ToDoubles(normalizer_.variance()));
  file.Put(prefix + "obs_clip", std::vector<double>{normalizer_.clip()});
}

GaussianMlpPolicy GaussianMlpPolicy::Get(const std::string& prefix, const std::string& source,
                                         const NpzFile& file) {
  return AsPolicyError([&] {
    if (!file.Has(prefix + "format") || file.GetText(prefix + "format") != kFormat) {
      Throw<PolicyError>(
          "{}: not a policy of this program, expected an array {}format with the "
          "text \"{}\"",
          source, prefix, kFormat);
    }
    const Layers layers = ReadLayers(prefix, source, file);
    TanhMlp mlp(layers.sizes);
    VectorF parameters = VectorF::Zero(mlp.parameter_count());
    for (std::size_t l = 0; l < layers.weights.size(); ++l) {
      mlp.SetWeight(layers.weights[l], l, parameters.data());
      mlp.SetBias(layers.biases[l], l, parameters.data());
    }
    VectorF log_std = GetLogStd(file, prefix + "log_std", mlp.outputs(), source);
    ObservationNormalizer normalizer = ReadNormalizer(prefix, source, file, mlp.inputs());
    return GaussianMlpPolicy(std::move(mlp), std::move(parameters), std::move(log_std),
                             std::move(normalizer), file.GetText(prefix + "origin"));
  });
}

std::string GaussianMlpPolicy::Description() const {
  return fmt::format("Gaussian tanh MLP {}, {}", fmt::join(mlp_.sizes(), "-"), origin_);
}

void GaussianMlpPolicy::Sample(ConstMatrixRef observations, std::span<const std::int64_t> /*steps*/,
                               ConstMatrixRef noise, MatrixRef actions) const {
  ForEachMean(mlp_, parameters_, normalizer_, origin_, observations,
              [&](std::int64_t row, const float* mean) {
                for (Eigen::Index j = 0; j < std_.size(); ++j) {
                  actions(row, j) = mean[j] + std_[j] * noise(row, j);
                }
              });
}

void GaussianMlpPolicy::Mean(ConstMatrixRef observations, std::span<const std::int64_t> /*steps*/,
                             MatrixRef actions) const {
  ForEachMean(mlp_, parameters_, normalizer_, origin_, observations,
              [&](std::int64_t row, const float* mean) {
                actions.row(row) = Eigen::Map<const Eigen::RowVectorXf>(mean, std_.size());
              });
}

void GaussianMlpPolicy::LogDensity(ConstMatrixRef observations,
                                   std::span<const std::int64_t> /*steps*/, ConstMatrixRef executed,
                                   const VectorD& low, const VectorD& high,
                                   std::span<double> log_density) const {
  // executed actions are floats: a bound is met when it is met in float
  const VectorD low_float = low.cast<float>().cast<double>();
  const VectorD high_float = high.cast<float>().cast<double>();
  ForEachMean(mlp_, parameters_, normalizer_, origin_, observations,
              [&](std::int64_t row, const float* mean) {
                double sum = 0.0;
                for (Eigen::Index j = 0; j < std_.size(); ++j) {
                  sum += LogCensoredDensity(executed(row, j), mean[j], static_cast<double>(std_[j]),
                                            low_float[j], high_float[j]);
                }
                log_density[static_cast<std::size_t>(row)] = sum;
              });
}

}  // namespace lfiw::policies
