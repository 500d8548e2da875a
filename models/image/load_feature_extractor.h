#ifndef LFIW_MODELS_IMAGE_LOAD_FEATURE_EXTRACTOR_H_
#define LFIW_MODELS_IMAGE_LOAD_FEATURE_EXTRACTOR_H_

#include <memory>
#include <string>

#include "core/layers.h"
#include "models/image/feature_extractor.h"

namespace lfiw::models {

// A ResNet-20 from an .npz file, or any TorchScript module, which is code: loading it runs what its
// author wrote. Throws DataError naming the file.
std::unique_ptr<FeatureExtractor> LoadFeatureExtractor(const std::string& path);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_LOAD_FEATURE_EXTRACTOR_H_
