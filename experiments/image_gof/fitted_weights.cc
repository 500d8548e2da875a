#include "experiments/image_gof/fitted_weights.h"

#include "core/config.h"
#include "core/npz.h"
#include "experiments/stage_files.h"

namespace lfiw {
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

}  // namespace

FittedWeights FitWeights(const GofClassifierOptions& options, std::uint64_t seed,
                         ConstMatrixRef real, ConstMatrixRef generated,
                         const std::vector<std::string>& inputs, const ExperimentRun& run) {
  const Stage stage{
      .name = "gof_weights", .config = CanonicalText(options), .inputs = inputs, .seed = seed};
  const Artefact artefact = run.cache.Run(stage, [&](const std::string& directory) {
    TerminalProgress progress("classifiers", CrossFitSteps(real.rows(), generated.rows(), options),
                              "gradient steps", run.verbosity);
    const CrossFit fit = FitByFolds(real, generated, options, seed,
                                    {.folder = CheckpointFolder(directory), .progress = &progress});
    NpzFile file;
    file.Put("real", fit.real);
    file.Put("generated", fit.generated);
    file.Write(directory + "/log_weights.npz");
    WriteJson(HistoriesJson(fit.fits), directory + "/histories.json");
  });
  const NpzFile file = NpzFile::Read(artefact.File("log_weights.npz"));
  return {.fit = {.real = file.GetDoubles("real"),
                  .generated = file.GetDoubles("generated"),
                  .fits = {}},
          .histories = ReadJson(artefact.File("histories.json")),
          .hash = artefact.content_hash};
}

}  // namespace lfiw
