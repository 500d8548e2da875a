#ifndef LFIW_EXPERIMENTS_OMNIGLOT_PAIRED_DRAWINGS_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_PAIRED_DRAWINGS_H_

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "experiments/omniglot/drawing_split.h"

namespace lfiw::experiments {

// Drawings beside another of their class: [count, side, side, 2], the drawing in channel 0. What a
// classifier tells apart are then the densities of a drawing given another, p(x' | x) and
// q(x' | x), which a drawing of another character does not pass.

// The training drawings, each beside another real one of its class.
ImageBatch PairedRealDrawings(const SplitDrawings& drawings);

// Generated drawings, each beside the training drawing that it was made from.
ImageBatch PairedGeneratedDrawings(const SplitDrawings& drawings, const ImageBatch& generated);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_PAIRED_DRAWINGS_H_
