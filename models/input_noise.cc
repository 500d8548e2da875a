#include "models/input_noise.h"

#include <cstddef>
#include <span>

namespace lfiw::models {

void AddInputNoise(double deviation, Stream stream, MatrixF& inputs) {
  if (deviation == 0.0) return;
  MatrixF noise(inputs.rows(), inputs.cols());
  stream.FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  inputs += static_cast<float>(deviation) * noise;
}

}  // namespace lfiw::models
