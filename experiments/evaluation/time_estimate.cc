#include "experiments/evaluation/time_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "core/parallel.h"
#include "core/run/progress.h"
#include "experiments/presentation/terminal_progress.h"
#include "models/classifier_fit.h"
#include "models/dynamics_fit.h"
#include "models/learned_function_fit.h"

namespace lfiw::experiments {
namespace {

// Steps of a trial: a few times the portion in which fits report them.
constexpr std::int64_t kTrialSteps = 200;

// Measures how fast fits side by side make their steps, from their first report on, so that what
// comes before the first step does not count.
class StepTimer : public Progress {
 public:
  void Advance(std::int64_t done) override {
    const std::lock_guard lock(mutex_);
    last_ = Clock::now();
    if (steps_ < 0) {
      first_ = last_;
      steps_ = 0;
    } else {
      steps_ += done;
    }
  }
  void Resume(std::int64_t /*done*/) override {}
  void Note(const std::string& /*text*/) override {}

  // Seconds for each step, whichever of the fits makes it; 0 where none was seen.
  double SecondsPerStep() const {
    const std::chrono::duration<double> elapsed = last_ - first_;
    return steps_ > 0 ? elapsed.count() / static_cast<double>(steps_) : 0.0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  Clock::time_point first_, last_;
  std::int64_t steps_ = -1;  // since the first report
};

// These options with so few steps that a trial costs nothing to speak of.
FitOptions TrialOf(const FitOptions& options) {
  FitOptions trial = options;
  trial.steps = trial.validate_every = kTrialSteps;
  trial.passes = 0.0;
  return trial;
}

std::int64_t SideBySide(std::int64_t fits) { return std::min<std::int64_t>(fits, Threads()); }

// Seconds of `fits` fits to `rows` training rows, of which as many as there are threads run side by
// side, by the timer of a trial.
double SecondsOf(std::int64_t fits, const FitOptions& options, double rows,
                 const StepTimer& timer) {
  const std::int64_t together = SideBySide(fits);
  const std::int64_t rounds = (fits + together - 1) / together;
  const std::int64_t steps = options.For(static_cast<std::int64_t>(rows)).steps;
  return static_cast<double>(rounds * together * steps) * timer.SecondsPerStep();
}

// Rows that a fit to the listed episodes trains on.
double TrainingRows(const EpisodeBatch& log, const std::vector<std::int64_t>& episodes,
                    double validation_share) {
  double rows = 0.0;
  for (const std::int64_t e : episodes) rows += static_cast<double>(log.Outcomes(e));
  return (1.0 - validation_share) * rows;
}

// The log's part of a task that is learned by networks of their own.
std::int64_t LearnedFunctions(const TaskOptions& task, const EpisodeBatch& log) {
  const bool ends = std::ranges::find(log.terminated, 1) != log.terminated.end();
  return (task.reward == RewardFunction::kLearned ? 1 : 0) +
         (task.termination == TerminationSource::kLearned && ends ? 1 : 0);
}

double TimeLearnedFunctions(const EvaluationConfig& config, const EpisodeBatch& log,
                            const LogSplit& split, std::int64_t functions) {
  LearnedFunctionOptions trial = config.task.learned;
  trial.fit = TrialOf(trial.fit);
  trial.members = SideBySide(trial.members);
  StepTimer timer;
  FitReward(log, split.dynamics, trial, config.seed, {.folder = "", .progress = &timer});
  const LearnedFunctionOptions& options = config.task.learned;
  return static_cast<double>(functions) *
         SecondsOf(options.members, options.fit,
                   TrainingRows(log, split.dynamics, options.validation_share), timer);
}

}  // namespace

std::vector<ExpectedFit> EstimateFits(const StageContext& context, const LogSource& log,
                                      const LogSplit& split, std::int64_t classifiers) {
  const EvaluationConfig& config = context.config;
  std::vector<ExpectedFit> times;

  DynamicsOptions dynamics = config.dynamics;
  dynamics.fit = TrialOf(dynamics.fit);
  dynamics.members = SideBySide(dynamics.members);
  StepTimer timer;
  const DynamicsFit model = FitDynamics(log.log, split.dynamics, dynamics, config.seed,
                                        {.folder = "", .progress = &timer});
  times.push_back(
      {fmt::format("{} dynamics {}", config.dynamics.members,
                   config.dynamics.members == 1 ? "model" : "models"),
       SecondsOf(config.dynamics.members, config.dynamics.fit,
                 TrainingRows(log.log, split.dynamics, config.dynamics.validation_share), timer)});

  if (const std::int64_t functions = LearnedFunctions(config.task, log.log); functions > 0) {
    times.push_back(
        {fmt::format("{} learned {}", functions, functions == 1 ? "function" : "functions"),
         TimeLearnedFunctions(config, log.log, split, functions)});
  }

  if (classifiers == 0) return times;
  ClassifierOptions classifier = config.classifiers.fit;
  classifier.fit = TrialOf(classifier.fit);
  StepTimer classifier_timer;
  ParallelFor(SideBySide(classifiers), [&](std::int64_t c) {
    FitClassifier(log.log, split.classifiers, model.ensemble, classifier, config.seed, c,
                  {.folder = "", .progress = &classifier_timer});
  });
  const ClassifierOptions& options = config.classifiers.fit;
  times.push_back({fmt::format("{} classifiers", classifiers),
                   SecondsOf(classifiers, options.fit,
                             TrainingRows(log.log, split.classifiers, options.validation_share),
                             classifier_timer)});
  return times;
}

std::string ExpectedFitsText(const std::vector<ExpectedFit>& times, std::int64_t threads) {
  double sum = 0.0;
  std::string parts;
  for (const ExpectedFit& time : times) {
    sum += time.seconds;
    parts +=
        fmt::format("{} {} {}", parts.empty() ? ":" : ",", time.what, FormatDuration(time.seconds));
  }
  return fmt::format("fits take at most about {} on {} {}{}", FormatDuration(sum), threads,
                     threads == 1 ? "thread" : "threads", parts);
}

}  // namespace lfiw::experiments
