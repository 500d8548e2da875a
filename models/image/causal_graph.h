#ifndef LFIW_MODELS_IMAGE_CAUSAL_GRAPH_H_
#define LFIW_MODELS_IMAGE_CAUSAL_GRAPH_H_

#include <cstdint>
#include <vector>

#include "core/layers.h"

namespace lfiw::models {

// PixelCNN++ (Salimans et al. 2017) as a list of operations, which two interpreters read: one on
// whole images for training, one pixel by pixel for sampling.

// What a value at a place may depend on: the rows of the image above it, or also the pixels to its
// left.
enum class CausalStream { kVertical, kCorner };

enum class CausalOperation {
  kInput,       // the image and a channel of ones that tells it from padding
  kConv,        // over its inputs, put one after another along channels
  kTransposed,  // doubles height and width
  kConcatElu,   // elu of x and of -x, along channels
  kElu,
  kAdd,   // input 0 + input 1
  kGate,  // input 0 = [a, b] along channels, input 1 = x: x + a sigmoid(b)
};

// The place of a convolution's kernel: y(r, c) = sum_ij W_ij x(stride r + row + i, stride c +
// column
// + j), zero outside of x. A transposed one (stride 2) puts W_ij x(r, c) at (2 r + i, 2 c + j +
// column).
struct CausalKernel {
  std::int64_t height, width;
  std::int64_t row, column;
  std::int64_t stride;
};

struct CausalNode {
  CausalOperation operation;
  std::vector<std::size_t> inputs;
  CausalStream stream;
  std::int64_t channels;
  std::int64_t level;      // height and width are those of the image over 2^level
  CausalKernel kernel{};   // of convolutions
  std::int64_t filter{};   // of convolutions: the number among them
  double initial_scale{};  // of convolutions: deviation of the outputs at the start
  double dropout{};        // of its values, in training
};

struct CausalGraphOptions {
  std::int64_t channels;  // of the image
  std::int64_t outputs;   // of the last node
  std::int64_t filters;   // channels of every other layer
  std::int64_t blocks;    // residual blocks of a level
  std::int64_t levels;    // resolutions
  double dropout;
};

struct CausalGraph {
  std::vector<CausalNode> nodes;  // inputs before their users; the last one is the output
  std::int64_t filters = 0;       // number of convolutions

  std::int64_t InputChannels(const CausalNode& node) const;
};

CausalGraph MakePixelCnnGraph(const CausalGraphOptions& options);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_CAUSAL_GRAPH_H_
