#include "models/image/training.h"

#include <chrono>
#include <cmath>
#include <filesystem>

#include "core/config/config.h"
#include "core/error.h"
#include "models/fit_identity.h"

namespace lfiw::models {
namespace {

using Clock = std::chrono::steady_clock;

// What training carries from step to step beside the problem's own.
struct State {
  std::int64_t step = 0;    // done
  std::vector<double> sum;  // of the figures since the last entry
  std::int64_t steps_summed = 0;
  TrainingHistory history;
};

std::string Identity(const FitJob& job, const ImageTrainingOptions& options) {
  return fmt::format("{}; {}; on {}; {}", job.name, job.identity,
                     EnumName(ResolveDevice(options.device)), CanonicalText(options));
}

void WriteCheckpoint(const std::string& path, const std::string& identity, const State& state,
                     const TrainingProblem& problem) {
  NpzFile file;
  file.Put("identity", identity);
  file.Put("counters", std::vector<std::int64_t>{state.step, state.steps_summed});
  file.Put("sum", state.sum);
  file.Put("history.steps", state.history.steps);
  file.Put("history.values", state.history.values);
  problem.Save(file);
  file.Write(path);
}

void ReadCheckpoint(const std::string& path, const std::string& identity, State& state,
                    TrainingProblem& problem) {
  const NpzFile file = NpzFile::Read(path);
  if (const std::string found = file.GetText("identity"); found != identity) {
    Throw<DataError>("{}: is the checkpoint of another training ({}); remove it to start anew",
                     path, IdentityDifference(found, identity));
  }
  const auto counters = file.GetIntegers("counters");
  state.sum = file.GetDoubles("sum");
  state.history.steps = file.GetIntegers("history.steps");
  state.history.values = file.GetDoubles("history.values");
  if (counters.size() != 2 ||
      state.history.values.size() != state.history.steps.size() * state.history.names.size()) {
    Throw<DataError>("{}: damaged checkpoint; remove it to start anew", path);
  }
  state.step = counters[0];
  state.steps_summed = counters[1];
  problem.Load(file);
}

// One step, its figures added to the sums.
void Advance(TrainingProblem& problem, const FitJob& job, State& state) {
  const std::vector<double> figures = problem.Step(state.step);
  state.sum.resize(figures.size(), 0.0);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (!std::isfinite(figures[i])) {
      Throw<NumericError>(
          "{}: {} is {} at step {}, expected a finite number; a lower learning rate may help",
          job.name, state.history.names[i], figures[i], state.step);
    }
    state.sum[i] += figures[i];
  }
  ++state.step;
  ++state.steps_summed;
}

void AddEntry(TrainingProblem& problem, const FitJob& job, State& state) {
  std::vector<double> figures;
  for (double& sum : state.sum) {
    figures.push_back(sum / static_cast<double>(state.steps_summed));
    sum = 0.0;
  }
  state.steps_summed = 0;
  const std::vector<double> held_out = problem.Evaluate();
  figures.insert(figures.end(), held_out.begin(), held_out.end());
  TrainingHistory& history = state.history;
  LFIW_ASSERT(figures.size() == history.names.size());
  history.steps.push_back(state.step);
  history.values.insert(history.values.end(), figures.begin(), figures.end());
  if (job.progress == nullptr) return;
  std::string note;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    note += fmt::format("{}{} {:.3g}", i == 0 ? "" : ", ", history.names[i], figures[i]);
  }
  job.progress->Note(note);
}

}  // namespace

void CheckOptions(const ImageTrainingOptions& options, const std::string& path) {
  if (options.chunks > options.batch) {
    Throw<ConfigError>("{}.chunks is {}, expected at most {}.batch, which is {}", path,
                       options.chunks, path, options.batch);
  }
  ResolveDevice(options.device);
}

TrainingHistory Train(TrainingProblem& problem, const ImageTrainingOptions& options,
                      const FitJob& job) {
  State state;
  state.history.names = problem.FigureNames();
  const std::string identity = Identity(job, options);
  if (!job.checkpoint.empty() && std::filesystem::exists(job.checkpoint)) {
    ReadCheckpoint(job.checkpoint, identity, state, problem);
  }
  const auto checkpoint = [&] {
    if (!job.checkpoint.empty()) WriteCheckpoint(job.checkpoint, identity, state, problem);
  };
  if (job.progress != nullptr) job.progress->Resume(state.step);
  if (state.step >= options.steps) return state.history;

  const auto period = std::chrono::duration<double>(job.checkpoint_seconds);
  auto last_checkpoint = Clock::now();
  while (state.step < options.steps) {
    if (InterruptRequested()) {
      checkpoint();
      throw Interrupted();
    }
    Advance(problem, job, state);
    if (state.step % options.report_every == 0 || state.step == options.steps) {
      AddEntry(problem, job, state);
    }
    if (job.progress != nullptr) job.progress->Advance(1);
    if (Clock::now() - last_checkpoint >= period && state.step < options.steps) {
      checkpoint();
      last_checkpoint = Clock::now();
    }
  }
  checkpoint();
  return state.history;
}

}  // namespace lfiw::models
