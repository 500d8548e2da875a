#include "experiments/image_gof/fitted_weights.h"

#include <fmt/format.h>

#include "core/arrays/npz.h"
#include "core/config/config.h"
#include "experiments/presentation/fit_history.h"
#include "experiments/presentation/run_outputs.h"
#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {
namespace {

using nlohmann::json;

json HistoriesJson(const std::vector<FitSummary>& fits) {
  json all = json::array();
  for (const FitSummary& fit : fits) {
    all.push_back({{"step", fit.history.steps},
                   {"train", fit.history.train_loss},
                   {"validation", fit.history.validation_loss}});
  }
  return all;
}

std::string ClassifierFile(std::size_t fold) { return fmt::format("classifier_{}.npz", fold); }

std::vector<FeatureClassifier> LoadClassifiers(const Artifact& artifact, std::int64_t folds) {
  std::vector<FeatureClassifier> classifiers;
  for (std::size_t k = 0; k < static_cast<std::size_t>(folds); ++k) {
    classifiers.push_back(FeatureClassifier::Load(artifact.File(ClassifierFile(k))));
  }
  return classifiers;
}

}  // namespace

std::string FoldLines(const json& histories, const std::string& prefix) {
  std::string lines;
  for (std::size_t fold = 0; fold < histories.size(); ++fold) {
    const json& one = histories[fold];
    lines += MetricLines(FitHistory{one["step"], one["train"], one["validation"]},
                         fmt::format("{} fold {}", prefix, fold));
  }
  return lines;
}

FittedWeights FitWeights(const GofClassifierOptions& options, std::uint64_t seed,
                         ConstMatrixRef real, ConstMatrixRef generated,
                         const std::vector<std::string>& inputs, const ExperimentRun& run) {
  const Stage stage{.name = "gof_weights",
                    .config = CanonicalText(options),
                    .inputs = inputs,
                    .seed = seed,
                    .code_version = 2};
  const Artifact artifact = run.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("classifiers", CrossFitSteps(real.rows(), generated.rows(), options),
                              "gradient steps", run.verbosity);
    const CrossFit fit = FitByFolds(real, generated, options, seed,
                                    {.folder = CheckpointFolder(directory), .progress = &progress});
    NpzFile file;
    file.Put("real", fit.real);
    file.Put("generated", fit.generated);
    file.Write(directory + "/log_weights.npz");
    WriteJson(HistoriesJson(fit.fits), directory + "/histories.json");
    for (std::size_t k = 0; k < fit.classifiers.size(); ++k) {
      fit.classifiers[k].Save(directory + "/" + ClassifierFile(k));
    }
  });
  const NpzFile file = NpzFile::Read(artifact.File("log_weights.npz"));
  return {.fit = {.real = file.GetDoubles("real"),
                  .generated = file.GetDoubles("generated"),
                  .fits = {},
                  .classifiers = LoadClassifiers(artifact, options.folds)},
          .histories = ReadJson(artifact.File("histories.json")),
          .hash = artifact.content_hash};
}

}  // namespace lfiw::experiments
