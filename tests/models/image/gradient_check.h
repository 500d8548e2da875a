#ifndef LFIW_TESTS_MODELS_IMAGE_GRADIENT_CHECK_H_
#define LFIW_TESTS_MODELS_IMAGE_GRADIENT_CHECK_H_

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/rng.h"
#include "models/image/layers.h"
#include "models/image/network.h"

namespace lfiw::models {

// Standard normal doubles.
inline at::Tensor NormalTensor(std::vector<std::int64_t> shape, std::uint64_t seed) {
  at::Tensor tensor = at::empty(shape, at::kDouble);
  Stream(seed, "test tensor")
      .FillNormal(std::span(tensor.data_ptr<double>(), static_cast<std::size_t>(tensor.numel())));
  return tensor;
}

// Compares the gradient of sum(f(inputs) * fixed weights) by every input with central differences
// at up to `places` elements of each; places next to a kink, which must be few, are left out.
inline void ExpectGradientsMatch(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& f,
                                 std::vector<at::Tensor> inputs, double tolerance = 1e-6,
                                 std::int64_t places = 12) {
  for (at::Tensor& input : inputs) input = input.detach().to(at::kDouble).clone().requires_grad_();
  at::Tensor output = f(inputs);
  const at::Tensor weights = NormalTensor(output.sizes().vec(), 99);
  const auto value = [&] { return (f(inputs) * weights).sum().item<double>(); };
  const auto gradients = torch::autograd::grad({(output * weights).sum()}, inputs, {}, c10::nullopt,
                                               false, /*allow_unused=*/true);
  const at::NoGradGuard no_grad;
  const double middle = value();
  std::int64_t compared = 0, kinks = 0;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    auto* x = inputs[t].data_ptr<double>();
    // an input that is not used has none
    const at::Tensor gradient =
        gradients[t].defined() ? gradients[t].contiguous() : at::zeros_like(inputs[t]);
    const std::int64_t count = inputs[t].numel(),
                       stride = std::max<std::int64_t>(1, count / places);
    for (std::int64_t i = 0; i < count; i += stride) {
      constexpr double kStep = 1e-6;
      const double old = x[i];
      x[i] = old + kStep;
      const double up = value();
      x[i] = old - kStep;
      const double down = value();
      x[i] = old;
      const double numeric = (up - down) / (2.0 * kStep), scale = std::max(1.0, std::abs(numeric));
      ++compared;
      // where a ReLU turns within the step there is nothing to compare with
      if (std::abs(up - 2.0 * middle + down) / kStep > std::max(tolerance, 1e-4) * scale) {
        ++kinks;
        continue;
      }
      EXPECT_NEAR(gradient.data_ptr<double>()[i], numeric, tolerance * scale)
          << "input " << t << ", element " << i;
    }
  }
  EXPECT_LE(10 * kinks, compared) << "too many kinks";
}

// The same for a network: by its input and by all of its parameters, which are set to random
// values. apply(pass, x) is run with a fresh pass in training mode.
template <class Apply>
void ExpectNetworkGradientsMatch(const NetworkLayout& layout, const at::Tensor& x,
                                 const Apply& apply, double tolerance = 1e-6) {
  VectorF flat(layout.parameters.size());
  Stream(5, "test parameters")
      .FillNormal(std::span(flat.data(), static_cast<std::size_t>(flat.size())));
  flat *= 0.5f;
  VectorF state = layout.state.Draw(Stream(5, "test state"));
  std::vector<at::Tensor> inputs = {x};
  for (const at::Tensor& parameter : layout.parameters.Views(flat.data())) {
    inputs.push_back(parameter);
  }
  const auto f = [&](const std::vector<at::Tensor>& given) {
    Pass pass;
    pass.mode = PassMode::kTraining;
    pass.parameters.assign(given.begin() + 1, given.end());
    for (const at::Tensor& view : layout.state.Views(state.data())) {
      pass.state.push_back(view.to(at::kDouble));
    }
    pass.noise = Stream(5, "test noise");
    return apply(pass, given[0]);
  };
  ExpectGradientsMatch(f, inputs, tolerance, inputs.size() > 10 ? 3 : 12);
}

// Images of smooth random colors, for toy training sets.
inline ImageBatch ColorfulImages(std::int64_t count, std::int64_t side, std::int64_t channels) {
  ImageBatch images = EmptyImages(count, side, side, channels);
  for (std::int64_t i = 0; i < count; ++i) {
    Stream stream(3, "colours", {static_cast<std::uint64_t>(i)});
    std::uint8_t* pixel = images.pixels.data() + i * images.image_size();
    std::vector<double> level, slope;
    for (std::int64_t c = 0; c < channels; ++c) {
      level.push_back(stream.Uniform(60.0, 190.0));
      slope.push_back(stream.Uniform(-60.0, 60.0));
    }
    for (std::int64_t p = 0; p < side * side; ++p) {
      const double height = static_cast<double>(p / side) / static_cast<double>(side) - 0.5;
      for (std::size_t c = 0; c < level.size(); ++c) {
        *pixel++ = static_cast<std::uint8_t>(level[c] + slope[c] * height);
      }
    }
  }
  return images;
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_IMAGE_GRADIENT_CHECK_H_
