#ifndef LFIW_MODELS_TANH_MLP_H_
#define LFIW_MODELS_TANH_MLP_H_

#include <cstdint>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"

namespace lfiw::models {

// The shape of a small multi-layer perceptron with tanh between its layers and a linear output:
// h' = tanh(h W + b). It owns no values: parameters, gradients and optimizer moments are flat
// buffers of parameter_count() floats, aligned to 64 bytes, with this layout per layer:
//   W [inputs, width] row-major, then b [width], width = outputs padded to whole lanes.
// The padding is zero in parameters and gradients alike and stays so under any optimizer whose step
// vanishes with the gradient.
class TanhMlp {
 public:
  // sizes: inputs, hidden widths, outputs; at least two numbers, all >= 1.
  explicit TanhMlp(std::vector<std::int64_t> sizes);

  struct Layer {
    std::int64_t inputs;
    std::int64_t outputs;
    std::int64_t width;
    std::int64_t weight_offset;
    std::int64_t bias_offset;
  };

  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  const std::vector<Layer>& layers() const { return layers_; }
  std::int64_t inputs() const { return sizes_.front(); }
  std::int64_t outputs() const { return sizes_.back(); }
  std::int64_t output_width() const { return layers_.back().width; }
  std::int64_t parameter_count() const { return parameter_count_; }

  // Copies without padding: W [inputs, outputs] and b [outputs].
  MatrixF Weight(const float* parameters, std::size_t layer) const;
  VectorF Bias(const float* parameters, std::size_t layer) const;
  void SetWeight(const MatrixF& weight, std::size_t layer, float* parameters) const;
  void SetBias(const VectorF& bias, std::size_t layer, float* parameters) const;

  // Orthogonal weights times `hidden_gain`, of the last layer times `output_gain`; zero biases
  // (Saxe et al. 2014). Layer l draws from stream.Child(l).
  void Initialize(const Stream& stream, double hidden_gain, double output_gain,
                  float* parameters) const;

  // Buffers of a batch of at most `capacity` rows, allocated once.
  struct Workspace {
    Workspace(const TanhMlp& mlp, std::int64_t capacity);
    // [capacity, width] per layer: tanh(...) of hidden layers, the linear output of the last.
    std::vector<VectorF> activations;
    // [capacity, width] per layer: derivative of the loss by the layer's sum before tanh. The
    // caller of Backward fills the last.
    std::vector<VectorF> deltas;
    VectorF transposed;  // one layer's W transposed
  };

  // Outputs of `rows` rows of `input` (row i at input + i * input_stride) in
  // workspace.activations.back(), [rows, output_width()].
  void Forward(const float* parameters, std::int64_t rows, const float* input,
               std::int64_t input_stride, Workspace& workspace) const;

  // Derivatives of a loss by the parameters, written to `gradient` [parameter_count()].
  // workspace.deltas.back() [rows, output_width()] holds the derivatives by the outputs (padding
  // zero); input and activations are those of the last Forward.
  void Backward(const float* parameters, std::int64_t rows, const float* input,
                std::int64_t input_stride, Workspace& workspace, float* gradient) const;

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<Layer> layers_;
  std::int64_t parameter_count_ = 0;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TANH_MLP_H_
