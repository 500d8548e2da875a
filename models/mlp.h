#ifndef LFIW_MODELS_MLP_H_
#define LFIW_MODELS_MLP_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/arrays/npz.h"
#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "models/activation.h"
#include "models/precision.h"

namespace lfiw::models {

struct MlpOptions {
  std::int64_t hidden_layers = 3;             // the paper's depth and width
  std::int64_t width = 500;                   // units of every hidden layer
  Activation activation = Activation::kSilu;  // "swish" in the paper
  Precision precision = Precision::kAuto;     // of the products of training steps

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("hidden_layers", hidden_layers, "number of hidden layers", AtLeast(0));
    v.Field("width", width, "units of each hidden layer", AtLeast(1));
    v.Field("activation", activation, "activation of the hidden layers");
    v.Field(
        "precision", precision,
        "products of training steps: float, bfloat16, or auto, which is bfloat16 for wide layers "
        "where the CPU has a matrix unit for it");
  }
};

// A multilayer perceptron, linear at the output. All parameters live in one flat buffer, layer by
// layer: weight [in, out] row-major, then bias [out]; y = x W + b. Inference is thread safe;
// training uses the object's own buffers and is not.
class Mlp {
 public:
  // Weights are normal with deviation 1 / (2 sqrt(in)), truncated at two deviations (as in PETS,
  // Chua et al. 2018); biases are zero.
  Mlp(std::int64_t input_dim, std::int64_t output_dim, const MlpOptions& options, Stream stream);
  ~Mlp();
  Mlp(Mlp&&) noexcept;
  Mlp& operator=(Mlp&&) noexcept;

  std::int64_t input_dim() const;
  std::int64_t output_dim() const;
  const MlpOptions& options() const;
  // [parameter_count]; may be written between calls, not resized.
  VectorF& parameters();
  const VectorF& parameters() const;

  // outputs = network(inputs); inputs [n, input_dim], outputs [n, output_dim]. Rows go through in
  // chunks of 1000, so memory does not grow with n.
  void Forward(ConstMatrixRef inputs, MatrixRef outputs) const;

  // Network outputs [n, output_dim] of a training batch, keeping what Backward needs. `inputs` must
  // outlive the call of Backward; the result is valid until the next training pass. Throws
  // ConfigError where the options ask for bfloat16 and the CPU cannot multiply it.
  Eigen::Map<const MatrixF> ForwardTraining(const MatrixF& inputs);
  // Writes the gradient of a loss with respect to the parameters, given its gradient with respect
  // to the outputs of the last ForwardTraining. output_gradient [n, output_dim], gradient
  // [parameter_count].
  void Backward(const MatrixF& output_gradient, VectorF& gradient);

  // Arrays "<prefix>.shape" (input, output, layers, width, activation) and ".parameters".
  void Save(const std::string& prefix, NpzFile& file) const;
  static Mlp Load(const NpzFile& file, const std::string& prefix);

 private:
  struct Impl;
  explicit Mlp(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_MLP_H_
