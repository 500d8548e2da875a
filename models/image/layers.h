#ifndef LFIW_MODELS_IMAGE_LAYERS_H_
#define LFIW_MODELS_IMAGE_LAYERS_H_

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"

namespace lfiw::models {

// Building blocks of convolutional networks. A network is a constant description: its layers claim
// tensors in a layout when they are made, and are applied as functions of those tensors. The
// numbers themselves lie in flat buffers outside, so that optimizer, checkpoints and averages see
// one vector. Images are [n, channels, height, width].

// How a tensor starts.
struct Initializer {
  enum class Kind { kConstant, kNormal, kUniform };
  Kind kind = Kind::kConstant;
  double scale = 0.0;  // the constant, the standard deviation, or the bound of [-scale, scale)

  static Initializer Constant(double value) { return {Kind::kConstant, value}; }
  static Initializer Normal(double deviation) { return {Kind::kNormal, deviation}; }
  // Glorot & Bengio 2010, uniform, times `gain`.
  static Initializer Glorot(double fan_in, double fan_out, double gain);
  // He et al. 2015, normal.
  static Initializer He(double fan_in);
};

// The tensors of a network in one flat buffer, one after another.
class TensorLayout {
 public:
  // Claims room for a tensor; returns its index among the views.
  std::size_t Add(std::vector<std::int64_t> shape, Initializer initializer);
  std::int64_t size() const { return size_; }
  // Initial values [size]; tensor i draws from stream.Child(i).
  VectorF Draw(const Stream& stream) const;
  // Tensors that view a buffer of `size` floats.
  std::vector<at::Tensor> Views(float* flat) const;
  // One flat tensor cut into its parts.
  std::vector<at::Tensor> Cut(const at::Tensor& flat) const;

 private:
  struct Entry {
    std::vector<std::int64_t> shape;
    std::int64_t offset, count;
    Initializer initializer;
  };
  std::vector<Entry> entries_;
  std::int64_t size_ = 0;
};

// Parameters are trained; state is what moves beside them: running moments of batch norm, singular
// vectors of spectral norm.
struct NetworkLayout {
  TensorLayout parameters;
  TensorLayout state;
};

// Normalization over batches uses their own moments in kTraining and the running ones in
// kInference; dropout works in kTraining only.
enum class PassMode { kTraining, kInference };

// What layers read and leave behind in one application of a network.
struct Pass {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> state;
  PassMode mode = PassMode::kInference;
  // kTraining: new values for `state`, undefined where it stays
  std::vector<at::Tensor> observed;
  // kTraining: where dropout masks are from
  Stream noise{0, "none"};
};

struct ConvShape {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 1;

  double fan_in() const { return static_cast<double>(in * kernel * kernel); }
  double fan_out() const { return static_cast<double>(out * kernel * kernel); }
};

// y = W * x + b; weight [out, in, kernel, kernel], the bias starts at zero.
class Conv {
 public:
  Conv(NetworkLayout& layout, const ConvShape& shape, Initializer weight);
  at::Tensor operator()(const Pass& pass, const at::Tensor& x) const;

 private:
  ConvShape shape_;
  std::size_t weight_, bias_;
};

// The adjoint of a convolution: stride 2 doubles the size when kernel = 2 + 2 padding.
// Weight [in, out, kernel, kernel].
class TransposedConv {
 public:
  TransposedConv(NetworkLayout& layout, const ConvShape& shape, Initializer weight);
  at::Tensor operator()(const Pass& pass, const at::Tensor& x) const;

 private:
  ConvShape shape_;
  std::size_t weight_, bias_;
};

// y = x W' + b; weight [out, in].
class Dense {
 public:
  Dense(NetworkLayout& layout, std::int64_t in, std::int64_t out, Initializer weight);
  at::Tensor operator()(const Pass& pass, const at::Tensor& x) const;

 private:
  std::size_t weight_, bias_;
};

// A weight divided by an estimate of its largest singular value as a matrix [out, rest] (Miyato et
// al. 2018). The left vector u is state and moves by one power iteration per call of Iterate; the
// right one follows from it. The gradient passes through sigma = u' W v with u, v fixed.
class SpectralWeight {
 public:
  SpectralWeight(NetworkLayout& layout, std::vector<std::int64_t> shape, Initializer weight);
  at::Tensor operator()(const Pass& pass) const;
  // Moves u in `state` (views of the state buffer).
  void Iterate(const std::vector<at::Tensor>& parameters, std::vector<at::Tensor>& state) const;

 private:
  std::size_t weight_, left_;
};

class SpectralConv {
 public:
  SpectralConv(NetworkLayout& layout, const ConvShape& shape, Initializer weight);
  at::Tensor operator()(const Pass& pass, const at::Tensor& x) const;
  const SpectralWeight& weight() const { return weight_; }

 private:
  ConvShape shape_;
  SpectralWeight weight_;
  std::size_t bias_;
};

class SpectralDense {
 public:
  SpectralDense(NetworkLayout& layout, std::int64_t in, std::int64_t out, Initializer weight);
  at::Tensor operator()(const Pass& pass, const at::Tensor& x) const;
  const SpectralWeight& weight() const { return weight_; }

 private:
  SpectralWeight weight_;
  std::size_t bias_;
};

// Batch normalization (Ioffe & Szegedy 2015) over all but dimension 1, with scale and shift. The
// running moments move by `momentum` per step towards those of the batch (the unbiased variance).
class BatchNorm {
 public:
  BatchNorm(NetworkLayout& layout, std::int64_t channels, double momentum = 0.1,
            double epsilon = 1e-5);
  at::Tensor operator()(Pass& pass, const at::Tensor& x) const;

 private:
  at::Tensor Moved(const at::Tensor& running, const at::Tensor& batch) const;

  double momentum_, epsilon_;
  std::size_t scale_, shift_, mean_, variance_;
};

// Layer normalization (Ba et al. 2016) of each image over channels and places, with a scale and a
// shift per channel. May be differentiated twice.
class LayerNorm {
 public:
  LayerNorm(NetworkLayout& layout, std::int64_t channels, double epsilon = 1e-5);
  at::Tensor operator()(const Pass& pass, const at::Tensor& x) const;

 private:
  double epsilon_;
  std::size_t scale_, shift_;
};

// Zeroes each value with probability `rate` and scales the others by 1 / (1 - rate); in inference
// it does nothing. Masks are from the pass's noise.
at::Tensor Dropout(Pass& pass, const at::Tensor& x, double rate);

// Each value in a 2 x 2 square of an image twice as large.
at::Tensor Upsample(const at::Tensor& x);
// The mean of each 2 x 2 square.
at::Tensor Downsample(const at::Tensor& x);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_LAYERS_H_
