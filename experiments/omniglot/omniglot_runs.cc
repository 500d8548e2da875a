#include "experiments/omniglot/omniglot_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/run/shared_loop.h"
#include "core/seed_of.h"
#include "experiments/omniglot/omniglot_stages.h"

namespace lfiw::experiments {
namespace {

// Runs the stages of all runs.
class RunStages {
 public:
  RunStages(const OmniglotConfig& config, const SplitDrawings& drawings,
            const std::vector<GeneratedDrawings>& generated, const ExperimentRun& run)
      : config_(config), real_(HashedDrawings::Of(drawings)), generated_(generated), run_(run) {}

  RatioArtifact FitRatios(std::int64_t index) const {
    return RatioStage::Read(run_.cache.Run<RatioStage>(
        {config_.ratio, SeedOfRun(index)},
        {real_, GeneratedOf(index), fmt::format("weights, run {} of {}", index + 1, config_.runs)},
        run_.Work()));
  }

  AugmentedFit FitColumn(std::int64_t index, TrainingData column, const RatioArtifact& ratios,
                         Progress& progress) const {
    ColumnStage::Inputs inputs = InputsOf(index, column, ratios);
    inputs.progress = &progress;
    return ColumnStage::Read(
        run_.cache.Run<ColumnStage>(KeyOf(index, column), inputs, run_.Work()));
  }

  // Steps of the columns that are still to be trained.
  std::int64_t StepsLeft(const std::vector<RatioArtifact>& ratios) const {
    std::int64_t steps = 0;
    for (std::int64_t r = 0; r < config_.runs; ++r) {
      for (const TrainingData column : kAllTrainingData) {
        const ColumnStage::Key key = KeyOf(r, column);
        const auto inputs = InputsOf(r, column, ratios[static_cast<std::size_t>(r)]);
        if (!run_.cache.Has<ColumnStage>(key, inputs)) steps += key.options.fit.training.steps;
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
  ColumnStage::Key KeyOf(std::int64_t index, TrainingData column) const {
    return {OptionsOf(column, real_.drawings.train.size(), GeneratedOf(index).images.count,
                      config_.classifier),
            SeedOfRun(index)};
  }
  // Of a column, only what it uses.
  ColumnStage::Inputs InputsOf(std::int64_t index, TrainingData column,
                               const RatioArtifact& ratios) const {
    return {.real = real_,
            .generated = UsesGenerated(column) ? &GeneratedOf(index) : nullptr,
            .ratios = UsesWeights(column) ? &ratios : nullptr};
  }

  const OmniglotConfig& config_;
  HashedDrawings real_;
  const std::vector<GeneratedDrawings>& generated_;
  const ExperimentRun& run_;
};

}  // namespace

std::vector<OmniglotRun> MeasureRuns(const OmniglotConfig& config, const SplitDrawings& drawings,
                                     const std::vector<GeneratedDrawings>& generated,
                                     const ExperimentRun& run) {
  const RunStages stages(config, drawings, generated, run);
  std::vector<OmniglotRun> runs(static_cast<std::size_t>(config.runs));
  std::vector<RatioArtifact> ratios(runs.size());
  ShareInTurn(run.cache, config.runs,
              [&](std::int64_t r) { ratios[static_cast<std::size_t>(r)] = stages.FitRatios(r); });

  // columns of all runs side by side
  TerminalProgress progress("classifiers of characters",
                            std::max<std::int64_t>(stages.StepsLeft(ratios), 1), "steps",
                            run.verbosity);
  const std::int64_t columns = std::ssize(kAllTrainingData);
  ShareTasks(run.cache, config.runs * columns, [&](std::int64_t task) {
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
