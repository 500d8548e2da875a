#ifndef LFIW_POLICIES_GAUSSIAN_MLP_POLICY_H_
#define LFIW_POLICIES_GAUSSIAN_MLP_POLICY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "models/tanh_mlp.h"
#include "policies/policy.h"
#include "policies/ppo/running_moments.h"

namespace lfiw::policies {

// A diagonal Gaussian whose mean is a tanh MLP of the normalized observation and whose log standard
// deviation does not depend on the state: a = mlp(z(s)) + exp(log_std) * noise. The statistics of
// z(s) are part of the policy and frozen. The step index is ignored.
//
// Every row is computed the same way whatever batch it is in, to the bit. A forward pass uses
// buffers kept per thread, so step loops allocate nothing after the first call.
//
// File (.npz): format (text "lfiw gaussian mlp policy 1"), origin (text), sizes i8 [L + 1] (inputs,
// hidden widths, actions), and per layer l = 0 .. L - 1: weight_l f4 [sizes[l], sizes[l + 1]],
// bias_l f4 [sizes[l + 1]], with h' = tanh(h weight + bias) and no tanh after the last; log_std f4
// [action_dim]; obs_mean, obs_variance f8 [obs_dim]; obs_clip f8 [1].
class GaussianMlpPolicy : public Policy {
 public:
  // parameters [mlp.parameter_count()], log_std [mlp.outputs()]; `origin` says in a few words where
  // the policy is from.
  GaussianMlpPolicy(TanhMlp mlp, VectorF parameters, VectorF log_std,
                    ObservationNormalizer normalizer, std::string origin);

  // Throws PolicyError when the file cannot be read, is no such policy, misses an array, has one of
  // a wrong shape or holds a number that is not finite.
  static GaussianMlpPolicy Load(const std::string& path);
  void Save(const std::string& path) const;

  // The same as arrays of a larger file, their names preceded by `prefix`. `source` names the file
  // in errors.
  void Put(const std::string& prefix, NpzFile& file) const;
  static GaussianMlpPolicy Get(const std::string& prefix, const std::string& source,
                               const NpzFile& file);

  std::int64_t obs_dim() const override { return mlp_.inputs(); }
  std::int64_t action_dim() const override { return mlp_.outputs(); }
  std::int64_t noise_dim() const override { return mlp_.outputs(); }
  std::string Description() const override;

  void Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
              ConstMatrixRef noise, MatrixRef actions) const override;
  void Mean(ConstMatrixRef observations, std::span<const std::int64_t> steps,
            MatrixRef actions) const override;
  bool has_density() const override { return true; }
  void LogDensity(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                  ConstMatrixRef executed, const VectorD& low, const VectorD& high,
                  std::span<double> log_density) const override;

  const VectorF& log_std() const { return log_std_; }
  const VectorF& parameters() const { return parameters_; }
  const ObservationNormalizer& normalizer() const { return normalizer_; }

 private:
  TanhMlp mlp_;
  VectorF parameters_;
  VectorF log_std_;
  VectorF std_;
  ObservationNormalizer normalizer_;
  std::string origin_;
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_GAUSSIAN_MLP_POLICY_H_
