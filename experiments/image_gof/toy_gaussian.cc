#include "experiments/image_gof/toy_gaussian.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/run/shared_loop.h"
#include "core/run/system_info.h"
#include "experiments/image_gof/toy_curves.h"
#include "experiments/image_gof/toy_page.h"
#include "experiments/presentation/plot.h"
#include "experiments/presentation/run_outputs.h"

namespace lfiw::experiments {
namespace {

void Save(const ToyCurves& curves, const std::string& path) {
  NpzFile file;
  file.Put("model", std::vector<double>{curves.model_mean, curves.model_deviation});
  file.Put("estimate", curves.estimate);
  file.Put("low", curves.low);
  file.Put("high", curves.high);
  file.Put("held_out_data", curves.held_out_data);
  file.Put("held_out_model", curves.held_out_model);
  file.Write(path);
}

ToyCurves Load(std::int64_t n, const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  const std::vector<double> model = file.GetDoubles("model");
  if (model.size() != 2)
    Throw<DataError>("{}: model has {} values, expected 2", path, model.size());
  return {.n = n,
          .model_mean = model[0],
          .model_deviation = model[1],
          .estimate = file.GetDoubles("estimate"),
          .low = file.GetDoubles("low"),
          .high = file.GetDoubles("high"),
          .held_out_data = file.GetDoubles("held_out_data"),
          .held_out_model = file.GetDoubles("held_out_model")};
}

constexpr const char* kCurvesFile = "curves.npz";

ToyPanel RunPanel(const ToyGaussianConfig& config, const ExperimentRun& run, std::int64_t n) {
  const Artifact artifact = run.cache.Run<ToyCurvesStage>({n, config, config.seed}, {}, run.Work());
  ToyPanel panel{.curves = Load(n, artifact.File(kCurvesFile)), .summary = {}};
  panel.summary = SummarizeToy(config, panel.curves);
  return panel;
}

void WriteRun(const ToyGaussianConfig& config, const ExperimentRun& run,
              const std::vector<ToyPanel>& panels) {
  std::vector<std::string> svgs = {
      DrawPlot(run, "setup", ToySetupPlot(config, panels.back().curves))};
  for (const ToyPanel& panel : panels) {
    svgs.push_back(
        DrawPlot(run, fmt::format("n_{}", panel.curves.n), ToyCurvePlot(config, panel.curves)));
  }
  run.directory.Write("results.csv", ToyCsv(panels));
  run.directory.Write("curves.csv", ToyCurvesCsv(config, panels));
  run.directory.Write("report.html", ToyPage(config, panels, svgs, run.command));
  run.directory.WriteManifest(ManifestOf(run, config.seed), QuerySystem());
}

}  // namespace

void ToyCurvesStage::Make(const Key& key, const Inputs& /*inputs*/, const StageWork& work) {
  const auto progress = work.StartProgress(fmt::format("classifiers for n = {}", key.n),
                                           key.options.bootstraps, "classifiers");
  Save(FitToyCurves(key.options, key.n, key.seed, progress.get()), work.File(kCurvesFile));
}

Outcome RunToyGaussian(const ToyGaussianConfig& config, const ExperimentRun& run) {
  if (config.sizes.empty()) Throw<ConfigError>("sizes: an empty list, expected at least one");
  if (!(config.grid.low < config.grid.high)) {
    Throw<ConfigError>("grid: low {} and high {}, expected low below high", config.grid.low,
                       config.grid.high);
  }
  std::vector<ToyPanel> panels(config.sizes.size());
  ShareInTurn(run.cache, std::ssize(panels), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    panels[index] = RunPanel(config, run, config.sizes[index]);
  });
  run.cache.EndOfStages();
  WriteRun(config, run, panels);
  return {.text = ToyText(panels), .object = {{"results", JsonOfCsv(ToyCsv(panels))}}};
}

}  // namespace lfiw::experiments
