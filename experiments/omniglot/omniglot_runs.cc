#include "experiments/omniglot/omniglot_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/arrays/npz.h"
#include "core/config/config.h"
#include "core/parallel.h"
#include "core/seed_of.h"
#include "experiments/image_gof/training_history.h"
#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

// Cross-fitted log-weights as a stage leaves them.
struct RatioArtifact {
  RatioFit fit;
  std::string hash;
};

void Save(const RatioFit& fit, const std::string& directory) {
  NpzFile file;
  file.Put("real", fit.weights.real);
  file.Put("generated", fit.weights.generated);
  file.Write(directory + "/log_weights.npz");
  json histories = json::array();
  for (const TrainingHistory& history : fit.histories) histories.push_back(HistoryJson(history));
  WriteJson(histories, directory + "/histories.json");
}

RatioFit LoadRatios(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File("log_weights.npz"));
  RatioFit fit{.weights = {.real = file.GetDoubles("real"),
                           .generated = file.GetDoubles("generated"),
                           .fits = {}},
               .histories = {}};
  for (const json& history : ReadJson(artifact.File("histories.json"))) {
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

// Runs the stages of all runs.
class RunStages {
 public:
  RunStages(const OmniglotConfig& config, const SplitDrawings& drawings,
            const std::vector<GeneratedDrawings>& generated, const ExperimentRun& run)
      : config_(config),
        drawings_(drawings),
        generated_(generated),
        run_(run),
        train_hash_(HashOf(drawings.images, drawings.train)),
        validation_hash_(HashOf(drawings.images, drawings.validation)),
        test_hash_(HashOf(drawings.images, drawings.test)) {}

  RatioArtifact FitRatioStage(std::int64_t index) const {
    const GeneratedDrawings& generated = GeneratedOf(index);
    const std::uint64_t seed = SeedOfRun(index);
    const Stage stage{.name = "omniglot_ratios",
                      .config = CanonicalText(config_.ratio),
                      .inputs = {train_hash_, generated.hash},
                      .seed = seed};
    const Artifact artifact = run_.cache.Run(stage, [&](const std::string& directory) {
      const ImageBatch real = TakeImages(drawings_.images, drawings_.train.rows);
      TerminalProgress progress(fmt::format("weights, run {} of {}", index + 1, config_.runs),
                                RatioSteps(real.count, generated.images.count, config_.ratio),
                                "steps", run_.verbosity);
      Save(FitRatios(real, generated.images, config_.ratio, seed,
                     {.folder = CheckpointFolder(directory), .progress = &progress}),
           directory);
    });
    return {.fit = LoadRatios(artifact), .hash = artifact.content_hash};
  }

  // The stage of a column depends on what the column uses alone.
  Stage ColumnStage(std::int64_t index, TrainingData column, const RatioArtifact& ratios) const {
    const bool mixed = column == TrainingData::kMixed || column == TrainingData::kMixedWeighted;
    Stage stage{
        .name = "omniglot_classifier",
        .config = fmt::format("{} {}", EnumName(column), CanonicalText(OptionsOf(index, column))),
        .inputs = {train_hash_, validation_hash_, test_hash_},
        .seed = SeedOfRun(index)};
    if (mixed) stage.config += fmt::format(" m={}", config_.classifier.mixture_weight);
    if (UsesGenerated(column)) stage.inputs.push_back(GeneratedOf(index).hash);
    if (UsesWeights(column)) {
      stage.config += fmt::format(" alpha={}", config_.classifier.alpha);
      stage.inputs.push_back(ratios.hash);
    }
    return stage;
  }

  AugmentedFit FitColumn(std::int64_t index, TrainingData column, const RatioArtifact& ratios,
                         Progress& progress) const {
    const Stage stage = ColumnStage(index, column, ratios);
    const Artifact artifact = run_.cache.Run(stage, [&](const std::string& directory) {
      const FitJob job = FitJob::Of({.folder = CheckpointFolder(directory), .progress = &progress},
                                    fmt::format("classifier on {}", EnumName(column)), stage.Key(),
                                    "classifier.npz");
      const AugmentationData data{.drawings = drawings_,
                                  .generated = GeneratedOf(index).images,
                                  .log_weights = ratios.fit.weights.generated};
      WriteJson(FitJson(TrainAugmented(data, column, config_.classifier, SeedOfRun(index), job)),
                directory + "/fit.json");
    });
    return FitFromJson(ReadJson(artifact.File("fit.json")));
  }

  // Steps of the columns that are still to be trained.
  std::int64_t StepsLeft(const std::vector<RatioArtifact>& ratios) const {
    std::int64_t steps = 0;
    for (std::int64_t r = 0; r < config_.runs; ++r) {
      for (const TrainingData column : kAllTrainingData) {
        const Stage stage = ColumnStage(r, column, ratios[static_cast<std::size_t>(r)]);
        if (!run_.cache.Has(stage)) steps += OptionsOf(r, column).training.steps;
      }
    }
    return steps;
  }

  std::int64_t GeneratorOf(std::int64_t index) const { return index % std::ssize(generated_); }
  std::uint64_t SeedOfRun(std::int64_t index) const {
    return SeedOf(config_.seed, "omniglot run", index);
  }

 private:
  const GeneratedDrawings& GeneratedOf(std::int64_t index) const {
    return generated_[static_cast<std::size_t>(GeneratorOf(index))];
  }
  ConvClassifierOptions OptionsOf(std::int64_t index, TrainingData column) const {
    return FitOptionsFor(column, drawings_.train.size(), GeneratedOf(index).images.count,
                         config_.classifier);
  }

  const OmniglotConfig& config_;
  const SplitDrawings& drawings_;
  const std::vector<GeneratedDrawings>& generated_;
  const ExperimentRun& run_;
  std::string train_hash_, validation_hash_, test_hash_;
};

}  // namespace

std::vector<OmniglotRun> MeasureRuns(const OmniglotConfig& config, const SplitDrawings& drawings,
                                     const std::vector<GeneratedDrawings>& generated,
                                     const ExperimentRun& run) {
  const RunStages stages(config, drawings, generated, run);
  std::vector<OmniglotRun> runs(static_cast<std::size_t>(config.runs));
  std::vector<RatioArtifact> ratios;
  for (std::int64_t r = 0; r < config.runs; ++r) ratios.push_back(stages.FitRatioStage(r));

  // columns of all runs side by side
  TerminalProgress progress("classifiers of characters",
                            std::max<std::int64_t>(stages.StepsLeft(ratios), 1), "steps",
                            run.verbosity);
  const std::int64_t columns = std::ssize(kAllTrainingData);
  ParallelFor(config.runs * columns, [&](std::int64_t task) {
    const auto r = static_cast<std::size_t>(task / columns);
    const auto c = static_cast<std::size_t>(task % columns);
    runs[r].columns[c] = stages.FitColumn(task / columns, kAllTrainingData[c], ratios[r], progress);
  });
  for (std::int64_t r = 0; r < config.runs; ++r) {
    OmniglotRun& one = runs[static_cast<std::size_t>(r)];
    one.generator = stages.GeneratorOf(r);
    one.seed = stages.SeedOfRun(r);
    one.ratios = std::move(ratios[static_cast<std::size_t>(r)].fit);
  }
  return runs;
}

}  // namespace lfiw::experiments
