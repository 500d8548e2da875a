#ifndef LFIW_MODELS_IMAGE_DEVICE_H_
#define LFIW_MODELS_IMAGE_DEVICE_H_

#include <array>
#include <string_view>

#include "core/config/visitor.h"
#include "core/layers.h"

namespace lfiw::models {

// Where image models compute. The same bytes for any number of threads are promised on kCpu only.
enum class Device { kAuto, kCpu, kCuda };

constexpr auto EnumNames(Device /*kind*/) {
  return std::to_array<std::string_view>({"auto", "cpu", "cuda"});
}

// kCpu or kCuda: kAuto is CUDA where this LibTorch and machine have it. Throws ConfigError for
// kCuda where they have not.
Device ResolveDevice(Device wanted);

// Call before LibTorch works on images. One thread inside a task, as everywhere; and freed memory
// stays with the process, because activations that are mapped and unmapped again in every step
// cost up to a third of it. Further calls cost nothing.
void PrepareTorchForImages();

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_DEVICE_H_
