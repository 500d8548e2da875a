#ifndef LFIW_MODELS_ACTIVATION_H_
#define LFIW_MODELS_ACTIVATION_H_

#include <Eigen/Core>
#include <array>
#include <string_view>

#include "core/layers.h"

namespace lfiw::models {

enum class Activation { kSilu, kTanh, kRelu };

constexpr auto EnumNames(Activation /*kind*/) {
  return std::to_array<std::string_view>({"silu", "tanh", "relu"});
}

// x = activation(x). Values: a one-dimensional Eigen array of floats that can be written.
template <class Values>
void Activate(Activation activation, Values x) {
  switch (activation) {
    case Activation::kSilu:
      x *= x.logistic();
      break;
    case Activation::kTanh:
      x = x.tanh();
      break;
    case Activation::kRelu:
      x = x.max(0.0f);
      break;
  }
}

// y = activation(x), and in place of x its derivative there, which is all that a backward pass
// needs. `scratch` is used as the activation wants.
template <class Values>
void ActivateKeepingSlope(Activation activation, Values x, Values y, Eigen::ArrayXf& scratch) {
  switch (activation) {
    case Activation::kSilu:
      scratch = x.logistic();
      y = x * scratch;
      x = scratch + y * (1.0f - scratch);
      break;
    case Activation::kTanh:
      y = x.tanh();
      x = 1.0f - y.square();
      break;
    case Activation::kRelu:
      y = x.max(0.0f);
      x = (x > 0.0f).template cast<float>();
      break;
  }
}

}  // namespace lfiw::models

#endif  // LFIW_MODELS_ACTIVATION_H_
