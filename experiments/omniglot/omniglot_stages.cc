#include "experiments/omniglot/omniglot_stages.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/arrays/npz.h"
#include "core/config/visitor.h"
#include "experiments/image_gof/training_history.h"
#include "experiments/omniglot/paired_drawings.h"
#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

constexpr const char* kWeightsFile = "log_weights.npz";
constexpr const char* kHistoriesFile = "histories.json";
constexpr const char* kFitFile = "fit.json";

void Save(const RatioFit& fit, const StageWork& work) {
  NpzFile file;
  file.Put("real", fit.weights.real);
  file.Put("generated", fit.weights.generated);
  file.Write(work.File(kWeightsFile));
  json histories = json::array();
  for (const TrainingHistory& history : fit.histories) histories.push_back(HistoryJson(history));
  WriteJson(histories, work.File(kHistoriesFile));
}

RatioFit LoadRatios(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kWeightsFile));
  RatioFit fit{.weights = {.real = file.GetDoubles("real"),
                           .generated = file.GetDoubles("generated"),
                           .fits = {}},
               .histories = {}};
  for (const json& history : ReadJson(artifact.File(kHistoriesFile))) {
    fit.histories.push_back(HistoryFromJson(history));
  }
  return fit;
}

json FitJson(const AugmentedFit& fit) {
  return {{"test_accuracy", fit.test_accuracy},
          {"validation_accuracy", fit.validation_accuracy},
          {"kept_step", fit.kept_step},
          {"history", HistoryJson(fit.history)}};
}

AugmentedFit FitFromJson(const json& value) {
  return {.test_accuracy = value.at("test_accuracy").get<double>(),
          .validation_accuracy = value.at("validation_accuracy").get<double>(),
          .kept_step = value.at("kept_step").get<std::int64_t>(),
          .history = HistoryFromJson(value.at("history"))};
}

}  // namespace

HashedDrawings HashedDrawings::Of(const SplitDrawings& drawings) {
  return {.drawings = drawings,
          .train = HashOf(drawings.images, drawings.train),
          .validation = HashOf(drawings.images, drawings.validation),
          .test = HashOf(drawings.images, drawings.test)};
}

void RatioStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const SplitDrawings& drawings = inputs.real.drawings;
  const bool pairs = key.options.sees == RatioInput::kPair;
  const ImageBatch real =
      pairs ? PairedRealDrawings(drawings) : TakeImages(drawings.images, drawings.train.rows);
  const ImageBatch generated =
      pairs ? PairedGeneratedDrawings(drawings, inputs.generated.images) : inputs.generated.images;
  const auto progress = work.StartProgress(
      inputs.title, RatioSteps(real.count, generated.count, key.options), "steps");
  Save(FitRatios(real, generated, key.options, key.seed,
                 {work.Checkpoints(), work.checkpoint_seconds, progress.get()}),
       work);
}

RatioArtifact RatioStage::Read(const Artifact& artifact) {
  return {.fit = LoadRatios(artifact), .hash = artifact.content_hash};
}

std::vector<std::string> ColumnStage::Inputs::Hashes() const {
  std::vector<std::string> hashes = {real.train, real.validation, real.test};
  if (generated != nullptr) hashes.push_back(generated->hash);
  if (ratios != nullptr) hashes.push_back(ratios->hash);
  return hashes;
}

void ColumnStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const FitRun run{work.Checkpoints(), work.checkpoint_seconds, inputs.progress};
  const FitJob job = FitJob::Of(run, fmt::format("classifier on {}", EnumName(key.options.data)),
                                CheckpointIdentity<ColumnStage>(key, inputs), "classifier.npz");
  const ImageBatch none = {};
  AugmentationData data{.drawings = inputs.real.drawings,
                        .generated = inputs.generated == nullptr ? none : inputs.generated->images,
                        .log_weights = {}};
  if (inputs.ratios != nullptr) data.log_weights = inputs.ratios->fit.weights.generated;
  WriteJson(FitJson(TrainAugmented(data, key.options, key.seed, job)), work.File(kFitFile));
}

AugmentedFit ColumnStage::Read(const Artifact& artifact) {
  return FitFromJson(ReadJson(artifact.File(kFitFile)));
}

}  // namespace lfiw::experiments
