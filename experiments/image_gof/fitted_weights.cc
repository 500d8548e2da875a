#include "experiments/image_gof/fitted_weights.h"

#include <fmt/format.h>

#include <utility>

#include "core/arrays/npz.h"
#include "experiments/presentation/fit_history.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::experiments {
namespace {

constexpr const char* kWeightsFile = "log_weights.npz";
constexpr const char* kHistoriesFile = "histories.npz";

std::string ClassifierFile(std::size_t fold) { return fmt::format("classifier_{}.npz", fold); }

// What the arrays of a fold's learning curve begin with.
std::string FoldPrefix(std::size_t fold) { return fmt::format("fold_{}_", fold); }

void SaveHistories(const std::vector<FitSummary>& fits, const std::string& path) {
  NpzFile file;
  for (std::size_t k = 0; k < fits.size(); ++k) PutHistory(fits[k].history, FoldPrefix(k), file);
  file.Write(path);
}

FittedWeights Load(const Artifact& artifact, std::size_t folds) {
  const NpzFile weights = NpzFile::Read(artifact.File(kWeightsFile));
  const NpzFile histories = NpzFile::Read(artifact.File(kHistoriesFile));
  FittedWeights loaded{.fit = {.real = weights.GetDoubles("real"),
                               .generated = weights.GetDoubles("generated"),
                               .fits = {}},
                       .histories = {},
                       .hash = artifact.content_hash};
  for (std::size_t k = 0; k < folds; ++k) {
    loaded.fit.classifiers.push_back(FeatureClassifier::Load(artifact.File(ClassifierFile(k))));
    loaded.histories.push_back(GetHistory(histories, FoldPrefix(k)));
  }
  return loaded;
}

}  // namespace

void GofWeightsStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  const auto progress = work.StartProgress(
      "classifiers", CrossFitSteps(inputs.real.rows(), inputs.generated.rows(), key.options),
      "gradient steps");
  const CrossFit fit = FitByFolds(inputs.real, inputs.generated, key.options, key.seed,
                                  {work.Checkpoints(), work.checkpoint_seconds, progress.get()});
  NpzFile file;
  file.Put("real", fit.real);
  file.Put("generated", fit.generated);
  file.Write(work.File(kWeightsFile));
  SaveHistories(fit.fits, work.File(kHistoriesFile));
  for (std::size_t k = 0; k < fit.classifiers.size(); ++k) {
    fit.classifiers[k].Save(work.File(ClassifierFile(k)));
  }
}

std::string FoldLines(std::span<const FitHistory> histories, const std::string& prefix) {
  std::string lines;
  for (std::size_t fold = 0; fold < histories.size(); ++fold) {
    lines += MetricLines(histories[fold], fmt::format("{} fold {}", prefix, fold));
  }
  return lines;
}

FittedWeights FitWeights(const GofClassifierOptions& options, std::uint64_t seed,
                         ConstMatrixRef real, ConstMatrixRef generated,
                         const std::vector<std::string>& inputs, const ExperimentRun& run) {
  return Load(
      run.cache.Run<GofWeightsStage>({options, seed}, {real, generated, inputs}, run.Work()),
      static_cast<std::size_t>(options.folds));
}

std::string SmoothedWeights::Identity() const {
  return fmt::format("{} noise {} share {}", hash, noise, share);
}

SampleRatios RatiosOf(const FittedWeights& plain, const SmoothedWeights& smoothed) {
  return {.plain = plain.fit.generated,
          .smoothed = smoothed.generated,
          .noise = smoothed.noise,
          .share = smoothed.share};
}

SmoothedWeights FitSmoothedWeights(const SmoothingOptions& options,
                                   const GofClassifierOptions& classifier, std::uint64_t seed,
                                   ConstMatrixRef real, ConstMatrixRef generated,
                                   const std::vector<std::string>& inputs,
                                   const FittedWeights& plain, const ExperimentRun& run) {
  SmoothedWeights smoothed{.generated = {}, .share = options.share, .hash = plain.hash};
  if (options.noise == 0.0) return smoothed;
  const double wanted = options.share * static_cast<double>(generated.rows());
  if (Summarize(plain.fit.generated).ess >= wanted) {
    smoothed.generated = plain.fit.generated;
    return smoothed;
  }
  GofClassifierOptions noisy = classifier;
  noisy.fit.input_noise = options.noise;
  FittedWeights fitted = FitWeights(noisy, seed, real, generated, inputs, run);
  smoothed.generated = std::move(fitted.fit.generated);
  smoothed.noise = options.noise;
  smoothed.hash = fitted.hash;
  return smoothed;
}

}  // namespace lfiw::experiments
