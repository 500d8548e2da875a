#ifndef LFIW_MODELS_TORCH_THREADS_H_
#define LFIW_MODELS_TORCH_THREADS_H_

#include "core/layers.h"

namespace lfiw::models {

// Limits LibTorch to one thread inside a task, whichever thread runs it. Call before using it;
// further calls cost nothing.
void PinTorchToOneThread();

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TORCH_THREADS_H_
