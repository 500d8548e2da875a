#ifndef LFIW_MODELS_POLICY_NETWORK_H_
#define LFIW_MODELS_POLICY_NETWORK_H_

#include <cstdint>
#include <string>

#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

// What a NetworkPolicy asks for its outputs. Thread safe.
class PolicyNetwork {
 public:
  virtual ~PolicyNetwork() = default;
  virtual std::int64_t inputs() const = 0;
  virtual std::int64_t outputs() const = 0;
  // Kind and sizes: "relu MLP 17-256-256-12".
  virtual std::string Description() const = 0;
  // Most rows that one call of Forward should get.
  virtual std::int64_t chunk_rows() const = 0;
  // inputs [n, inputs()], outputs [n, outputs()] (written).
  virtual void Forward(ConstMatrixRef inputs, MatrixRef outputs) const = 0;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_POLICY_NETWORK_H_
