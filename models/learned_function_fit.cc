#include "models/learned_function_fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "models/calibration.h"
#include "models/episode_split.h"
#include "models/fit_identity.h"
#include "models/losses.h"
#include "models/row_fit.h"
#include "models/transition_view.h"

namespace lfiw::models {
namespace {

using Episodes = std::vector<std::int64_t>;

std::string Name(FunctionKind kind) { return std::string(EnumName(kind)); }

bool Terminates(const EpisodeBatch& log, std::int64_t episode) {
  return log.terminated[static_cast<std::size_t>(episode)] != 0;
}

// Episodes that are split and resampled apart: for a termination those that end and the others.
// Episodes without steps are left out.
std::vector<Episodes> Classes(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                              FunctionKind kind) {
  std::vector<Episodes> classes(2);
  for (const std::int64_t e : episodes) {
    if (log.Length(e) == 0) continue;
    const bool ends = kind == FunctionKind::kTermination && Terminates(log, e);
    classes[ends ? 1 : 0].push_back(e);
  }
  return classes;
}

std::int64_t CountDistinct(const Episodes& episodes) {
  return std::ssize(std::set<std::int64_t>(episodes.begin(), episodes.end()));
}

// Holds out a share of each class; a single episode of its class is trained on.
EpisodeSplit Split(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                   FunctionKind kind, double share, std::uint64_t seed) {
  const Stream stream(seed, Name(kind) + " held-out episodes");
  EpisodeSplit split;
  std::uint64_t index = 0;
  for (const Episodes& part : Classes(log, episodes, kind)) {
    EpisodeSplit own{.train = part, .validation = {}};
    if (CountDistinct(part) >= 2) {
      own = SplitEpisodes(part, share, stream.Child(index), Name(kind).c_str());
    }
    split.train.insert(split.train.end(), own.train.begin(), own.train.end());
    split.validation.insert(split.validation.end(), own.validation.begin(), own.validation.end());
    ++index;
  }
  if (split.validation.empty()) {
    Throw<DataError>(
        "{}: {} distinct episodes with steps are too few to hold one out, expected at least 2{}",
        EnumName(kind), CountDistinct(split.train),
        kind == FunctionKind::kTermination ? " that terminate or 2 that do not" : "");
  }
  return split;
}

Episodes Resample(const EpisodeBatch& log, const Episodes& episodes, FunctionKind kind,
                  Stream stream) {
  Episodes drawn;
  for (const Episodes& part : Classes(log, episodes, kind)) {
    for (std::size_t i = 0; i < part.size(); ++i) drawn.push_back(part[stream.Below(part.size())]);
  }
  return drawn;
}

// The steps whose outcome, or end, is known.
std::vector<std::int64_t> LearnableSteps(const EpisodeBatch& log,
                                         std::span<const std::int64_t> episodes) {
  const TransitionView view(log, episodes, TransitionRows::kEnds);
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < view.size(); ++i) steps.push_back(view.Step(i));
  return steps;
}

// The step's reward, or 1 where it ends the episode; [steps of the log].
std::vector<double> Targets(const EpisodeBatch& log, FunctionKind kind) {
  if (kind == FunctionKind::kReward) return log.rewards;
  std::vector<double> labels(static_cast<std::size_t>(log.steps()), 0.0);
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    if (log.Length(e) == 0 || !Terminates(log, e)) continue;
    labels[static_cast<std::size_t>(log.offsets[static_cast<std::size_t>(e) + 1] - 1)] = 1.0;
  }
  return labels;
}

// Mean and deviation of the targets of the listed steps. Sums are of differences from the first,
// which makes the mean of equal values exact; their deviation is 0.
OutputScale MeasureOutput(const std::vector<double>& targets,
                          const std::vector<std::int64_t>& steps, const ScalerOptions& options) {
  const auto n = static_cast<double>(steps.size());
  const auto value = [&](std::int64_t step) { return targets[static_cast<std::size_t>(step)]; };
  const double first = value(steps.front());
  double mean = 0.0, square = 0.0, largest = 0.0;
  for (const std::int64_t step : steps) mean += (value(step) - first) / n;
  for (const std::int64_t step : steps) {
    square += std::pow(value(step) - first - mean, 2) / n;
    largest = std::max(largest, std::abs(value(step)));
  }
  const double floor = std::max(options.absolute_floor, options.relative_floor * largest);
  const double deviation = std::sqrt(square);
  return {first + mean, deviation > floor ? deviation : 0.0};
}

// The log as networks see it, one row per step.
struct Samples {
  Samples(const EpisodeBatch& log, const TransitionScaler& scales,
          const std::vector<double>& values, const OutputScale& output)

      : data(log, IndexList(log.episodes()), TransitionRows::kAllSteps),
        scaler(scales),
        targets(values.size()) {
    std::ranges::transform(values, targets.begin(), [&](double value) {
      return static_cast<float>((value - output.mean) / output.deviation);
    });
  }

  void Gather(std::span<const std::int64_t> steps, FitRows& out) const {
    Transitions rows;
    data.Gather(steps, rows);
    out.inputs.resize(rows.size(), scaler.input_dim());
    out.targets.resize(rows.size(), 1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      out.targets(static_cast<Eigen::Index>(i), 0) = targets[static_cast<std::size_t>(steps[i])];
    }
    scaler.Scale(rows.states, rows.actions, rows.next_states, out.inputs);
  }

  TransitionView data;
  const TransitionScaler& scaler;
  std::vector<float> targets;
};

// Steps that are drawn in equal numbers with other strata but count with their share of all.
struct Stratum {
  std::vector<std::int64_t> steps;
  double share = 1.0;
};

// Rewards are one stratum; the steps that end an episode and the others are two.
std::vector<Stratum> Stratify(const std::vector<double>& targets, FunctionKind kind,
                              const std::vector<std::int64_t>& steps) {
  if (kind == FunctionKind::kReward) return {{steps, 1.0}};
  std::vector<Stratum> strata(2);
  for (const std::int64_t step : steps) {
    const bool ends = targets[static_cast<std::size_t>(step)] != 0.0;
    strata[ends ? 1 : 0].steps.push_back(step);
  }
  std::erase_if(strata, [](const Stratum& stratum) { return stratum.steps.empty(); });
  for (Stratum& stratum : strata) {
    stratum.share = static_cast<double>(stratum.steps.size()) / static_cast<double>(steps.size());
  }
  return strata;
}

// Consecutive rows of a batch that stand for one stratum.
struct Section {
  std::int64_t begin = 0;
  std::int64_t rows = 0;
  double share = 1.0;
};

// Returns the mean loss of strata that are sections of the rows, weighted by their shares.
RowFit::Loss LossOf(FunctionKind kind, std::vector<Section> sections) {
  return [kind, sections = std::move(sections)](ConstMatrixRef outputs, const MatrixF& targets,
                                                MatrixF& gradient) {
    double sum = 0.0;
    for (const auto& [begin, rows, share] : sections) {
      auto part = gradient.middleRows(begin, rows);
      const auto out = outputs.middleRows(begin, rows);
      const auto target = targets.middleRows(begin, rows);
      sum += share * (kind == FunctionKind::kReward ? SquaredError(out, target, part)
                                                    : LogisticLoss(out, target, part));
      part *= static_cast<float>(share);
    }
    return sum;
  };
}

// Cuts a batch into sections of equal size, one for each stratum.
std::vector<Section> SectionsOfBatch(const std::vector<Stratum>& strata, std::int64_t batch) {
  const std::int64_t parts = std::ssize(strata);
  std::vector<Section> sections;
  for (std::int64_t k = 0; k < parts; ++k) {
    const std::int64_t begin = batch * k / parts, end = batch * (k + 1) / parts;
    sections.push_back({begin, end - begin, strata[static_cast<std::size_t>(k)].share});
  }
  return sections;
}

// Draws the rows of each section from its stratum.
RowFit::Draw DrawFrom(const Samples& samples, std::vector<Stratum> strata,
                      std::vector<Section> sections, Stream batches) {
  return [&samples, strata = std::move(strata), sections = std::move(sections), batches](
             std::int64_t step, FitRows& out) {
    Stream stream = batches.Child(static_cast<std::uint64_t>(step));
    std::vector<std::int64_t> picked;
    for (std::size_t k = 0; k < strata.size(); ++k) {
      const auto& steps = strata[k].steps;
      for (std::int64_t i = 0; i < sections[k].rows; ++i) {
        picked.push_back(steps[stream.Below(steps.size())]);
      }
    }
    samples.Gather(picked, out);
  };
}

// What the members' tasks share.
struct MemberInputs {
  const EpisodeBatch& log;
  const Samples& samples;
  const std::vector<double>& targets;
  const Episodes& train;
  const std::vector<Stratum>& validation;
  FunctionKind kind;
  const LearnedFunctionOptions& options;
  std::uint64_t seed;
  const std::vector<Episodes>& skipped;  // [members], or empty
};

// The episodes that each member leaves out: those that are asked for, or none where a class of the
// training episodes would be empty without them.
std::vector<Episodes> SkippedOf(const EpisodeBatch& log, const Episodes& train, FunctionKind kind,
                                std::vector<Episodes> skipped) {
  const auto all = Classes(log, train, kind);
  for (Episodes& own : skipped) {
    const auto left = Classes(log, EpisodesWithout(train, own), kind);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (left[k].empty() && !all[k].empty()) own.clear();
    }
  }
  return skipped;
}

RowFit MakeProblem(const MemberInputs& in, std::uint64_t member, Mlp& network) {
  const std::string kind = Name(in.kind);
  const Episodes train_episodes =
      in.skipped.empty() ? in.train : EpisodesWithout(in.train, in.skipped[member]);
  const Episodes own =
      Resample(in.log, train_episodes, in.kind, Stream(in.seed, kind + " bootstrap", {member}));
  std::vector<Stratum> train = Stratify(in.targets, in.kind, LearnableSteps(in.log, own));
  std::vector<Section> sections = SectionsOfBatch(train, in.options.fit.batch);
  std::vector<Section> held_out;
  std::vector<std::int64_t> steps;
  for (const Stratum& stratum : in.validation) {
    held_out.push_back({std::ssize(steps), std::ssize(stratum.steps), stratum.share});
    steps.insert(steps.end(), stratum.steps.begin(), stratum.steps.end());
  }
  FitRows validation;
  in.samples.Gather(steps, validation);
  RowFit::Loss loss = LossOf(in.kind, sections);
  std::int64_t training_rows = 0;
  for (const Stratum& stratum : train) training_rows += std::ssize(stratum.steps);
  RowFit problem(network,
                 DrawFrom(in.samples, std::move(train), std::move(sections),
                          Stream(in.seed, kind + " batch", {member})),
                 std::move(loss), std::move(validation), LossOf(in.kind, std::move(held_out)));
  problem.set_training_rows(training_rows);
  return problem;
}

// At most `rows` validation steps, spread evenly over the strata; their shares stay.
std::vector<Stratum> ValidationStrata(std::vector<Stratum> strata, std::int64_t rows,
                                      Stream stream) {
  const std::int64_t each = std::max<std::int64_t>(1, rows / std::ssize(strata));
  std::uint64_t index = 0;
  for (Stratum& stratum : strata) {
    stratum.steps = Subsample(stratum.steps, each, stream.Child(index++));
  }
  return strata;
}

std::vector<Mlp> FitMembers(const MemberInputs& in, const FitRun& run,
                            std::vector<FitSummary>& summaries) {
  const std::string kind = Name(in.kind);
  std::vector<Mlp> networks = MakeNetworks(in.options.members, in.samples.scaler.input_dim(), 1,
                                           in.options.network, in.seed, kind + " weights");
  std::string rows =
      fmt::format("{}; {} steps", EpisodesText(in.train), LearnableSteps(in.log, in.train).size());
  for (const Episodes& own : in.skipped) rows += "; without " + EpisodesText(own);
  const EnsembleJob job{
      .name = kind + " member", .identity = FitIdentity(in.options, in.seed, rows), .file = kind};
  const auto make = [&](std::int64_t k) {
    const auto member = static_cast<std::size_t>(k);
    return MakeProblem(in, member, networks[member]);
  };
  summaries = FitEnsemble(in.options.members, in.options.fit, job, run, make);
  return networks;
}

std::vector<double> PredictAll(const LearnedFunction& function, const TransitionView& data) {
  std::vector<double> values(static_cast<std::size_t>(data.size()));
  ParallelBlocks(data.size(), kBlockRows, [&](std::int64_t begin, std::int64_t end) {
    Transitions block;
    data.GatherBlock(begin, end - begin, block);
    function.Predict(block.states, block.actions, block.next_states,
                     std::span(values).subspan(static_cast<std::size_t>(begin),
                                               static_cast<std::size_t>(end - begin)));
  });
  return values;
}

void MeasureReward(std::span<const double> predicted, std::span<const double> logged,
                   LearnedFunctionSummary& summary) {
  const auto n = static_cast<double>(logged.size());
  double squares = 0.0, mean = 0.0, spread = 0.0;
  for (const double value : logged) mean += (value - logged[0]) / n;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const double error = predicted[i] - logged[i];
    summary.mean_error += error / n;
    squares += error * error;
    spread += std::pow(logged[i] - logged[0] - mean, 2);
  }
  summary.rmse = std::sqrt(squares / n);
  if (spread > 0.0) summary.r2 = 1.0 - squares / spread;
}

void MeasureTermination(std::span<const double> probabilities, std::span<const double> ends,
                        LearnedFunctionSummary& summary) {
  // an ensemble's probability may round to 0 or 1
  constexpr double kLowest = std::numeric_limits<double>::min();
  constexpr double kHighest = 1.0 - std::numeric_limits<double>::epsilon();
  const auto n = static_cast<double>(ends.size());
  std::vector<double> logits;
  std::vector<std::uint8_t> labels;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const double p = std::clamp(probabilities[i], kLowest, kHighest);
    const bool end = ends[i] != 0.0, predicted = p >= 0.5;
    logits.push_back(std::log(p) - std::log1p(-p));
    labels.push_back(end ? 1 : 0);
    summary.log_loss -= (end ? std::log(p) : std::log1p(-p)) / n;
    summary.positives += end;
    summary.missed += end && !predicted;
    summary.false_alarms += !end && predicted;
  }
  if (summary.positives > 0 && summary.positives < std::ssize(ends)) {
    summary.auc = MeasureCalibration(logits, labels, 1).auc;
  }
}

void MeasureHeldOut(const LearnedFunction& function, const EpisodeBatch& log,
                    const Episodes& held_out, const std::vector<double>& targets,
                    LearnedFunctionSummary& summary) {
  std::vector<double> actual;
  for (const std::int64_t step : LearnableSteps(log, held_out)) {
    actual.push_back(targets[static_cast<std::size_t>(step)]);
  }
  const auto predicted = PredictAll(function, TransitionView(log, held_out, TransitionRows::kEnds));
  summary.held_out_steps = std::ssize(actual);
  if (function.kind() == FunctionKind::kReward) {
    MeasureReward(predicted, actual, summary);
  } else {
    MeasureTermination(predicted, actual, summary);
  }
}

LearnedFunctionFit FitFunction(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                               FunctionKind kind, const LearnedFunctionOptions& options,
                               std::uint64_t seed, const FitRun& run,
                               const std::vector<Episodes>& asked) {
  LFIW_ASSERT(asked.empty() || std::ssize(asked) == options.members);
  const EpisodeSplit split = Split(log, episodes, kind, options.validation_share, seed);
  std::vector<Episodes> skipped = SkippedOf(log, split.train, kind, asked);
  const std::vector<double> targets = Targets(log, kind);
  const auto train_steps = LearnableSteps(log, split.train);
  LearnedFunctionSummary summary;
  summary.train_episodes = CountDistinct(split.train);
  summary.held_out_episodes = CountDistinct(split.validation);
  OutputScale output;
  if (kind == FunctionKind::kReward) {
    output = MeasureOutput(targets, train_steps, options.scaler);
  } else {
    for (const std::int64_t step : train_steps) {
      summary.train_positives += targets[static_cast<std::size_t>(step)] != 0.0;
    }
  }

  TransitionScaler scaler = TransitionScaler::Fit(
      TransitionView(log, split.train, TransitionRows::kEnds), options.scaler);
  std::vector<Mlp> networks;
  if (output.deviation > 0.0) {
    const auto validation =
        ValidationStrata(Stratify(targets, kind, LearnableSteps(log, split.validation)),
                         options.validation_rows, Stream(seed, Name(kind) + " validation rows"));
    const Samples samples(log, scaler, targets, output);
    networks =
        FitMembers({log, samples, targets, split.train, validation, kind, options, seed, skipped},
                   run, summary.members);
  } else {
    output.deviation = 1.0;
    skipped.clear();
    if (run.progress != nullptr) run.progress->Resume(options.members * options.fit.steps);
  }
  LearnedFunction function(kind, std::move(scaler), output, std::move(networks),
                           std::move(skipped));
  MeasureHeldOut(function, log, split.validation, targets, summary);
  return {std::move(function), std::move(summary)};
}

}  // namespace

LearnedFunctionFit FitReward(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                             const LearnedFunctionOptions& options, std::uint64_t seed,
                             const FitRun& run, const std::vector<Episodes>& skipped) {
  return FitFunction(log, episodes, FunctionKind::kReward, options, seed, run, skipped);
}

LearnedFunctionFit FitTermination(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                  const LearnedFunctionOptions& options, std::uint64_t seed,
                                  const FitRun& run, const std::vector<Episodes>& skipped) {
  if (options.fit.batch < 2) {
    Throw<ConfigError>("termination.fit.batch: {}, expected at least 2 (an end and another step)",
                       options.fit.batch);
  }
  if (Classes(log, episodes, FunctionKind::kTermination)[1].empty()) {
    Throw<DataError>(
        "termination: none of {} episodes terminates, expected at least 1 to learn from; roll out "
        "without termination (none)",
        episodes.size());
  }
  return FitFunction(log, episodes, FunctionKind::kTermination, options, seed, run, skipped);
}

}  // namespace lfiw::models
