#ifndef LFIW_MODELS_IMAGE_IMAGE_TENSOR_H_
#define LFIW_MODELS_IMAGE_IMAGE_TENSOR_H_

#include <ATen/ATen.h>

#include <cstdint>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

// Images [begin, begin + count) as floats in [0, 1], [count, channels, height, width]. For sources
// that see LibTorch.
inline at::Tensor ImageTensor(const ImageBatch& images, std::int64_t begin, std::int64_t count) {
  const std::uint8_t* pixels = images.pixels.data() + begin * images.image_size();
  return at::from_blob(const_cast<std::uint8_t*>(pixels),
                       {count, images.height, images.width, images.channels}, at::kByte)
      .permute({0, 3, 1, 2})
      .to(at::kFloat)
      .contiguous()
      .div_(255.0);
}

// A tensor [n, d] as a matrix.
inline MatrixF ToMatrix(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kFloat).contiguous();
  return Eigen::Map<const MatrixF>(values.data_ptr<float>(), values.size(0), values.size(1));
}

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_IMAGE_TENSOR_H_
