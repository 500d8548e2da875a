#ifndef LFIW_MODELS_INPUT_NOISE_H_
#define LFIW_MODELS_INPUT_NOISE_H_

#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"

namespace lfiw::models {

// Adds normal noise of this standard deviation to every input [n, d] of a network; 0 leaves them as
// they are and draws nothing.
void AddInputNoise(double deviation, Stream stream, MatrixF& inputs);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_INPUT_NOISE_H_
