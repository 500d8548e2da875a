#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_INCEPTION_SCORE_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_INCEPTION_SCORE_H_

#include "core/layers.h"
#include "core/matrix.h"
#include "experiments/image_gof/sample_weights.h"

namespace lfiw::experiments {

// The Inception Score exp(sum_i v_i KL(p(y | x_i) || sum_j v_j p(y | x_j))) (Salimans et al. 2016)
// under weights v, of all samples at once (no splits), from log-softmaxes without an epsilon. In
// [1, classes] when the weights sum to 1. logits [n, classes], n = weights.size() >= 1.
double InceptionScore(ConstMatrixRef logits, const SampleWeights& weights);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_INCEPTION_SCORE_H_
