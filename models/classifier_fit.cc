#include "models/classifier_fit.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/index_list.h"
#include "core/rng.h"
#include "models/episode_split.h"
#include "models/fit_identity.h"
#include "models/input_noise.h"
#include "models/losses.h"
#include "models/row_fit.h"
#include "models/transition_view.h"

namespace lfiw::models {
namespace {

// Real transitions, and for each the members that may stand for the model.
struct RealData {
  TransitionView rows;
  std::vector<std::vector<std::int64_t>> member_sets;
  std::vector<std::size_t> set_of_row;
};

RealData Gather(const EpisodeBatch& log, const std::vector<std::int64_t>& episodes,
                const TransitionModel& model) {
  RealData data{.rows = TransitionView(log, episodes), .member_sets = {}, .set_of_row = {}};
  std::map<std::vector<std::int64_t>, std::size_t> known;
  for (const std::int64_t e : episodes) {
    const auto members = model.MembersFor(e);
    const auto [set, added] = known.try_emplace(members, data.member_sets.size());
    if (added) data.member_sets.push_back(members);
    data.set_of_row.insert(data.set_of_row.end(), static_cast<std::size_t>(log.Outcomes(e)),
                           set->second);
  }
  return data;
}

// Real triples and, for each, `copies` generated ones with the same (s, a): row i * copies + c of
// the generated outcomes belongs to row i.
struct Draws {
  Transitions real;
  MatrixF repeated_states, repeated_actions;
  MatrixF generated_states, generated_aux;
};

// Generates outcomes for the listed real rows: members first, then noise, from `stream`.
Draws Generate(const RealData& data, std::span<const std::int64_t> rows, std::int64_t copies,
               const TransitionModel& model, Stream& stream) {
  const std::int64_t n = std::ssize(rows), m = n * copies;
  Draws draws{{},
              MatrixF(m, model.obs_dim()),
              MatrixF(m, model.action_dim()),
              MatrixF(m, model.obs_dim()),
              MatrixF(m, model.aux_dim())};
  data.rows.Gather(rows, draws.real);
  std::vector<std::int64_t> member;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    draws.repeated_states.middleRows(i * copies, copies).rowwise() = draws.real.states.row(i);
    draws.repeated_actions.middleRows(i * copies, copies).rowwise() = draws.real.actions.row(i);
    const auto& members = data.member_sets[data.set_of_row[static_cast<std::size_t>(row)]];
    for (std::int64_t c = 0; c < copies; ++c) {
      member.push_back(members[stream.Below(members.size())]);
    }
  }
  MatrixF noise(m, model.noise_dim());
  stream.FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  model.Sample(draws.repeated_states, draws.repeated_actions, member, noise, draws.generated_states,
               draws.generated_aux);
  return draws;
}

// Rows [begin, begin + count) of the draws as network inputs: the real ones, then the generated.
void AssembleInputs(const TripleScaler& scaler, const Draws& draws, std::int64_t begin,
                    std::int64_t count, std::int64_t copies, MatrixF& inputs) {
  const std::int64_t m = count * copies;
  inputs.resize(count + m, scaler.input_dim());
  const Transitions& real = draws.real;
  scaler.Scale(real.states.middleRows(begin, count), real.actions.middleRows(begin, count),
               real.next_states.middleRows(begin, count), real.aux.middleRows(begin, count),
               inputs.topRows(count));
  scaler.Scale(draws.repeated_states.middleRows(begin * copies, m),
               draws.repeated_actions.middleRows(begin * copies, m),
               draws.generated_states.middleRows(begin * copies, m),
               draws.generated_aux.middleRows(begin * copies, m), inputs.bottomRows(m));
}

// 1 for the first `real` rows, 0 for the rest.
MatrixF Labels(std::int64_t real, std::int64_t generated) {
  MatrixF labels = MatrixF::Zero(real + generated, 1);
  labels.topRows(real).setOnes();
  return labels;
}

// The random streams of one classifier, by purpose.
struct Streams {
  Streams(std::uint64_t seed, std::uint64_t index)
      : episodes(seed, "classifier validation episodes", {index}),
        validation(seed, "classifier validation", {index}),
        validation_noise(seed, "classifier validation noise", {index}),
        weights(seed, "classifier weights", {index}),
        batches(seed, "classifier batch", {index}),
        noise(seed, "classifier input noise", {index}) {}
  Stream episodes, validation, validation_noise, weights, batches, noise;
};

// Draws the real and generated triples of gradient steps.
class TripleSource {
 public:
  TripleSource(const RealData& train, const TransitionModel& model, const TripleScaler& scaler,
               const ClassifierOptions& options, const Streams& streams)
      : train_(train),
        model_(model),
        scaler_(scaler),
        streams_(streams),
        copies_(options.generated_per_real),
        real_(options.fit.batch / (1 + copies_)),
        input_noise_(options.input_noise) {}

  void Draw(std::int64_t step, FitRows& out) {
    if (step / kStepsPerBlock != block_) DrawBlock(step / kStepsPerBlock);
    AssembleInputs(scaler_, draws_, step % kStepsPerBlock * real_, real_, copies_, out.inputs);
    AddInputNoise(input_noise_, streams_.noise.Child(static_cast<std::uint64_t>(step)), out.inputs);
    out.targets = Labels(real_, real_ * copies_);
  }

 private:
  // The model does not change during the fit, so the batches of several steps are generated at
  // once: its members then see enough rows each to run at full speed.
  static constexpr std::int64_t kStepsPerBlock = 8;

  void DrawBlock(std::int64_t block) {
    Stream stream = streams_.batches.Child(static_cast<std::uint64_t>(block));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(real_ * kStepsPerBlock));
    const auto n = static_cast<std::uint64_t>(train_.rows.size());
    for (std::int64_t& row : rows) row = static_cast<std::int64_t>(stream.Below(n));
    draws_ = Generate(train_, rows, copies_, model_, stream);
    block_ = block;
  }

  const RealData& train_;
  const TransitionModel& model_;
  const TripleScaler& scaler_;
  const Streams& streams_;
  std::int64_t copies_;
  std::int64_t real_;  // real rows of a batch
  double input_noise_;
  std::int64_t block_ = -1;
  Draws draws_;
};

// Held-out triples, whose generated partners are drawn once.
FitRows ValidationRows(const RealData& held_out, const TransitionModel& model,
                       const TripleScaler& scaler, const ClassifierOptions& options,
                       const Streams& streams) {
  const std::int64_t copies = options.generated_per_real;
  const auto rows = Subsample(IndexList(held_out.rows.size()), options.validation_rows,
                              streams.validation.Child(0));
  Stream stream = streams.validation.Child(1);
  const Draws draws = Generate(held_out, rows, copies, model, stream);
  FitRows out{.inputs = {}, .targets = Labels(std::ssize(rows), std::ssize(rows) * copies)};
  AssembleInputs(scaler, draws, 0, std::ssize(rows), copies, out.inputs);
  AddInputNoise(options.input_noise, streams.validation_noise, out.inputs);
  return out;
}

TripleScaler FitScaler(const TransitionView& data, const TransitionModel& model,
                       const ClassifierOptions& options) {
  TripleScaler scaler{data.FitScaler(TransitionPart::kState, options.scaler),
                      data.FitScaler(TransitionPart::kAction, options.scaler),
                      data.FitScaler(TransitionPart::kNextState, options.scaler),
                      data.FitScaler(TransitionPart::kAux, options.scaler), options.input_delta};
  const auto constant = scaler.outcomes.Constant();
  if (options.input_delta) {
    scaler.outcomes = data.FitScaler(TransitionPart::kChange, options.scaler);
    scaler.outcomes.Drop(constant);
  }
  // what the model does not learn would give its samples away
  scaler.outcomes.Drop(model.FixedStateDims());
  scaler.aux.Drop(model.FixedAuxDims());
  return scaler;
}

void RequireFit(const EpisodeBatch& log, const TransitionModel& model,
                const ClassifierOptions& options, const std::string& name) {
  const auto expect = [&](const char* what, std::int64_t found, std::int64_t expected) {
    if (found == expected) return;
    Throw<DataError>("{}: the log has {} = {}, the model {}", name, what, found, expected);
  };
  expect("obs_dim", log.obs_dim(), model.obs_dim());
  expect("action_dim", log.action_dim(), model.action_dim());
  expect("aux_dim", log.aux_dim(), model.aux_dim());
  if (options.fit.batch < 1 + options.generated_per_real) {
    Throw<ConfigError>(
        "classifier.fit.batch: {}, expected at least {} (one real triple and {} "
        "generated)",
        options.fit.batch, 1 + options.generated_per_real, options.generated_per_real);
  }
}

}  // namespace

ClassifierFit FitClassifier(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                            const TransitionModel& model, const ClassifierOptions& options,
                            std::uint64_t seed, std::int64_t index, const FitRun& run) {
  const std::string name = fmt::format("classifier {}", index);
  RequireFit(log, model, options, name);
  const Streams streams(seed, static_cast<std::uint64_t>(index));
  const EpisodeSplit split =
      SplitEpisodes(episodes, options.validation_share, streams.episodes, name.c_str());
  const RealData train = Gather(log, split.train, model);
  const RealData validation = Gather(log, split.validation, model);
  if (train.rows.size() == 0 || validation.rows.size() == 0) {
    Throw<DataError>("{}: {} training and {} validation steps, expected at least 1 of each", name,
                     train.rows.size(), validation.rows.size());
  }
  TripleScaler scaler = FitScaler(train.rows, model, options);
  Mlp network(scaler.input_dim(), 1, options.network, streams.weights);
  TripleSource source(train, model, scaler, options, streams);
  RowFit problem(
      network, [&](std::int64_t step, FitRows& rows) { source.Draw(step, rows); }, LogisticLoss,
      ValidationRows(validation, model, scaler, options, streams));
  problem.set_training_rows(train.rows.size());
  const std::string rows =
      fmt::format("{}; {} + {} rows; a model of {} members", EpisodesText(episodes),
                  train.rows.size(), validation.rows.size(), model.members());
  const FitJob job = FitJob::Of(run, name, FitIdentity(options, seed, rows),
                                fmt::format("classifier_{}.npz", index));
  ClassifierSummary summary{.fit = Fit(problem, options.fit, job),
                            .train_steps = train.rows.size(),
                            .validation_steps = validation.rows.size(),
                            .dropped_state_dims = scaler.states.Constant(),
                            .dropped_outcome_dims = scaler.outcomes.Constant(),
                            .dropped_aux_dims = scaler.aux.Constant()};
  return {RatioClassifier(std::move(scaler), std::move(network),
                          static_cast<double>(options.generated_per_real)),
          std::move(summary)};
}

}  // namespace lfiw::models
