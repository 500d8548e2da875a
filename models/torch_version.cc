#include "models/torch_version.h"

#include <torch/version.h>

namespace lfiw::models {

std::string TorchVersion() { return TORCH_VERSION; }

}  // namespace lfiw::models
