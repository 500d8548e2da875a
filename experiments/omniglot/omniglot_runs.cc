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

// A classifier of characters that is to be trained.
struct ColumnTask {
  std::int64_t run;
  TrainingData data;
  double tempered;    // the share that its weights are worth, 0: their exponent is given
  std::size_t place;  // among the fits of its column
};

// Weights that are worth all drawings are all alike: what they give is the column without weights.
bool WeighsAllAlike(const ColumnTask& task) {
  return UsesWeights(task.data) && task.tempered == 1.0;
}

std::vector<ColumnTask> TasksOf(const OmniglotConfig& config) {
  const std::vector<double> one = {0.0};
  const std::vector<double>& shares = config.classifier.tempered;
  std::vector<ColumnTask> tasks;
  for (std::int64_t r = 0; r < config.runs; ++r) {
    for (const TrainingData data : kAllTrainingData) {
      std::size_t place = 0;
      for (const double share : UsesWeights(data) && !shares.empty() ? shares : one) {
        tasks.push_back({r, data, share, place++});
      }
    }
  }
  return tasks;
}

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

  AugmentedFit FitColumn(const ColumnTask& task, const RatioArtifact& ratios,
                         Progress& progress) const {
    ColumnStage::Inputs inputs = InputsOf(task, ratios);
    inputs.progress = &progress;
    return ColumnStage::Read(run_.cache.Run<ColumnStage>(KeyOf(task), inputs, run_.Work()));
  }

  // Steps of the columns that are still to be trained.
  std::int64_t StepsLeft(const std::vector<ColumnTask>& tasks,
                         const std::vector<RatioArtifact>& ratios) const {
    std::int64_t steps = 0;
    for (const ColumnTask& task : tasks) {
      const ColumnStage::Key key = KeyOf(task);
      const auto inputs = InputsOf(task, ratios[static_cast<std::size_t>(task.run)]);
      if (!run_.cache.Has<ColumnStage>(key, inputs)) steps += key.options.fit.training.steps;
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
  ColumnStage::Key KeyOf(const ColumnTask& task) const {
    return {OptionsOf(task.data, task.tempered, real_.drawings.train.size(),
                      GeneratedOf(task.run).images.count, config_.classifier),
            SeedOfRun(task.run)};
  }
  // Of a column, only what it uses.
  ColumnStage::Inputs InputsOf(const ColumnTask& task, const RatioArtifact& ratios) const {
    return {.real = real_,
            .generated = UsesGenerated(task.data) ? &GeneratedOf(task.run) : nullptr,
            .ratios = UsesWeights(task.data) ? &ratios : nullptr};
  }

  const OmniglotConfig& config_;
  HashedDrawings real_;
  const std::vector<GeneratedDrawings>& generated_;
  const ExperimentRun& run_;
};

ColumnFits& FitsOf(const ColumnTask& task, std::vector<OmniglotRun>& runs) {
  return runs[static_cast<std::size_t>(task.run)].columns[static_cast<std::size_t>(task.data)];
}

// Trains the classifiers of all columns side by side and puts each in its run's place.
void FitColumns(const OmniglotConfig& config, const RunStages& stages,
                const std::vector<RatioArtifact>& ratios, const ExperimentRun& run,
                std::vector<OmniglotRun>& runs) {
  const std::vector<ColumnTask> all = TasksOf(config);
  std::vector<ColumnTask> trained, copied;
  for (const ColumnTask& task : all) {
    (WeighsAllAlike(task) ? copied : trained).push_back(task);
    std::vector<AugmentedFit>& tried = FitsOf(task, runs).tried;
    tried.resize(std::max(tried.size(), task.place + 1));
  }
  TerminalProgress progress("classifiers of characters",
                            std::max<std::int64_t>(stages.StepsLeft(trained, ratios), 1), "steps",
                            run.verbosity);
  ShareTasks(run.cache, std::ssize(trained), [&](std::int64_t t) {
    const ColumnTask& task = trained[static_cast<std::size_t>(t)];
    FitsOf(task, runs).tried[task.place] =
        stages.FitColumn(task, ratios[static_cast<std::size_t>(task.run)], progress);
  });
  for (const ColumnTask& task : copied) {
    const OmniglotRun& of = runs[static_cast<std::size_t>(task.run)];
    FitsOf(task, runs).tried[task.place] = of.Column(WithoutWeights(task.data)).fit();
  }
}

void ChooseShares(std::vector<OmniglotRun>& runs) {
  for (OmniglotRun& run : runs) {
    for (const TrainingData data : kAllTrainingData) {
      run.columns[static_cast<std::size_t>(data)].chosen =
          BestOnValidation(runs, data, run.generator);
    }
  }
}

}  // namespace

std::size_t BestOnValidation(const std::vector<OmniglotRun>& runs, TrainingData data,
                             std::int64_t generator) {
  std::vector<double> sums(runs.front().Column(data).tried.size(), 0.0);
  for (const OmniglotRun& run : runs) {
    if (run.generator != generator) continue;
    const std::vector<AugmentedFit>& tried = run.Column(data).tried;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += tried[i].validation_accuracy;
  }
  return static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
}

std::vector<OmniglotRun> MeasureRuns(const OmniglotConfig& config, const SplitDrawings& drawings,
                                     const std::vector<GeneratedDrawings>& generated,
                                     const ExperimentRun& run) {
  const RunStages stages(config, drawings, generated, run);
  std::vector<OmniglotRun> runs(static_cast<std::size_t>(config.runs));
  std::vector<RatioArtifact> ratios(runs.size());
  ShareInTurn(run.cache, config.runs,
              [&](std::int64_t r) { ratios[static_cast<std::size_t>(r)] = stages.FitRatios(r); });
  FitColumns(config, stages, ratios, run, runs);
  for (std::int64_t r = 0; r < config.runs; ++r) {
    OmniglotRun& one = runs[static_cast<std::size_t>(r)];
    one.generator = stages.GeneratorOf(r);
    one.seed = stages.SeedOfRun(r);
    one.ratios = std::move(ratios[static_cast<std::size_t>(r)].fit);
  }
  ChooseShares(runs);
  return runs;
}

}  // namespace lfiw::experiments
