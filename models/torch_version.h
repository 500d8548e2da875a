#ifndef LFIW_MODELS_TORCH_VERSION_H_
#define LFIW_MODELS_TORCH_VERSION_H_

#include <string>

namespace lfiw {

// Version of the LibTorch that was compiled against, such as "1.13.1".
std::string TorchVersion();

}  // namespace lfiw

#endif  // LFIW_MODELS_TORCH_VERSION_H_
