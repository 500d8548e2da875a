#ifndef LFIW_MODELS_DENSE_NETWORK_H_
#define LFIW_MODELS_DENSE_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "models/activation.h"
#include "models/policy_network.h"

namespace lfiw::models {

// y = x weight + bias
struct DenseLayer {
  MatrixF weight;  // [inputs, outputs]
  VectorF bias;    // [outputs]
};

// A multi-layer perceptron of any widths for inference, linear at the output. Every row is computed
// the same way whatever batch it is in, to the bit; nothing is allocated after a thread's first
// call.
class DenseNetwork final : public PolicyNetwork {
 public:
  // At least one layer; throws PolicyError naming `source` unless the shapes fit each other and all
  // numbers are finite, but for outputs whose bias is -infinity.
  DenseNetwork(std::vector<DenseLayer> layers, Activation activation, const std::string& source);

  Activation activation() const { return activation_; }
  const std::vector<DenseLayer>& layers() const { return layers_; }

  std::int64_t inputs() const override { return layers_.front().weight.rows(); }
  std::int64_t outputs() const override { return layers_.back().weight.cols(); }
  std::string Description() const override;
  std::int64_t chunk_rows() const override { return 64; }
  void Forward(ConstMatrixRef inputs, MatrixRef outputs) const override;

 private:
  std::vector<DenseLayer> layers_;
  std::vector<DenseLayer> padded_;  // columns padded with zeros to whole lanes
  Activation activation_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_DENSE_NETWORK_H_
