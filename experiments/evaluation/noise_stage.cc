#include "experiments/evaluation/noise_stage.h"

#include <array>
#include <cmath>
#include <memory>
#include <span>

#include "core/arrays/npz.h"
#include "experiments/evaluation/model_stages.h"
#include "ope/rollouts/plain_model.h"

namespace lfiw::experiments {
namespace {

constexpr const char* kChoiceFile = "choice.npz";
constexpr std::array kScales = {1.0, 0.75, 0.5, 0.25, 0.0};
// Rollouts of the logged policy for each scale.
constexpr std::int64_t kRepetitions = 4, kEpisodes = 100;

}  // namespace

std::size_t ChooseNoise(std::span<const double> values, std::span<const double> errors,
                        const Backtest& logged) {
  const auto gap = [&](std::size_t k) { return std::abs(values[k] - logged.logged); };
  Backtest all = logged;
  all.estimate = values[0];
  all.estimate_stderr = errors[0];
  std::size_t nearest = 0;
  if (gap(0) <= 2.0 * all.Noise()) return nearest;
  for (std::size_t k = 1; k < values.size(); ++k) {
    if (gap(k) < gap(nearest)) nearest = k;
  }
  return nearest;
}

std::vector<std::string> NoiseStage::Inputs::Hashes() const {
  std::vector<std::string> hashes = models.model_hashes;
  hashes.insert(hashes.end(), {log.hash, behavior.hash});
  return hashes;
}

void NoiseStage::Make(const Key& key, const Inputs& inputs, const StageWork& work) {
  RolloutOptions options = key.rollout;
  options.repetitions = kRepetitions;
  options.episodes = kEpisodes;
  options.member_episodes = options.visited_per_episode = 0;
  const std::int64_t count = kRepetitions * kEpisodes;
  const auto progress = work.StartProgress("choose the model's noise",
                                           count * std::ssize(std::span(kScales)), "episodes");
  const std::unique_ptr<TaskRules> rules =
      ModelTaskRules(key.task, inputs.task.env.get(), options.reward, inputs.models);
  const EpisodeBatch& log = inputs.log.log;
  const MatrixF starts = StartStatesFromLog(log, count, key.seed);
  const ClampRange range = RangeOfLog(log, options.clamp_margin);
  const Backtest logged = *LoggedValue(log, key.value, key.value.horizon);
  NoiseChoice choice;
  choice.logged = logged.logged;
  for (const double scale : kScales) {
    DynamicsEnsemble ensemble = DynamicsStage::Ensemble(inputs.dynamics);
    ensemble.ScaleNoise(static_cast<float>(scale));
    const RolloutInputs rollout{.dynamics = ensemble,
                                .ratios = {},
                                .policy = *inputs.behavior.policy,
                                .spec = inputs.task.spec,
                                .functions = *rules,
                                .start_states = starts,
                                .range = range};
    const ModelRollouts rollouts =
        RollOutInModel(rollout, options, key.value.horizon, key.seed, progress.get());
    const PlainModelEstimate estimate = EstimatePlainModel(rollouts.rewards, key.value);
    choice.scales.push_back(scale);
    choice.values.push_back(estimate.value);
    choice.errors.push_back(estimate.standard_error.value_or(0.0));
  }
  choice.chosen = choice.scales[ChooseNoise(choice.values, choice.errors, logged)];
  DynamicsEnsemble chosen = DynamicsStage::Ensemble(inputs.dynamics);
  chosen.ScaleNoise(static_cast<float>(choice.chosen));
  DynamicsStage::Save(chosen, work);
  NpzFile file;
  file.Put("scales", choice.scales);
  file.Put("values", choice.values);
  file.Put("errors", choice.errors);
  file.Put("logged_chosen", std::vector<double>{choice.logged, choice.chosen});
  file.Write(work.File(kChoiceFile));
}

NoiseChoice NoiseStage::Choice(const Artifact& artifact) {
  const NpzFile file = NpzFile::Read(artifact.File(kChoiceFile));
  const std::vector<double> rest = file.GetDoubles("logged_chosen");
  return {.scales = file.GetDoubles("scales"),
          .values = file.GetDoubles("values"),
          .errors = file.GetDoubles("errors"),
          .logged = rest.at(0),
          .chosen = rest.at(1)};
}

}  // namespace lfiw::experiments
