#include "tests/small_logs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numbers>
#include <span>

#include "core/arrays/hdf5_writer.h"
#include "core/arrays/npz.h"
#include "core/logs/create_log.h"
#include "core/logs/episode_batch.h"
#include "core/logs/log_writer.h"

namespace lfiw::core {
namespace {

template <class T>
NpzArray MakeArray(const char* type, std::vector<std::int64_t> shape, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {type, std::move(shape), {bytes.begin(), bytes.end()}};
}

NpzArray FloatArray(const MatrixF& values) {
  return MakeArray("f4", {values.rows(), values.cols()},
                   std::span<const float>(values.data(), static_cast<std::size_t>(values.size())));
}

NpzArray DoubleArray(const std::vector<double>& values) {
  return MakeArray("f8", {std::ssize(values)}, std::span<const double>(values));
}

NpzArray FlagArray(const std::vector<std::uint8_t>& values) {
  return MakeArray("b1", {std::ssize(values)}, std::span<const std::uint8_t>(values));
}

NpzArray IntegerArray(const std::vector<std::int64_t>& values) {
  return MakeArray("i8", {std::ssize(values)}, std::span<const std::int64_t>(values));
}

std::vector<std::int64_t> Indices(const MatrixF& actions) {
  std::vector<std::int64_t> out;
  for (Eigen::Index i = 0; i < actions.rows(); ++i) {
    out.push_back(static_cast<std::int64_t>(actions(i, 0)));
  }
  return out;
}

NpzArray ActionArray(const StepTable& table) {
  return table.discrete > 0 ? IntegerArray(Indices(table.actions)) : FloatArray(table.actions);
}

using NamedArrays = std::map<std::string, NpzArray>;

void WriteNpz(const NamedArrays& arrays, const std::string& path) {
  NpzFile file;
  for (const auto& [name, array] : arrays) file.Put(name, array);
  file.Write(path);
}

void WriteHdf5(const NamedArrays& arrays, const std::string& path) {
  Hdf5Writer writer(path);
  for (const auto& [name, array] : arrays) {
    NpzArray stored = array;
    if (stored.type == "b1") stored.type = "u1";
    writer.Put(name, stored);
  }
  writer.Close();
}

NamedArrays FlatArrays(const StepTable& table, const TableNames& names) {
  NamedArrays arrays = {{"observations", FloatArray(table.observations)},
                        {"actions", ActionArray(table)},
                        {"rewards", DoubleArray(table.rewards)}};
  const auto put = [&](const std::string& name, NpzArray array) {
    if (!name.empty()) arrays.emplace(name, std::move(array));
  };
  put(names.next_observations, FloatArray(table.next_observations));
  put(names.terminals, FlagArray(table.terminals));
  put(names.timeouts, FlagArray(table.timeouts));
  return arrays;
}

// The observations of every episode with the one after its last step.
MatrixF WithLast(const StepTable& table) {
  const std::vector<std::int64_t> starts = table.Starts();
  const std::int64_t episodes = std::ssize(starts) - 1;
  MatrixF out(table.steps() + episodes, table.observations.cols());
  for (std::int64_t e = 0; e < episodes; ++e) {
    const std::int64_t first = starts[static_cast<std::size_t>(e)];
    const std::int64_t length = starts[static_cast<std::size_t>(e) + 1] - first;
    out.middleRows(first + e, length) = table.observations.middleRows(first, length);
    out.row(first + e + length) = table.next_observations.row(first + length - 1);
  }
  return out;
}

EpisodeBatch BatchOf(const StepTable& table) {
  EpisodeBatch batch;
  batch.offsets = table.Starts();
  batch.observations = WithLast(table);
  batch.actions = table.actions;
  if (table.discrete > 0) {
    batch.actions = MatrixF::Zero(table.steps(), table.discrete);
    const std::vector<std::int64_t> indices = Indices(table.actions);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      batch.actions(static_cast<Eigen::Index>(i), indices[i]) = 1.0f;
    }
  }
  batch.aux.resize(table.steps(), 0);
  batch.rewards = table.rewards;
  for (std::size_t e = 0; e + 1 < batch.offsets.size(); ++e) {
    batch.terminated.push_back(table.terminals[static_cast<std::size_t>(batch.offsets[e + 1]) - 1]);
  }
  return batch;
}

// [rows, columns] of `width` numbers each, filled by `row_of`, which gives the table's row or -1.
template <class RowOf>
NpzArray Grid(const MatrixF& values, std::int64_t rows, std::int64_t columns, RowOf row_of) {
  std::vector<float> out;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t row = row_of(i, j);
      for (Eigen::Index k = 0; k < values.cols(); ++k) {
        out.push_back(row < 0 ? 0.0f : values(row, k));
      }
    }
  }
  std::vector<std::int64_t> shape = {rows, columns};
  if (values.cols() > 1) shape.push_back(values.cols());
  return MakeArray("f4", std::move(shape), std::span<const float>(out));
}

template <class T>
MatrixF ColumnOf(const std::vector<T>& values) {
  MatrixF out(std::ssize(values), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    out(static_cast<Eigen::Index>(i), 0) = static_cast<float>(values[i]);
  }
  return out;
}

template <class RowOf>
NamedArrays GridArrays(const StepTable& table, const TableNames& names, std::int64_t rows,
                       std::int64_t columns, RowOf row_of) {
  const auto grid = [&](const MatrixF& values) { return Grid(values, rows, columns, row_of); };
  NamedArrays arrays = {{"observations", grid(table.observations)},
                        {"rewards", grid(ColumnOf(table.rewards))}};
  NpzArray actions = grid(table.actions);
  if (table.discrete > 0) {
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t row = row_of(i, j);
        indices.push_back(row < 0 ? 0 : static_cast<std::int64_t>(table.actions(row, 0)));
      }
    }
    actions = MakeArray("i8", {rows, columns}, std::span<const std::int64_t>(indices));
  } else if (table.actions.cols() == 1) {
    actions.shape.push_back(1);
  }
  arrays.emplace("actions", std::move(actions));
  const auto put = [&](const std::string& name, const MatrixF& values) {
    if (!name.empty()) arrays.emplace(name, grid(values));
  };
  put(names.next_observations, table.next_observations);
  put(names.terminals, ColumnOf(table.terminals));
  put(names.timeouts, ColumnOf(table.timeouts));
  return arrays;
}

NamedArrays PaddedArrays(const StepTable& table, const TableNames& names) {
  const std::vector<std::int64_t> starts = table.Starts();
  std::vector<std::int64_t> lengths;
  for (std::size_t e = 0; e + 1 < starts.size(); ++e) lengths.push_back(starts[e + 1] - starts[e]);
  const std::int64_t longest = *std::ranges::max_element(lengths);
  NamedArrays arrays =
      GridArrays(table, names, std::ssize(lengths), longest, [&](std::int64_t e, std::int64_t t) {
        const auto at = static_cast<std::size_t>(e);
        return t < lengths[at] ? starts[at] + t : -1;
      });
  arrays.emplace("lengths", IntegerArray(lengths));
  return arrays;
}

// The rows of four environments side by side; what is left over is lost.
NamedArrays BufferArrays(const StepTable& table, const TableNames& names) {
  constexpr std::int64_t kEnvironments = 4;
  const std::int64_t size = table.steps() / kEnvironments;
  return GridArrays(table, names, size, kEnvironments,
                    [size](std::int64_t t, std::int64_t env) { return env * size + t; });
}

NamedArrays D3rlpyArrays(const StepTable& table) {
  NamedArrays arrays =
      FlatArrays(table, {.next_observations = "", .terminals = "terminals", .timeouts = ""});
  std::vector<std::uint8_t> ends;
  for (std::int64_t i = 0; i < table.steps(); ++i) ends.push_back(table.Ends(i) ? 1 : 0);
  arrays.emplace("episode_terminals", FlagArray(ends));
  return arrays;
}

// One file of one kind of end, as imitation's `terminal` is one flag an episode.
NamedArrays ImitationArrays(const StepTable& table) {
  const EpisodeBatch batch = BatchOf(table);
  return {{"obs", FloatArray(batch.observations)},
          {"acts", ActionArray(table)},
          {"rews", DoubleArray(table.rewards)},
          {"indices", IntegerArray({batch.offsets.begin() + 1, batch.offsets.end() - 1})},
          {"terminal", FlagArray(batch.terminated)}};
}

std::string CsvText(const StepTable& table, bool with_last) {
  std::string text = "episode,t";
  const auto numbered = [&](const char* name, Eigen::Index count) {
    for (Eigen::Index k = 0; k < count; ++k) text += fmt::format(",{}_{}", name, k);
  };
  numbered("obs", table.observations.cols());
  if (table.discrete > 0) {
    text += ",action";
  } else {
    numbered("action", table.actions.cols());
  }
  text += ",reward,terminated,truncated\n";
  const auto observation = [&](std::int64_t e, std::int64_t t, const auto& row) {
    text += fmt::format("{},{}", e, t);
    for (Eigen::Index k = 0; k < row.size(); ++k) text += fmt::format(",{}", row[k]);
  };
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    observation(table.episodes[at], table.times[at], table.observations.row(i));
    for (Eigen::Index k = 0; k < table.actions.cols(); ++k) {
      text += fmt::format(",{}", table.actions(i, k));
    }
    text += fmt::format(",{},{},{}\n", table.rewards[at], table.terminals[at], table.timeouts[at]);
    if (!with_last || !table.Ends(i)) continue;
    observation(table.episodes[at], table.times[at] + 1, table.next_observations.row(i));
    text += std::string(static_cast<std::size_t>(table.actions.cols()) + 3, ',') + "\n";
  }
  return text;
}

std::string JsonText(const StepTable& table) {
  std::string text;
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto list = [](const auto& row) {
      std::vector<float> values(row.begin(), row.end());
      return fmt::format("[{}]", fmt::join(values, ", "));
    };
    const std::string action =
        table.discrete > 0 ? fmt::format("{}", table.actions(i, 0)) : list(table.actions.row(i));
    text +=
        fmt::format(R"({{"episode": {}, "t": {}, "observation": {}, "action": {}, "reward": {}, )"
                    R"("terminated": {}, "truncated": {}, "next_observation": {}}})"
                    "\n",
                    table.episodes[at], table.times[at], list(table.observations.row(i)), action,
                    table.rewards[at], table.terminals[at] != 0, table.timeouts[at] != 0,
                    list(table.next_observations.row(i)));
  }
  return text;
}

double Push(const LinearSystem& system, std::int64_t action) {
  return -1.0 + 2.0 * static_cast<double>(action) / static_cast<double>(system.discrete - 1);
}

// An action, its log-density, and what it does to the state.
struct Draw {
  VectorD action, push;
  double log_density = 0.0;
};

Draw DrawAction(const LinearSystem& system, const LinearPolicy& policy, const VectorD& x,
                Stream& stream) {
  const VectorD mean = policy.gain * x + policy.offset;
  Draw draw{mean, mean};
  if (system.discrete == 0) {
    for (double& value : draw.action) {
      const double z = stream.Normal();
      value += policy.deviation * z;
      draw.log_density -=
          0.5 * z * z + std::log(policy.deviation * std::sqrt(2.0 * std::numbers::pi));
    }
    draw.push = draw.action;
    return draw;
  }
  VectorD probability = (mean.array() - mean.maxCoeff()).exp();
  probability /= probability.sum();
  const double u = stream.Uniform();
  Eigen::Index k = 0;
  for (double sum = probability[0]; sum < u && k + 1 < mean.size(); sum += probability[++k])
    continue;
  draw.action = VectorD::Constant(1, static_cast<double>(k));
  draw.push = VectorD::Constant(1, Push(system, k));
  draw.log_density = std::log(probability[k]);
  return draw;
}

}  // namespace

bool StepTable::Ends(std::int64_t row) const {
  const auto i = static_cast<std::size_t>(row);
  return i + 1 == episodes.size() || episodes[i + 1] != episodes[i];
}

std::vector<std::int64_t> StepTable::Starts() const {
  std::vector<std::int64_t> starts = {0};
  for (std::int64_t i = 0; i < steps(); ++i) {
    if (Ends(i)) starts.push_back(i + 1);
  }
  return starts;
}

StepTable StepTable::Rows(const std::vector<std::int64_t>& rows) const {
  StepTable out{.observations = observations(rows, Eigen::all),
                .next_observations = next_observations(rows, Eigen::all),
                .actions = actions(rows, Eigen::all),
                .discrete = discrete};
  for (const std::int64_t row : rows) {
    const auto i = static_cast<std::size_t>(row);
    out.rewards.push_back(rewards[i]);
    out.log_densities.push_back(log_densities[i]);
    out.terminals.push_back(terminals[i]);
    out.timeouts.push_back(timeouts[i]);
    out.episodes.push_back(episodes[i]);
    out.times.push_back(times[i]);
  }
  return out;
}

StepTable Collect(const LinearSystem& system, const LinearPolicy& policy, std::int64_t episodes,
                  Stream& stream) {
  StepTable table{.discrete = system.discrete};
  std::vector<VectorD> states, next_states, actions;
  for (std::int64_t e = 0; e < episodes; ++e) {
    VectorD x(system.a.rows());
    for (double& value : x) value = system.start_mean + system.start_deviation * stream.Normal();
    bool ended = false;
    for (std::int64_t t = 0; t < system.horizon && !ended; ++t) {
      const Draw draw = DrawAction(system, policy, x, stream);
      VectorD next = system.a * x + system.b * draw.push;
      for (double& value : next) value += system.noise * stream.Normal();
      double reward =
          1.0 - system.cost * next.squaredNorm() - system.action_cost * draw.push.squaredNorm();
      ended = system.fall && next[0] > *system.fall;
      if (ended) reward += system.fall_reward;
      states.push_back(x);
      next_states.push_back(next);
      actions.push_back(draw.action);
      table.rewards.push_back(reward);
      table.log_densities.push_back(draw.log_density);
      table.terminals.push_back(ended ? 1 : 0);
      table.timeouts.push_back(!ended && t + 1 == system.horizon ? 1 : 0);
      table.episodes.push_back(e);
      table.times.push_back(t);
      x = next;
    }
  }
  const auto matrix = [](const std::vector<VectorD>& rows) {
    MatrixF out(std::ssize(rows), rows.at(0).size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out.row(static_cast<Eigen::Index>(i)) = rows[i].transpose().cast<float>();
    }
    return out;
  };
  table.observations = matrix(states);
  table.next_observations = matrix(next_states);
  table.actions = matrix(actions);
  return table;
}

std::vector<double> ReturnsOf(const StepTable& table) {
  std::vector<double> returns;
  double sum = 0.0;
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    sum += table.rewards[static_cast<std::size_t>(i)];
    if (!table.Ends(i)) continue;
    returns.push_back(sum);
    sum = 0.0;
  }
  return returns;
}

void SavePolicyFile(const LinearPolicy& policy, std::int64_t discrete, const std::string& path) {
  NpzFile file;
  file.Put("format", std::string("lfiw network policy 1"));
  file.Put("output", std::string(discrete > 0 ? "logits" : "mean"));
  file.Put("activation", std::string("tanh"));
  file.Put("weight_0", MatrixF(policy.gain.transpose().cast<float>()));
  file.Put("bias_0", VectorF(policy.offset.cast<float>()));
  if (discrete == 0) {
    file.Put("log_std", VectorF(VectorF::Constant(policy.gain.rows(),
                                                  static_cast<float>(std::log(policy.deviation)))));
  }
  file.Write(path);
}

const char* FormatName(TableFormat format) {
  constexpr const char* kNames[] = {
      "npz",       "flat npz", "flat hdf5",        "padded",     "buffer", "d3rlpy 1",
      "imitation", "csv",      "csv without last", "json lines", "minari"};
  return kNames[static_cast<int>(format)];
}

std::string WriteTable(const StepTable& table, TableFormat format, const TableNames& names,
                       const std::string& folder) {
  const auto text = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder + name, std::ios::binary) << content;
    return folder + name;
  };
  const auto npz = [&](const NamedArrays& arrays) {
    WriteNpz(arrays, folder + "/log.npz");
    return folder + "/log.npz";
  };
  const auto hdf5 = [&](const NamedArrays& arrays) {
    WriteHdf5(arrays, folder + "/log.hdf5");
    return folder + "/log.hdf5";
  };
  switch (format) {
    case TableFormat::kOwn:
      SaveLog(BatchOf(table), folder + "/log.npz", {.discrete_actions = table.discrete});
      return folder + "/log.npz";
    case TableFormat::kFlatNpz:
      return npz(FlatArrays(table, names));
    case TableFormat::kFlatHdf5:
      return hdf5(FlatArrays(table, names));
    case TableFormat::kPadded:
      return npz(PaddedArrays(table, names));
    case TableFormat::kBuffer:
      return npz(BufferArrays(table, names));
    case TableFormat::kD3rlpy1:
      return hdf5(D3rlpyArrays(table));
    case TableFormat::kImitation:
      return npz(ImitationArrays(table));
    case TableFormat::kCsv:
      return text("/log.csv", CsvText(table, true));
    case TableFormat::kCsvNoLast:
      return text("/log.csv", CsvText(table, false));
    case TableFormat::kJson:
      return text("/log.jsonl", JsonText(table));
    case TableFormat::kMinari:
      break;
  }
  const auto writer =
      CreateLog(folder + "/minari", LogFormat::kMinari, {.discrete_actions = table.discrete});
  writer->Append(BatchOf(table));
  writer->Finish();
  return folder + "/minari";
}

}  // namespace lfiw::core
