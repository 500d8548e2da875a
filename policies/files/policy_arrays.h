#ifndef LFIW_POLICIES_FILES_POLICY_ARRAYS_H_
#define LFIW_POLICIES_FILES_POLICY_ARRAYS_H_

#include <cstdint>
#include <string>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "models/dense_network.h"
#include "policies/ppo/running_moments.h"

namespace lfiw::policies {

// What the readers of policy files share. All throw PolicyError that names `source`, the array and
// what was expected.

// Runs `read`; what NpzFile reports as a fault of data is here a fault of a policy.
template <class F>
auto AsPolicyError(const F& read) {
  try {
    return read();
  } catch (const DataError& error) {
    throw PolicyError(error.what());
  }
}

template <class Derived>
void RequireFinite(const std::string& source, const std::string& name,
                   const Eigen::DenseBase<Derived>& values) {
  if (!values.allFinite())
    Throw<PolicyError>("{}: {} holds a number that is not finite", source, name);
}

void RequireSize(const std::string& source, const std::string& name, std::int64_t size,
                 std::int64_t expected);

// Array `name` as [size] doubles.
VectorD GetSized(const NpzFile& file, const std::string& name, std::int64_t size,
                 const std::string& source);

// log standard deviations [action_dim] within [-40, 40], beyond which densities leave float.
VectorF GetLogStd(const NpzFile& file, const std::string& name, std::int64_t action_dim,
                  const std::string& source);

// A layer by the name that it has in its file.
struct NamedLayer {
  const char* name;
  const DenseLayer& layer;
};

// Two layers of the same inputs and outputs as one: the outputs of the first, then those of the
// second.
DenseLayer SideBySide(const NamedLayer& first, const NamedLayer& second, const std::string& source);

// The names of the arrays of a normalizer. A file may leave out `clip` (none) and `epsilon` (1e-8).
struct NormalizerNames {
  std::string mean, variance, clip, epsilon;
};
ObservationNormalizer GetNormalizer(const NpzFile& file, const NormalizerNames& names,
                                    std::int64_t inputs, const std::string& source);

// Checks for a finite mean, variance >= 0 and a positive clip (infinity: none).
void CheckNormalizer(const ObservationNormalizer& normalizer, const NormalizerNames& names,
                     const std::string& source);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_POLICY_ARRAYS_H_
