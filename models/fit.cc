#include "models/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "core/arrays/npz.h"
#include "core/config/config.h"
#include "core/error.h"
#include "models/fit_identity.h"

namespace lfiw::models {
namespace {

constexpr std::int64_t kNotYet = -1;

// Everything that a fit carries from one step to the next, beside the parameters themselves.
struct State {
  std::int64_t step = 0;  // gradient steps done
  double loss_sum = 0.0;  // of the steps since the last validation
  std::int64_t steps_summed = 0;
  std::int64_t cooldown_from = kNotYet;  // step at which the cooldown begins
  std::int64_t cooldown = 0;             // its steps
  VectorF best_parameters;
  FitSummary summary{.best_step = 0,
                     .best_validation_loss = std::numeric_limits<double>::infinity(),
                     .history = {}};
};

std::string Identity(const FitJob& job, const FitOptions& options, const VectorF& parameters) {
  return fmt::format("{}; {}; {} parameters; {}", job.name, job.identity, parameters.size(),
                     CanonicalText(options));
}

void WriteCheckpoint(const std::string& path, const std::string& identity, const State& state,
                     const VectorF& parameters, const Adam& adam) {
  const FitSummary& summary = state.summary;
  NpzFile file;
  file.Put("identity", identity);
  file.Put("counters", std::vector<std::int64_t>{state.step, state.steps_summed, summary.best_step,
                                                 state.cooldown_from, state.cooldown});
  file.Put("losses", std::vector<double>{state.loss_sum, summary.best_validation_loss});
  file.Put("parameters", parameters);
  file.Put("best_parameters", state.best_parameters);
  file.Put("history.steps", summary.history.steps);
  file.Put("history.train_loss", summary.history.train_loss);
  file.Put("history.validation_loss", summary.history.validation_loss);
  adam.Save("adam", file);
  file.Write(path);
}

State ReadCheckpoint(const std::string& path, const std::string& identity, VectorF& parameters,
                     Adam& adam) {
  const NpzFile file = NpzFile::Read(path);
  if (const std::string found = file.GetText("identity"); found != identity) {
    Throw<DataError>("{}: is the checkpoint of another fit ({}); remove it to start anew", path,
                     IdentityDifference(found, identity));
  }
  const auto counters = file.GetIntegers("counters");
  const auto losses = file.GetDoubles("losses");
  const VectorF saved = file.GetVector("parameters");
  State state;
  state.best_parameters = file.GetVector("best_parameters");
  if (counters.size() != 5 || losses.size() != 2 || saved.size() != parameters.size() ||
      state.best_parameters.size() != parameters.size()) {
    Throw<DataError>("{}: damaged checkpoint; remove it to start anew", path);
  }
  parameters = saved;
  adam.Load(file, "adam");
  state.step = counters[0];
  state.steps_summed = counters[1];
  state.cooldown_from = counters[3];
  state.cooldown = counters[4];
  state.loss_sum = losses[0];
  state.summary = {.best_step = counters[2],
                   .best_validation_loss = losses[1],
                   .history = {.steps = file.GetIntegers("history.steps"),
                               .train_loss = file.GetDoubles("history.train_loss"),
                               .validation_loss = file.GetDoubles("history.validation_loss")}};
  return state;
}

void RequireFinite(double loss, const char* what, const FitJob& job, std::int64_t step) {
  if (std::isfinite(loss)) return;
  Throw<NumericError>(
      "{}: {} loss is {} at step {}, expected a finite number; a lower learning "
      "rate or a clipped gradient may help",
      job.name, what, loss, step);
}

void ValidateStep(FitProblem& problem, const FitJob& job, State& state) {
  const double loss = problem.ValidationLoss();
  RequireFinite(loss, "validation", job, state.step);
  FitSummary& summary = state.summary;
  summary.history.steps.push_back(state.step);
  summary.history.train_loss.push_back(state.loss_sum / static_cast<double>(state.steps_summed));
  summary.history.validation_loss.push_back(loss);
  state.loss_sum = 0.0;
  state.steps_summed = 0;
  if (loss < summary.best_validation_loss) {
    summary.best_validation_loss = loss;
    summary.best_step = state.step;
    state.best_parameters = problem.parameters();
  }
}

// When a fit cools down and ends.
class Schedule {
 public:
  Schedule(const FitOptions& options, bool may_stop)
      : options_(options), patience_(may_stop ? options.patience : 0) {}

  // Steps to be made in all, as far as is known.
  std::int64_t Steps(const State& state) const {
    return state.cooldown_from == kNotYet ? options_.steps : state.cooldown_from + state.cooldown;
  }
  // The learning rate of the next step, which may be the first of the cooldown.
  double Rate(State& state) const {
    const std::int64_t last = ShareOf(options_.steps);
    if (state.cooldown_from == kNotYet && last > 0 && state.step >= options_.steps - last) {
      state.cooldown_from = state.step;
      state.cooldown = options_.steps - state.step;
    }
    if (state.cooldown_from == kNotYet) return options_.adam.learning_rate;
    const double done =
        static_cast<double>(state.step - state.cooldown_from) / static_cast<double>(state.cooldown);
    return options_.adam.learning_rate * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  }
  // After a validation: goes back to the best parameters where patience has run out.
  void Judge(State& state, VectorF& parameters) const {
    const std::int64_t best = state.summary.best_step;
    if (patience_ == 0 || state.cooldown_from != kNotYet || state.step - best < patience_) return;
    state.cooldown_from = state.step;
    // as long a cooldown as a fit of just the steps to the best would have had
    const double share = options_.cooldown;
    const double steps = share < 1.0 ? share / (1.0 - share) * static_cast<double>(best) : 0.0;
    state.cooldown = std::min(static_cast<std::int64_t>(steps), options_.steps - state.step);
    parameters = state.best_parameters;
  }

 private:
  std::int64_t ShareOf(std::int64_t steps) const {
    return static_cast<std::int64_t>(std::llround(options_.cooldown * static_cast<double>(steps)));
  }

  const FitOptions& options_;
  std::int64_t patience_;
};

// Reports steps in portions, so that small fits do not spend their time on it.
class Ticker {
 public:
  explicit Ticker(Progress* progress) : progress_(progress) {}
  ~Ticker() { Flush(); }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  void Add(std::int64_t steps) {
    pending_ += steps;
    if (pending_ >= 50) Flush();
  }

 private:
  void Flush() {
    if (progress_ != nullptr && pending_ > 0) progress_->Advance(pending_);
    pending_ = 0;
  }
  Progress* progress_;
  std::int64_t pending_ = 0;
};

}  // namespace

FitOptions FitOptions::For(std::int64_t rows) const {
  FitOptions options = *this;
  if (passes == 0.0 || rows == 0) return options;
  const double worth = std::ceil(passes * static_cast<double>(rows) / static_cast<double>(batch));
  const auto most = static_cast<double>(steps);
  options.steps = static_cast<std::int64_t>(
      std::clamp(worth, std::min(static_cast<double>(kFewestSteps), most), most));
  return options;
}

FitJob FitJob::Of(const FitRun& run, std::string name, std::string identity,
                  const std::string& file) {
  return {.name = std::move(name),
          .identity = std::move(identity),
          .checkpoint = run.folder.empty() ? "" : run.folder + "/" + file,
          .checkpoint_seconds = run.checkpoint_seconds,
          .progress = run.progress,
          .kept = KeptParameters::kBestValidation};
}

FitSummary Fit(FitProblem& problem, const FitOptions& most, const FitJob& job) {
  using Clock = std::chrono::steady_clock;
  const FitOptions options = most.For(problem.training_rows());
  VectorF& parameters = problem.parameters();
  Adam adam(parameters.size(), options.adam);
  State state{.best_parameters = parameters};
  const std::string identity = Identity(job, options, parameters);
  if (!job.checkpoint.empty() && std::filesystem::exists(job.checkpoint)) {
    state = ReadCheckpoint(job.checkpoint, identity, parameters, adam);
  }
  const auto checkpoint = [&] {
    if (!job.checkpoint.empty()) {
      WriteCheckpoint(job.checkpoint, identity, state, parameters, adam);
    }
  };

  if (job.progress != nullptr) {
    job.progress->Skip(most.steps - options.steps);
    job.progress->Resume(state.step);
  }
  Ticker ticker(job.progress);
  VectorF gradient(parameters.size());
  const auto period = std::chrono::duration<double>(job.checkpoint_seconds);
  auto last_checkpoint = Clock::now();
  const Schedule schedule(options, job.kept == KeptParameters::kBestValidation);
  const bool resumed_finished = state.step >= schedule.Steps(state);
  while (state.step < schedule.Steps(state)) {
    if (InterruptRequested()) {
      checkpoint();
      throw Interrupted();
    }
    adam.set_learning_rate(schedule.Rate(state));
    const double loss = problem.LossGradient(state.step, gradient);
    RequireFinite(loss, "training", job, state.step);
    adam.Step(gradient, parameters);
    ++state.step;
    state.loss_sum += loss;
    ++state.steps_summed;
    if (state.step % options.validate_every == 0 || state.step == schedule.Steps(state)) {
      ValidateStep(problem, job, state);
      schedule.Judge(state, parameters);
    }
    ticker.Add(1);
    if (Clock::now() - last_checkpoint >= period && state.step < schedule.Steps(state)) {
      checkpoint();
      last_checkpoint = Clock::now();
    }
  }
  if (job.progress != nullptr) job.progress->Skip(options.steps - state.step);
  if (!resumed_finished) checkpoint();
  if (job.kept == KeptParameters::kBestValidation) parameters = state.best_parameters;
  return state.summary;
}

}  // namespace lfiw::models
