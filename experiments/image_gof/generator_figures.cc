#include "experiments/image_gof/generator_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/images/png.h"
#include "core/rng.h"
#include "experiments/image_gof/image_grid.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kSamples = 64;
constexpr std::int64_t kColumns = 8;

std::string Title(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

std::string DrawSamples(const ExperimentRun& run, const std::string& name, const ImageBatch& images,
                        std::uint64_t seed) {
  if (images.count == 0) return "";
  std::vector<std::int64_t> shown = Stream(seed, "sample grid").Permutation(images.count);
  shown.resize(static_cast<std::size_t>(std::min(kSamples, images.count)));
  const ImageBatch grid = ImageGrid(images, shown, std::min(kColumns, images.count));
  const std::string png = EncodePng(grid, 0);
  run.directory.Write(fmt::format("plots/{}.png", name), png);
  return PngAsSvg(png, grid, "samples drawn at random");
}

Plot LearningPlot(const std::string& model, const TrainingHistory& history) {
  Plot plot{.title = "Training of " + model, .x_label = "step"};
  for (std::int64_t k = 0; k < std::ssize(history.names); ++k) {
    PlotSeries series{.label = Title(history.names[static_cast<std::size_t>(k)])};
    for (std::int64_t i = 0; i < std::ssize(history.steps); ++i) {
      series.x.push_back(static_cast<double>(history.steps[static_cast<std::size_t>(i)]));
      series.y.push_back(history.Value(i, k));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::string TrainingLine(const TrainingHistory& history) {
  if (history.steps.empty()) return "";
  std::vector<std::string> figures;
  for (std::int64_t k = 0; k < std::ssize(history.names); ++k) {
    figures.push_back(fmt::format("{} {}", Title(history.names[static_cast<std::size_t>(k)]),
                                  NumberText(history.Last(k))));
  }
  return fmt::format("Trained for {} steps; at the end {}.",
                     CountText(static_cast<double>(history.steps.back())),
                     fmt::join(figures, ", "));
}

}  // namespace lfiw::experiments
