#ifndef LFIW_POLICIES_FILES_DOPE_POLICY_H_
#define LFIW_POLICIES_FILES_DOPE_POLICY_H_

#include <memory>
#include <string>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "policies/policy.h"

namespace lfiw::policies {

// The policies of DOPE (google-research/deep_ope, Fu et al. 2021), also embedded in the HDF5 files
// of D4RL: fc0, fc1, ..., last_fc and last_fc_log_std, each with weight [outputs, inputs] and bias;
// nonlinearity (relu or tanh); output_distribution (tanh_gaussian or gaussian). The log deviation
// is clamped to [-5, 2], as in the published ONNX form of the same policies. Names may be separated
// by
// '/' (the original pickles and HDF5) or '.'.

// Whether `file` has the names of such a policy.
bool IsDopePolicy(const NpzFile& file);
// `source` names the file in errors. Throws PolicyError.
std::unique_ptr<Policy> PolicyFromDope(const NpzFile& file, const std::string& source);

// The behavior policy that an HDF5 file of D4RL keeps under "metadata": `file` holds the arrays of
// that group, named from it ("policy/fc0/weight") or from its subgroup "policy" ("fc0/weight").
// Throws PolicyError when there is none.
std::unique_ptr<Policy> PolicyFromD4rlMetadata(const NpzFile& file, const std::string& source);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_DOPE_POLICY_H_
