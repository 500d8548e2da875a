#ifndef LFIW_MODELS_IMAGE_CAUSAL_NETWORK_H_
#define LFIW_MODELS_IMAGE_CAUSAL_NETWORK_H_

#include <torch/torch.h>

#include <cstddef>
#include <vector>

#include "core/layers.h"
#include "models/image/causal_graph.h"
#include "models/image/causal_sampler.h"
#include "models/image/layers.h"

namespace lfiw::models {

// A causal graph on whole images. Its convolutions are weight-normalized (Salimans & Kingma 2016):
// W = g v / |v| for every output channel.
class CausalNetwork {
 public:
  CausalNetwork(CausalGraph graph, NetworkLayout& layout);

  // images [n, channels, height, width] in -1 .. 1 -> outputs [n, outputs, height, width]
  at::Tensor operator()(Pass& pass, const at::Tensor& images) const;
  // The same, setting every g and bias (in place) so that outputs of its convolution have mean 0
  // and the node's initial deviation on these images.
  void Initialize(Pass& pass, const at::Tensor& images) const;

  // The weight of a convolution, [out, in, height, width], of a transposed one
  // [in, out, height, width], and its bias.
  at::Tensor Weight(const Pass& pass, const CausalNode& node) const;
  at::Tensor Bias(const Pass& pass, const CausalNode& node) const;
  const CausalGraph& graph() const { return graph_; }

 private:
  // Indices of a convolution's parameters.
  struct Filter {
    std::size_t direction, scale, bias;
  };
  const Filter& FilterOf(const CausalNode& node) const {
    return filters_[static_cast<std::size_t>(node.filter)];
  }
  at::Tensor Convolve(const Pass& pass, const CausalNode& node, const at::Tensor& x) const;
  at::Tensor Evaluate(Pass& pass, const CausalNode& node, const std::vector<at::Tensor>& values,
                      const at::Tensor& images) const;

  CausalGraph graph_;
  std::vector<Filter> filters_;
};

// The filters as SampleCausally wants them, from a pass on the CPU.
std::vector<CausalFilter> FiltersForSampling(const CausalNetwork& network, const Pass& pass);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_CAUSAL_NETWORK_H_
