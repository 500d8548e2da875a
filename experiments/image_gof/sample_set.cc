#include "experiments/image_gof/sample_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/image_files.h"
#include "core/run/sha256.h"
#include "models/image/load_feature_extractor.h"

namespace lfiw::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kFewestSamples = 20;
constexpr Eigen::Index kMostFeatures = 16'384;

// Of a file, or of the names and contents of a folder's files.
std::string HashOf(const std::string& path) {
  if (!fs::is_directory(path)) return Sha256HexOfFile(path);
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() != ".png") continue;
    lines.push_back(entry.path().filename().string() + " " +
                    Sha256HexOfFile(entry.path().string()));
  }
  std::sort(lines.begin(), lines.end());
  return Sha256Hex(fmt::format("{}", fmt::join(lines, "\n")));
}

// The features of an .npz file; empty when the file has none.
ImageFeatures ReadFeatures(const std::string& path) {
  ImageFeatures found;
  if (fs::path(path).extension() != ".npz" || fs::is_directory(path)) return found;
  const NpzFile file = NpzFile::Read(path);
  if (!file.Has("features")) return found;
  found.features = file.GetMatrix("features");
  found.logits = file.Has("logits") ? file.GetMatrix("logits") : MatrixF(found.features.rows(), 0);
  if (found.features.rows() == 0 || found.features.cols() == 0 ||
      found.features.cols() > kMostFeatures || found.logits.rows() != found.features.rows()) {
    Throw<DataError>(
        "{}: features have shape [{}, {}] and logits [{}, {}], expected [n, d], d <= {}, and [n, "
        "classes]",
        path, found.features.rows(), found.features.cols(), found.logits.rows(),
        found.logits.cols(), kMostFeatures);
  }
  if (!found.features.allFinite() || !found.logits.allFinite()) {
    Throw<DataError>("{}: a feature or logit is not finite", path);
  }
  return found;
}

void Append(const MatrixF& rows, const std::string& path, const char* what, MatrixF& all) {
  if (all.rows() > 0 && all.cols() != rows.cols()) {
    Throw<DataError>("{}: {} {} a sample, the file before has {}", path, rows.cols(), what,
                     all.cols());
  }
  MatrixF joined(all.rows() + rows.rows(), rows.cols());
  joined << all, rows;
  all = std::move(joined);
}

void Append(const ImageFile& file, const std::string& path, SampleSet& set) {
  const ImageBatch& more = file.images;
  ImageBatch& all = set.images;
  if (all.count > 0 &&
      (all.height != more.height || all.width != more.width || all.channels != more.channels)) {
    Throw<DataError>("{}: images are {} x {} with {} channels, those before {} x {} with {}", path,
                     more.height, more.width, more.channels, all.height, all.width, all.channels);
  }
  AppendImages(more, all);
  set.cifar10_training |= file.format == ImageFormat::kCifar10 &&
                          fs::path(path).filename().string().starts_with("data_batch");
}

// Extracts the features of a set's images, or takes them from the cache.
void FillFeatures(const FeatureExtractor& extractor, const std::string& extractor_hash,
                  const ExperimentRun& run, const char* kind, SampleSet& set) {
  set.features = FeaturesStage::Read(run.cache.Run<FeaturesStage>(
      {extractor.Description()},
      {set, extractor, extractor_hash, fmt::format("features of {} images", kind)}, run.Work()));
}

// What a network's own training does to the comparison.
std::vector<std::string> NotesOn(const FeatureExtractor& extractor, const SamplePair& pair) {
  if (!extractor.saw_cifar10_training_images()) return {};
  const bool real = pair.real.cifar10_training, generated = pair.generated.cifar10_training;
  if (real && generated) {
    return {"The network that the features come from saw both sets of images in its own training."};
  }
  if (real || generated) {
    return {fmt::format(
        "The network that the features come from saw the {} images in its own training, and the "
        "others, as far as is known, not: part of the difference may be that it fits them better. "
        "Images that it has not seen make a fairer comparison.",
        real ? "real" : "generated")};
  }
  return {
      "The network that the features come from was trained on CIFAR-10's training images. If "
      "these are among the real images, part of the difference may be that it fits them "
      "better."};
}

void CheckPair(const SamplePair& pair) {
  for (const SampleSet* set : {&pair.real, &pair.generated}) {
    if (set->size() >= kFewestSamples) continue;
    Throw<DataError>("{}: {} samples, expected at least {}", fmt::join(set->paths, ", "),
                     set->size(), kFewestSamples);
  }
  const ImageFeatures &real = pair.real.features, &generated = pair.generated.features;
  if (real.features.cols() != generated.features.cols() ||
      real.logits.cols() != generated.logits.cols()) {
    Throw<DataError>(
        "real samples have {} features and {} logits, generated ones {} and {}: expected those of "
        "one network",
        real.features.cols(), real.logits.cols(), generated.features.cols(),
        generated.logits.cols());
  }
}

constexpr const char* kFeaturesFile = "features.npz";

}  // namespace

void FeaturesStage::Make(const Key& /*key*/, const Inputs& inputs, const StageWork& work) {
  const ImageBatch& images = inputs.set.images;
  const auto progress = work.StartProgress(inputs.title, images.count, "images");
  const ImageFeatures found = ExtractFeatures(inputs.extractor, images, progress.get());
  NpzFile file;
  file.Put("features", found.features);
  file.Put("logits", found.logits);
  file.Write(work.File(kFeaturesFile));
}

ImageFeatures FeaturesStage::Read(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kFeaturesFile));
  return {file.GetMatrix("features"), file.GetMatrix("logits")};
}

SampleSet ReadSamples(const std::vector<std::string>& paths) {
  SampleSet set{.paths = paths};
  std::string hashes;
  for (const std::string& path : paths) {
    const ImageFeatures found = ReadFeatures(path);
    if (found.features.rows() > 0) {
      Append(found.features, path, "features", set.features.features);
      Append(found.logits, path, "logits", set.features.logits);
    } else {
      Append(ReadImages(path), path, set);
    }
    hashes += HashOf(path) + "\n";
  }
  if (set.images.count > 0 && set.features.features.rows() > 0) {
    Throw<DataError>("{}: some hold images and some features, expected one kind",
                     fmt::join(paths, ", "));
  }
  set.hash = Sha256Hex(hashes);
  return set;
}

SamplePair ReadPair(const std::vector<std::string>& real, const std::vector<std::string>& generated,
                    const std::string& features, const ExperimentRun& run) {
  SamplePair pair{.real = ReadSamples(real),
                  .generated = ReadSamples(generated),
                  .extractor = "features as given",
                  .notes = {}};
  if (pair.real.images.count + pair.generated.images.count > 0) {
    if (features.empty()) {
      Throw<ConfigError>(
          "features: none given for images, expected an .npz file of a ResNet-20 or a TorchScript "
          "module (--features FILE)");
    }
    const auto extractor = LoadFeatureExtractor(features);
    pair.features_hash = Sha256HexOfFile(features);
    pair.extractor = extractor->Description();
    pair.notes = NotesOn(*extractor, pair);
    if (pair.real.images.count > 0)
      FillFeatures(*extractor, pair.features_hash, run, "real", pair.real);
    if (pair.generated.images.count > 0) {
      FillFeatures(*extractor, pair.features_hash, run, "generated", pair.generated);
    }
  }
  CheckPair(pair);
  return pair;
}

}  // namespace lfiw::experiments
