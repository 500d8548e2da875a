#include "policies/files/policy_arrays.h"

#include <cmath>
#include <limits>
#include <vector>

namespace lfiw::policies {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void RequireSize(const std::string& source, const std::string& name, std::int64_t size,
                 std::int64_t expected) {
  if (size == expected) return;
  Throw<PolicyError>("{}: {} has {} values, expected {}", source, name, size, expected);
}

VectorD GetSized(const NpzFile& file, const std::string& name, std::int64_t size,
                 const std::string& source) {
  const std::vector<double> values = AsPolicyError([&] { return file.GetDoubles(name); });
  RequireSize(source, name, std::ssize(values), size);
  return Eigen::Map<const VectorD>(values.data(), size);
}

VectorF GetLogStd(const NpzFile& file, const std::string& name, std::int64_t action_dim,
                  const std::string& source) {
  const VectorF log_std = GetSized(file, name, action_dim, source).cast<float>();
  for (const float value : log_std) {
    if (std::abs(value) <= 40.0f) continue;
    Throw<PolicyError>("{}: {} holds {}, expected values in [-40, 40]", source, name, value);
  }
  return log_std;
}

ObservationNormalizer GetNormalizer(const NpzFile& file, const NormalizerNames& names,
                                    std::int64_t inputs, const std::string& source) {
  const auto scalar = [&](const std::string& name, double absent) {
    return file.Has(name) ? GetSized(file, name, 1, source)[0] : absent;
  };
  const VectorD mean = GetSized(file, names.mean, inputs, source);
  const VectorD variance = GetSized(file, names.variance, inputs, source);
  ObservationNormalizer normalizer(inputs, scalar(names.clip, kInfinity),
                                   scalar(names.epsilon, 1e-8));
  normalizer.SetStatistics(mean, variance);
  CheckNormalizer(normalizer, names, source);
  return normalizer;
}

void CheckNormalizer(const ObservationNormalizer& normalizer, const NormalizerNames& names,
                     const std::string& source) {
  RequireFinite(source, names.mean, normalizer.mean());
  RequireFinite(source, names.variance, normalizer.variance());
  const double smallest = normalizer.variance().minCoeff();
  if (smallest < 0.0 || !(smallest + normalizer.epsilon() > 0.0)) {
    Throw<PolicyError>(
        "{}: {} holds {} and the epsilon is {}, expected no negative variance and a positive sum",
        source, names.variance, smallest, normalizer.epsilon());
  }
  if (!(normalizer.clip() > 0.0)) {
    Throw<PolicyError>("{}: {} is {}, expected a positive number", source, names.clip,
                       normalizer.clip());
  }
}

DenseLayer SideBySide(const NamedLayer& first, const NamedLayer& second,
                      const std::string& source) {
  const MatrixF& left = first.layer.weight;
  const MatrixF& right = second.layer.weight;
  if (left.rows() != right.rows() || left.cols() != right.cols()) {
    Throw<PolicyError>("{}: {} has {} inputs and {} outputs, {} {} and {}, expected the same",
                       source, first.name, left.rows(), left.cols(), second.name, right.rows(),
                       right.cols());
  }
  for (const NamedLayer& of : {first, second}) {
    RequireSize(source, std::string(of.name) + " bias", of.layer.bias.size(),
                of.layer.weight.cols());
  }
  DenseLayer both{MatrixF(left.rows(), 2 * left.cols()), VectorF(2 * left.cols())};
  both.weight << left, right;
  both.bias << first.layer.bias, second.layer.bias;
  return both;
}

}  // namespace lfiw::policies
