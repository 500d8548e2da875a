// How costs grow: CPU seconds of one thread against the number of episodes, the horizon T, the
// dimensions of states, the members of an ensemble, and the number of policies.
//
//   growth_bench FOLDER
//
// prints the seconds at every size and the exponent that fits the three largest sizes, and writes
// one log-log plot for each quantity, FOLDER/growth_NAME.svg.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/index_list.h"
#include "core/logs/log_writer.h"
#include "core/logs/open_log.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "envs/linear_gaussian_env.h"
#include "experiments/presentation/plot.h"
#include "models/classifier_fit.h"
#include "models/dynamics_fit.h"
#include "ope/estimators/doubly_robust.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "ope/estimators/importance_sampling.h"
#include "ope/fits/model_values.h"
#include "ope/rollouts/lfiw.h"
#include "ope/rollouts/model_rollout.h"
#include "policies/gaussian_mlp_policy.h"

namespace lfiw::experiments {
namespace {

// One quantity that grows, and what it costs.
struct Curve {
  std::string label;
  std::vector<double> sizes, seconds;  // ascending sizes
};

struct Figure {
  std::string name;   // of the file
  std::string title;  // of the axis
  std::vector<Curve> curves;
};

double ProcessSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Least CPU seconds of a call: two calls, and more while they are short.
double LeastSeconds(const std::function<void()>& work) {
  double least = 1e9, total = 0.0;
  for (int round = 0; round < 2 || (total < 0.2 && round < 50); ++round) {
    const double begin = ProcessSeconds();
    work();
    const double seconds = ProcessSeconds() - begin;
    least = std::min(least, seconds);
    total += seconds;
  }
  return least;
}

// measure(size) returns seconds.
Curve Measure(const std::string& label, const std::vector<std::int64_t>& sizes,
              const std::function<double(std::int64_t)>& measure) {
  Curve curve{label, {}, {}};
  for (const std::int64_t size : sizes) {
    curve.sizes.push_back(static_cast<double>(size));
    curve.seconds.push_back(measure(size));
  }
  return curve;
}

// Slope of log seconds over log size by least squares, of the three largest sizes.
double Exponent(const Curve& curve) {
  const std::size_t n = curve.sizes.size(), begin = n - std::min<std::size_t>(n, 3);
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  const auto count = static_cast<double>(n - begin);
  for (std::size_t i = begin; i < n; ++i) {
    const double u = std::log(curve.sizes[i]), v = std::log(curve.seconds[i]);
    x += u / count;
    y += v / count;
    xx += u * u / count;
    xy += u * v / count;
  }
  return (xy - x * y) / (xx - x * x);
}

Array<double, 2> NormalArray(std::int64_t rows, std::int64_t columns, double scale,
                             Stream& stream) {
  Array<double, 2> array({rows, columns});
  stream.FillNormal(array.flat());
  for (double& value : array.flat()) value *= scale;
  return array;
}

// What estimators read, filled with noise.
EstimatorInputs NoiseInputs(std::int64_t episodes, std::int64_t steps) {
  Stream stream(1, "growth inputs");
  EstimatorInputs in;
  in.rewards = NormalArray(episodes, steps, 1.0, stream);
  in.lengths.assign(static_cast<std::size_t>(episodes), steps);
  in.terminated.assign(static_cast<std::size_t>(episodes), 0);
  const double spread = 0.5 / std::sqrt(static_cast<double>(steps));
  in.log_ratios["action"] = NormalArray(episodes, steps, spread, stream);
  in.log_ratios["model_visitation"] = NormalArray(episodes, steps, 0.3, stream);
  in.values["fqe"] = {
      NormalArray(episodes, steps, 1.0, stream), NormalArray(episodes, steps + 1, 1.0, stream), {}};
  in.values["model"] = in.values["fqe"];
  in.values["model"].v_fit = NormalArray(episodes, steps + 1, 1.0, stream);
  in.model_alive.assign(static_cast<std::size_t>(steps), 1.0);
  return in;
}

double EstimatorSeconds(const std::string& name, std::int64_t episodes, std::int64_t steps) {
  const EstimatorInputs inputs = NoiseInputs(episodes, steps);
  const Estimator estimator = StandardEstimators().Find(name);
  Estimand estimand;
  estimand.horizon = steps;
  return LeastSeconds([&] {
    if (!RunEstimator(estimator, inputs, estimand).value) {
      fmt::print(std::cerr, "{}: no value\n", name);
    }
  });
}

// A log of noise. The rewards and actions have nothing to do with the states: costs do not depend
// on what is learned.
EpisodeBatch NoiseLog(std::int64_t episodes, std::int64_t steps, std::int64_t obs_dim,
                      std::int64_t action_dim) {
  EpisodeBatch log;
  Stream stream(1, "growth log");
  const auto fill = [&stream](MatrixF& values, std::int64_t rows, std::int64_t cols) {
    values.resize(rows, cols);
    stream.FillNormal(std::span(values.data(), static_cast<std::size_t>(values.size())));
  };
  fill(log.observations, episodes * (steps + 1), obs_dim);
  fill(log.actions, episodes * steps, action_dim);
  log.aux.resize(episodes * steps, 0);
  log.rewards.resize(static_cast<std::size_t>(episodes * steps));
  stream.FillNormal(std::span<double>(log.rewards));
  log.terminated.assign(static_cast<std::size_t>(episodes), 0);
  for (std::int64_t e = 0; e < episodes; ++e) log.offsets.push_back((e + 1) * steps);
  return log;
}

double ReadingSeconds(std::int64_t episodes, std::int64_t steps, std::int64_t obs_dim) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("lfiw_growth_{}.npz", getpid()))
          .string();
  SaveLog(NoiseLog(episodes, steps, obs_dim, 6), path);
  const double seconds = LeastSeconds([&] { LoadLog(path); });
  std::filesystem::remove(path);
  return seconds;
}

// Seconds of one gradient step of every member.
double FitStepSeconds(std::int64_t obs_dim, std::int64_t members) {
  constexpr std::int64_t kFew = 10, kMany = 60;
  const EpisodeBatch log = NoiseLog(20, 50, obs_dim, 6);
  const auto seconds_of = [&](std::int64_t steps) {
    DynamicsOptions options;
    options.members = members;
    options.fit.steps = steps;
    return LeastSeconds([&] { FitDynamics(log, IndexList(log.episodes()), options, 1); });
  };
  return (seconds_of(kMany) - seconds_of(kFew)) / (kMany - kFew);
}

// A reward that costs next to nothing, of episodes that go on.
class FirstCoordinate final : public TaskRules {
 public:
  void Rewards(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/, ConstMatrixRef next_states,
               ConstMatrixRef /*aux*/, std::span<double> rewards) const override {
    for (std::size_t i = 0; i < rewards.size(); ++i) {
      rewards[i] = next_states(static_cast<Eigen::Index>(i), 0);
    }
  }
  void Terminated(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/,
                  ConstMatrixRef /*next_states*/,
                  std::span<std::uint8_t> terminated) const override {
    std::ranges::fill(terminated, std::uint8_t{0});
  }
};

// A model of the paper's size that has seen one step of training, with one classifier: how well
// they fit does not change what they cost.
class Model {
 public:
  Model(std::int64_t obs_dim, std::int64_t action_dim, std::int64_t members, std::int64_t steps,
        std::int64_t width)
      : env_(MakeLinearGaussianFactory(ZeroLinearGaussian(obs_dim, action_dim))),
        log_(NoiseLog(20, steps, obs_dim, action_dim)),
        range_(RangeOfLog(log_, 0.1)) {
    DynamicsOptions dynamics;
    dynamics.members = members;
    dynamics.fit.steps = 1;
    dynamics.network.width = width;
    dynamics_.emplace(FitDynamics(log_, IndexList(log_.episodes()), dynamics, 1));
    ClassifierOptions classifier;
    classifier.fit.steps = 1;
    classifier.network.width = width;
    classifier_.emplace(
        FitClassifier(log_, IndexList(log_.episodes()), dynamics_->ensemble, classifier, 1, 0)
            .classifier);
    ratios_ = {&*classifier_};
  }

  GaussianMlpPolicy Policy(std::uint64_t seed) const {
    const EnvSpec& spec = env_->spec();
    TanhMlp mlp({spec.obs_dim, 64, 64, spec.action_dim});
    VectorF parameters = VectorF::Zero(mlp.parameter_count());
    mlp.Initialize(Stream(seed, "policy"), 1.4, 0.01, parameters.data());
    return {mlp, parameters, VectorF::Zero(spec.action_dim),
            ObservationNormalizer(spec.obs_dim, 10), "growth"};
  }

  // Rolls out, weighs and estimates at every horizon, for each of `policies` policies.
  double EvaluationSeconds(std::int64_t episodes, std::int64_t steps, std::int64_t policies) const {
    RolloutOptions options;
    options.repetitions = 1;
    options.episodes = episodes;
    const MatrixF starts = StartStatesFromLog(log_, episodes, 1);
    return LeastSeconds([&] {
      for (std::int64_t p = 0; p < policies; ++p) {
        const GaussianMlpPolicy policy = Policy(static_cast<std::uint64_t>(p));
        const RolloutInputs inputs{
            dynamics_->ensemble, ratios_, policy, env_->spec(), rules_, starts, range_};
        const ModelRollouts rollouts = RollOutInModel(inputs, options, steps, 1, nullptr);
        EstimateLfiw(rollouts.rewards, rollouts.log_weights, {}, {});
      }
    });
  }

  // Fits what dr_lfiw takes from the model, with rollouts but hardly any gradient steps.
  double ModelValuesSeconds(std::int64_t steps) const {
    ModelValueOptions options;
    options.starts = 20;
    options.trajectories = 4;
    options.draws = 2;
    options.value.fit.steps = 10;
    options.ratio.fit.steps = 10;
    const GaussianMlpPolicy policy = Policy(1);
    const MatrixF no_starts;
    const RolloutInputs inputs{dynamics_->ensemble, {},    policy, env_->spec(), rules_,
                               no_starts,           range_};
    return LeastSeconds([&] {
      FitModelValues(inputs, nullptr, log_, IndexList(log_.episodes()), steps, 0.99, options, 1);
    });
  }

 private:
  std::shared_ptr<const EnvFactory> env_;
  FirstCoordinate rules_;
  EpisodeBatch log_;
  ClampRange range_;
  std::optional<DynamicsFit> dynamics_;
  std::optional<RatioClassifier> classifier_;
  std::vector<const TransitionRatio*> ratios_;
};

Figure AgainstEpisodes() {
  const std::vector<std::int64_t> sizes = {100, 300, 1000, 3000, 10'000};
  Figure figure{"episodes", "episodes of 100 steps", {}};
  for (const std::string name : {"wis", "wpdis", "wdr_fqe", "dr_lfiw"}) {
    figure.curves.push_back(Measure(
        name, sizes, [&](std::int64_t episodes) { return EstimatorSeconds(name, episodes, 100); }));
  }
  figure.curves.push_back(
      Measure("reading a log of 17 observations", sizes,
              [](std::int64_t episodes) { return ReadingSeconds(episodes, 100, 17); }));
  const Model model(17, 6, 5, 20, 500);
  figure.curves.push_back(
      Measure("model rollouts, weights, all horizons", {10, 30, 100, 300},
              [&](std::int64_t episodes) { return model.EvaluationSeconds(episodes, 100, 1); }));
  return figure;
}

Figure AgainstHorizon() {
  const std::vector<std::int64_t> sizes = {10, 30, 100, 300, 1000};
  Figure figure{"horizon", "horizon T, 1000 episodes (rollouts: 30)", {}};
  for (const std::string name : {"wis", "wpdis", "wdr_fqe", "dr_lfiw"}) {
    figure.curves.push_back(Measure(
        name, sizes, [&](std::int64_t steps) { return EstimatorSeconds(name, 1000, steps); }));
  }
  figure.curves.push_back(
      Measure("reading a log of 17 observations", sizes,
              [](std::int64_t steps) { return ReadingSeconds(1000, steps, 17); }));
  const Model model(17, 6, 5, 20, 500);
  figure.curves.push_back(
      Measure("model rollouts, weights, all horizons", sizes,
              [&](std::int64_t steps) { return model.EvaluationSeconds(30, steps, 1); }));
  figure.curves.push_back(Measure(
      "fit of dr_lfiw's functions", {10, 30, 100, 300, 1000},
      [](std::int64_t steps) { return Model(4, 2, 2, steps, 32).ModelValuesSeconds(steps); }));
  return figure;
}

Figure AgainstDimensions() {
  const std::vector<std::int64_t> sizes = {4, 16, 64, 256, 1024};
  Figure figure{"dimensions", "dimensions of states", {}};
  figure.curves.push_back(Measure("dynamics fit step, 3 x 500", sizes,
                                  [](std::int64_t dim) { return FitStepSeconds(dim, 1); }));
  figure.curves.push_back(Measure(
      "model rollouts of 30 episodes of 20 steps", sizes,
      [](std::int64_t dim) { return Model(dim, 6, 5, 20, 500).EvaluationSeconds(30, 20, 1); }));
  figure.curves.push_back(Measure("reading a log of 20,000 steps", sizes,
                                  [](std::int64_t dim) { return ReadingSeconds(200, 100, dim); }));
  return figure;
}

Figure AgainstMembers() {
  const std::vector<std::int64_t> sizes = {1, 2, 4, 8, 16};
  Figure figure{"members", "members of the ensemble", {}};
  figure.curves.push_back(
      Measure("dynamics fit step, 3 x 500, HalfCheetah's size", sizes,
              [](std::int64_t members) { return FitStepSeconds(17, members); }));
  figure.curves.push_back(
      Measure("model rollouts of 100 episodes of 20 steps", sizes, [](std::int64_t members) {
        return Model(17, 6, members, 20, 500).EvaluationSeconds(100, 20, 1);
      }));
  return figure;
}

Figure AgainstPolicies() {
  Figure figure{"policies", "policies evaluated in one model", {}};
  const Model model(17, 6, 5, 20, 500);
  figure.curves.push_back(
      Measure("model rollouts of 30 episodes of 20 steps, weights, all horizons", {1, 2, 4, 8},
              [&](std::int64_t policies) { return model.EvaluationSeconds(30, 20, policies); }));
  return figure;
}

void Print(const Figure& figure) {
  for (const Curve& curve : figure.curves) {
    fmt::print("| {} | {} |", figure.title, curve.label);
    for (std::size_t i = 0; i < curve.sizes.size(); ++i) {
      fmt::print("{} {:.0f}: {:.3g}", i == 0 ? "" : ",", curve.sizes[i], 1e3 * curve.seconds[i]);
    }
    fmt::print(" | {:.2f} |\n", Exponent(curve));
  }
  std::fflush(stdout);
}

void Draw(const Figure& figure, const std::filesystem::path& folder) {
  Plot plot{.title = "Cost and, in brackets, exponent at the largest sizes",
            .x_label = figure.title,
            .y_label = "CPU seconds of one thread",
            .x_scale = PlotScale::kLog,
            .y_scale = PlotScale::kLog};
  for (const Curve& curve : figure.curves) {
    plot.series.push_back({.label = fmt::format("{} ({:.2f})", curve.label, Exponent(curve)),
                           .x = curve.sizes,
                           .y = curve.seconds});
  }
  std::ofstream(folder / ("growth_" + figure.name + ".svg")) << RenderSvg(plot, {.height = 560});
}

int Run(const std::filesystem::path& folder) {
  SetThreads(1);
  std::filesystem::create_directories(folder);
  fmt::print("| against | cost | milliseconds by size | exponent |\n| --- | --- | --- | --- |\n");
  for (const auto& make :
       {AgainstEpisodes, AgainstHorizon, AgainstDimensions, AgainstMembers, AgainstPolicies}) {
    const Figure figure = make();
    Print(figure);
    Draw(figure, folder);
  }
  return 0;
}

}  // namespace
}  // namespace lfiw::experiments

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(std::cerr, "usage: growth_bench FOLDER\n");
    return 2;
  }
  return lfiw::experiments::Run(argv[1]);
}
