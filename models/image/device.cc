#include "models/image/device.h"

#include <malloc.h>
#include <torch/torch.h>

#include "core/error.h"
#include "models/torch_threads.h"

namespace lfiw::models {

Device ResolveDevice(Device wanted) {
  const bool available = torch::cuda::is_available();
  if (wanted == Device::kCuda && !available) {
    Throw<ConfigError>(
        "device is cuda, but LibTorch {} sees no CUDA device here; choose auto or cpu, or build "
        "with a LibTorch that has CUDA (CMAKE_PREFIX_PATH)",
        TORCH_VERSION);
  }
  return available && wanted != Device::kCpu ? Device::kCuda : Device::kCpu;
}

void PrepareTorchForImages() {
  PinTorchToOneThread();
  static const bool kept = [] {
    constexpr int kTrimThreshold = 2'000'000'000;
    return mallopt(M_MMAP_MAX, 0) != 0 && mallopt(M_TRIM_THRESHOLD, kTrimThreshold) != 0;
  }();
  static_cast<void>(kept);
}

}  // namespace lfiw::models
