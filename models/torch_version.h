#ifndef LFIW_MODELS_TORCH_VERSION_H_
#define LFIW_MODELS_TORCH_VERSION_H_

#include <string>

#include "core/layers.h"

namespace lfiw::models {

// Version of the LibTorch that was compiled against, such as "1.13.1".
std::string TorchVersion();

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TORCH_VERSION_H_
