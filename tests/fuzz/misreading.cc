// Makes small logs of systems whose values are known, writes them in every format with a mistake
// in them that users make (rows shifted, flags dropped, cells blank, axes swapped, units mixed),
// and runs `lfiw evaluate`. A mistake must end in the right value, in an error, or in `do not use`;
// a log without one must not be refused. Prints a table of how they ended.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"
#include "core/statistics.h"
#include "tests/evaluated_log.h"
#include "tests/small_logs.h"
#include "tests/test_paths.h"

namespace lfiw::core {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Options {
  std::int64_t misreadings = 100, clean = 100;
  std::uint64_t seed = 1;
  std::string only;  // part of the name of a situation
  std::string dir;
  std::string program = ProgramFile();
  bool keep = false;
};

// ---- what is evaluated

struct World {
  LinearSystem system;
  LinearPolicy behavior, evaluation;
  double truth = 0.0;
  double size = 0.0;  // of a return: the larger of |truth| and its deviation
};

// A log on its way to a file.
struct Case {
  World world;
  StepTable table;
  TableFormat format = TableFormat::kFlatNpz;
  TableNames names;
  LinearPolicy policy;  // as it is written
  // Changes the file that was written.
  std::function<void(const std::string& path)> spoil;
};

constexpr std::int64_t kEpisodes = 150;
constexpr std::int64_t kTruthEpisodes = 20'000;

std::vector<double> Simulate(const LinearSystem& system, const LinearPolicy& policy,
                             std::int64_t episodes, Stream stream) {
  return ReturnsOf(Collect(system, policy, episodes, stream));
}

MatrixD RandomMatrix(Eigen::Index rows, Eigen::Index cols, double size, Stream& stream) {
  MatrixD out(rows, cols);
  for (double& value : out.reshaped()) value = size * stream.Normal();
  return out;
}

// A damped rotation that one or two actions push.
LinearSystem RandomSystem(bool discrete, Stream& stream) {
  LinearSystem system;
  const double radius = stream.Uniform(0.8, 0.93), angle = stream.Uniform(0.05, 0.3);
  system.a << std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle);
  system.a *= radius;
  const Eigen::Index actions = discrete ? 1 : 1 + static_cast<Eigen::Index>(stream.Below(2));
  system.b = MatrixD(2, actions);
  for (double& value : system.b.reshaped()) {
    value = stream.Uniform(0.25, 0.5) * (stream.Below(2) == 0 ? 1.0 : -1.0);
  }
  system.noise = stream.Uniform(0.03, 0.07);
  system.cost = stream.Uniform(0.5, 1.0);
  system.discrete = discrete ? 2 + static_cast<std::int64_t>(stream.Below(3)) : 0;
  system.horizon = 12 + static_cast<std::int64_t>(stream.Below(12));
  return system;
}

LinearPolicy RandomPolicy(const LinearSystem& system, const LinearPolicy* near, Stream& stream) {
  LinearPolicy policy;
  const Eigen::Index outputs = system.discrete > 0 ? system.discrete : system.b.cols();
  const double size = system.discrete > 0 ? 0.6 : 0.2;
  policy.gain = RandomMatrix(outputs, 2, size, stream);
  policy.offset = RandomMatrix(outputs, 1, size, stream);
  policy.deviation = 0.35;
  if (near == nullptr) return policy;
  policy.gain = near->gain + 0.3 * policy.gain;
  policy.offset = near->offset + 0.3 * policy.offset;
  return policy;
}

// Where the first state of at most four tenths of the episodes gets to, hardly any at the start.
double FallLevel(const LinearSystem& system, const LinearPolicy& behavior, Stream stream) {
  const StepTable table = Collect(system, behavior, 400, stream);
  std::vector<double> highest;
  double high = -HUGE_VAL;
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    if (table.times[static_cast<std::size_t>(i)] > 2) {
      high = std::max(high, static_cast<double>(table.next_observations(i, 0)));
    }
    if (!table.Ends(i)) continue;
    highest.push_back(high);
    high = -HUGE_VAL;
  }
  return std::max(Quantile(highest, 0.6), system.start_mean + 2.0 * system.start_deviation);
}

// Of some policies near the one that logged, the one that differs most in value, but by no more
// than a third of a return: farther away is another question than that of a log that is misread.
World MakeWorld(bool falls, bool discrete, Stream& stream) {
  World world;
  world.system = RandomSystem(discrete, stream);
  world.behavior = RandomPolicy(world.system, nullptr, stream);
  const Stream simulation = stream;
  if (falls) {
    world.system.fall = FallLevel(world.system, world.behavior, simulation);
    world.system.fall_reward = stream.Below(2) == 0 ? -3.0 : 5.0;
  }
  const std::vector<double> logged = Simulate(world.system, world.behavior, 1000, simulation);
  const double limit = std::max(std::abs(Mean(logged)), StandardDeviation(logged)) / 3.0;
  world.evaluation = world.behavior;
  double farthest = 0.0;
  for (int k = 0; k < 6; ++k) {
    const LinearPolicy policy = RandomPolicy(world.system, &world.behavior, stream);
    const double distance =
        std::abs(Mean(Simulate(world.system, policy, 1000, simulation)) - Mean(logged));
    if (distance <= farthest || distance > limit) continue;
    farthest = distance;
    world.evaluation = policy;
  }
  const std::vector<double> returns =
      Simulate(world.system, world.evaluation, kTruthEpisodes, simulation);
  world.truth = Mean(returns);
  world.size = std::max(std::abs(world.truth), StandardDeviation(returns));
  return world;
}

// ---- mistakes

// Gives each row the row `lag` before it (behind it, if negative): within its episode, with the
// first one repeated, or through the whole file.
std::vector<std::int64_t> ShiftedRows(const StepTable& table, std::int64_t lag, bool whole) {
  std::vector<std::int64_t> rows;
  const std::vector<std::int64_t> starts = table.Starts();
  for (std::size_t e = 0; e + 1 < starts.size(); ++e) {
    for (std::int64_t i = starts[e]; i < starts[e + 1]; ++i) {
      rows.push_back(whole ? (i - lag + table.steps()) % table.steps()
                           : std::clamp(i - lag, starts[e], starts[e + 1] - 1));
    }
  }
  return rows;
}

void TakeActions(Case& c, const std::vector<std::int64_t>& rows) {
  const StepTable from = c.table.Rows(rows);
  c.table.actions = from.actions;
  c.table.log_densities = from.log_densities;
}

void TakeRewards(Case& c, const std::vector<std::int64_t>& rows) {
  c.table.rewards = c.table.Rows(rows).rewards;
}

std::int64_t RandomLag(Stream& stream) { return 1 + static_cast<std::int64_t>(stream.Below(2)); }
bool Coin(Stream& stream) { return stream.Below(2) == 0; }

void ShiftBoth(Case& c, Stream& stream) {
  const auto rows = ShiftedRows(c.table, RandomLag(stream), Coin(stream));
  TakeActions(c, rows);
  TakeRewards(c, rows);
}
void ShiftActionsLate(Case& c, Stream& stream) {
  TakeActions(c, ShiftedRows(c.table, RandomLag(stream), Coin(stream)));
}
void ShiftActionsEarly(Case& c, Stream& stream) {
  TakeActions(c, ShiftedRows(c.table, -RandomLag(stream), Coin(stream)));
}
void ShiftRewardsLate(Case& c, Stream& stream) {
  TakeRewards(c, ShiftedRows(c.table, RandomLag(stream), Coin(stream)));
}
void ShiftRewardsEarly(Case& c, Stream& stream) {
  TakeRewards(c, ShiftedRows(c.table, -RandomLag(stream), Coin(stream)));
}
void PermuteActions(Case& c, Stream& stream) {
  TakeActions(c, stream.Permutation(c.table.steps()));
}
void PermuteRewards(Case& c, Stream& stream) {
  TakeRewards(c, stream.Permutation(c.table.steps()));
}
void HoldActions(Case& c, Stream& /*stream*/) { c.table.actions.setConstant(0.0f); }

void SwapObservations(Case& c, Stream& /*stream*/) {
  std::swap(c.table.observations, c.table.next_observations);
}
void SwapFlags(Case& c, Stream& /*stream*/) { std::swap(c.table.terminals, c.table.timeouts); }
void DropTerminals(Case& c, Stream& /*stream*/) { c.names.terminals = ""; }

void MarkEnds(StepTable& table, std::vector<std::uint8_t>& flags) {
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    flags[static_cast<std::size_t>(i)] = table.Ends(i) ? 1 : 0;
  }
}
void AllTimeouts(Case& c, Stream& /*stream*/) {
  MarkEnds(c.table, c.table.timeouts);
  c.table.terminals.assign(c.table.timeouts.size(), 0);
}
void AllTerminals(Case& c, Stream& /*stream*/) {
  MarkEnds(c.table, c.table.terminals);
  c.table.timeouts.assign(c.table.terminals.size(), 0);
}
void OtherNames(Case& c, Stream& stream) {
  c.names.terminals = Coin(stream) ? "finished" : "is_terminal_state";
  c.names.timeouts = Coin(stream) ? "time_is_up" : "";
  if (Coin(stream)) c.names.next_observations = "";
}
void GymnasiumNames(Case& c, Stream& stream) {
  const bool many = Coin(stream);
  c.names.terminals = many ? "terminations" : "terminated";
  c.names.timeouts = many ? "truncations" : "truncated";
  if (Coin(stream)) c.names.next_observations = "";
}
void NoFlags(Case& c, Stream& stream) {
  c.names.terminals = c.names.timeouts = "";
  if (Coin(stream)) c.names.next_observations = "";
}
void DonesAlone(Case& c, Stream& stream) {
  MarkEnds(c.table, c.table.timeouts);
  c.names.terminals = "";
  c.names.timeouts = Coin(stream) ? "dones" : "done";
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char character : text) {
    if (character == separator) {
      parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  return parts;
}

// Empties cells of one column in three rows of a CSV file.
void BlankCells(Case& c, Stream& stream) {
  constexpr std::array kNames = {"obs_1", "action", "reward", "terminated"};
  const std::string name = kNames[stream.Below(kNames.size())];
  const std::array places = {stream.Uniform(), stream.Uniform(), stream.Uniform()};
  c.spoil = [name, places](const std::string& path) {
    std::vector<std::string> lines = Split(ReadFile(path), '\n');
    const std::vector<std::string> header = Split(lines[0], ',');
    const auto column = static_cast<std::size_t>(
        std::ranges::find_if(header, [&](const auto& cell) { return cell.starts_with(name); }) -
        header.begin());
    for (const double place : places) {
      auto& line =
          lines[1 + static_cast<std::size_t>(place * static_cast<double>(lines.size() - 3))];
      std::vector<std::string> cells = Split(line, ',');
      cells.at(column).clear();
      line = fmt::format("{}", fmt::join(cells, ","));
    }
    std::ofstream(path, std::ios::binary) << fmt::format("{}", fmt::join(lines, "\n"));
  };
}

// Exchanges the first two axes of all arrays that have them.
void TransposeAxes(Case& c, Stream& stream) {
  if (Coin(stream)) c.names.next_observations = "";
  c.spoil = [](const std::string& path) {
    NpzFile out;
    const NpzFile in = NpzFile::Read(path);
    for (const auto& [name, array] : in.arrays()) {
      NpzArray turned = array;
      if (array.shape.size() >= 2) {
        std::swap(turned.shape[0], turned.shape[1]);
        const auto rows = static_cast<std::size_t>(array.shape[0]);
        const auto columns = static_cast<std::size_t>(array.shape[1]);
        const std::size_t item = array.bytes.size() / rows / columns;
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < columns; ++j) {
            std::copy_n(array.bytes.begin() + static_cast<std::ptrdiff_t>((i * columns + j) * item),
                        item,
                        turned.bytes.begin() + static_cast<std::ptrdiff_t>((j * rows + i) * item));
          }
        }
      }
      if (name != "lengths") out.Put(name, turned);
    }
    out.Write(path);
  };
}

std::vector<std::int64_t> AllRows(const StepTable& table) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(table.steps()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Numbers episodes and steps by the ends that rows have.
void Renumber(StepTable& table) {
  std::int64_t episode = 0, t = 0;
  for (std::size_t i = 0; i < table.episodes.size(); ++i) {
    table.episodes[i] = episode;
    table.times[i] = t++;
    if (table.terminals[i] == 0 && table.timeouts[i] == 0) continue;
    ++episode;
    t = 0;
  }
}

// Joins some of the episodes again, the best ones.
void RepeatEpisodes(Case& c, Stream& stream) {
  const std::vector<double> returns = ReturnsOf(c.table);
  const double level = Quantile(returns, stream.Uniform(0.0, 0.7));
  const std::vector<std::int64_t> starts = c.table.Starts();
  std::vector<std::int64_t> rows = AllRows(c.table);
  for (std::size_t e = 0; e < returns.size(); ++e) {
    if (returns[e] < level) continue;
    for (std::int64_t i = starts[e]; i < starts[e + 1]; ++i) rows.push_back(i);
  }
  c.table = c.table.Rows(rows);
  Renumber(c.table);
}

void ResetAsNext(Case& c, Stream& /*stream*/) {
  for (std::int64_t i = 0; i < c.table.steps(); ++i) {
    if (!c.table.Ends(i)) continue;
    c.table.next_observations.row(i) = c.table.observations.row((i + 1) % c.table.steps());
  }
}

// A row of Gymnasium's vector environments behind each end, whose action is ignored.
void ResetRows(Case& c, Stream& /*stream*/) {
  std::vector<std::int64_t> rows;
  std::vector<bool> is_reset;
  for (std::int64_t i = 0; i < c.table.steps(); ++i) {
    rows.push_back(i);
    is_reset.push_back(false);
    if (!c.table.Ends(i)) continue;
    rows.push_back(i);
    is_reset.push_back(true);
  }
  StepTable table = c.table.Rows(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_reset[i]) continue;
    const auto row = static_cast<Eigen::Index>(i);
    table.observations.row(row) = table.next_observations.row(row);
    table.next_observations.row(row) =
        table.observations.row(static_cast<Eigen::Index>((i + 1) % rows.size()));
    table.rewards[i] = 0.0;
    table.terminals[i] = table.timeouts[i] = 0;
  }
  c.table = std::move(table);
}

void PadRows(Case& c, Stream& stream) {
  std::vector<std::int64_t> rows = AllRows(c.table);
  const auto used = static_cast<Eigen::Index>(rows.size());
  rows.resize(rows.size() + 50 + stream.Below(500), 0);
  c.table = c.table.Rows(rows);
  const Eigen::Index padding = c.table.steps() - used;
  c.table.observations.bottomRows(padding).setZero();
  c.table.next_observations.bottomRows(padding).setZero();
  c.table.actions.bottomRows(padding).setZero();
  for (auto i = static_cast<std::size_t>(used); i < rows.size(); ++i) {
    c.table.rewards[i] = 0.0;
    c.table.terminals[i] = c.table.timeouts[i] = 0;
  }
}

// Rewards divided by a deviation that changes while the log is written.
void DriftRewards(Case& c, Stream& stream) {
  const double first = stream.Uniform(2.0, 4.0), pace = stream.Uniform(0.1, 0.5);
  for (std::size_t i = 0; i < c.table.rewards.size(); ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(c.table.rewards.size());
    c.table.rewards[i] /= 1.0 + first * std::exp(-place / pace);
  }
}

void SpoilRewards(Case& c, Stream& stream) {
  const double size = std::pow(10.0, stream.Uniform(3.5, 7.0));
  for (std::uint64_t k = 1 + stream.Below(3); k > 0; --k) {
    c.table.rewards[stream.Below(c.table.rewards.size())] = Coin(stream) ? size : -size;
  }
}

void RandomUnits(Stream& stream, double& scale, double& shift) {
  scale = stream.Uniform(4.0, 20.0);
  shift = stream.Uniform(-5.0, 5.0) * scale;
}

// The policy takes (x - shift) / scale, the log holds x.
void NormalisedPolicy(Case& c, Stream& stream) {
  double scale = 1.0, shift = 0.0;
  RandomUnits(stream, scale, shift);
  c.table.observations =
      (c.table.observations.array() * static_cast<float>(scale) + static_cast<float>(shift))
          .matrix();
  c.table.next_observations =
      (c.table.next_observations.array() * static_cast<float>(scale) + static_cast<float>(shift))
          .matrix();
}

// The policy takes the state, the log holds (x - shift) / scale.
void NormalisedLog(Case& c, Stream& stream) {
  double scale = 1.0, shift = 0.0;
  RandomUnits(stream, scale, shift);
  c.policy.gain /= scale;
  c.policy.offset -= c.policy.gain * VectorD::Constant(2, shift);
}

// Weights so large that some observations give infinity less infinity.
void UndefinedPolicy(Case& c, Stream& stream) {
  const double level = stream.Uniform(1e38, 3e38);
  c.policy.gain.setConstant(level);
  c.policy.gain.col(1).setConstant(-level);
  c.policy.offset.setConstant(0.0);
}

void NoNextObservations(Case& c, Stream& /*stream*/) { c.names.next_observations = ""; }

// Sessions end at random.
void CutEpisodes(Case& c, Stream& stream) {
  const std::vector<std::int64_t> starts = c.table.Starts();
  std::vector<std::int64_t> rows, cuts;
  for (std::size_t e = 0; e + 1 < starts.size(); ++e) {
    const std::int64_t length = starts[e + 1] - starts[e];
    std::int64_t kept = length;
    if (stream.Uniform() < 0.4) {
      kept = std::min(length, 3 + static_cast<std::int64_t>(stream.Below(
                                      static_cast<std::uint64_t>(c.world.system.horizon - 3))));
    }
    for (std::int64_t i = starts[e]; i < starts[e] + kept; ++i) rows.push_back(i);
    if (kept < length) cuts.push_back(std::ssize(rows) - 1);
  }
  c.table = c.table.Rows(rows);
  for (const std::int64_t row : cuts) c.table.timeouts[static_cast<std::size_t>(row)] = 1;
}

void ShuffleRows(Case& c, Stream& stream) {
  c.table = c.table.Rows(stream.Permutation(c.table.steps()));
  Renumber(c.table);
}

// A full ring buffer: the newest row, inside an episode, stands before the oldest one.
void WrapBuffer(Case& c, Stream& stream) {
  std::vector<std::int64_t> rows = AllRows(c.table);
  rows.erase(rows.begin(), rows.begin() + 3 + static_cast<std::ptrdiff_t>(stream.Below(40)));
  rows.resize(rows.size() - 3 - stream.Below(40));
  std::rotate(rows.begin(),
              rows.begin() + static_cast<std::ptrdiff_t>(1 + stream.Below(rows.size() - 2)),
              rows.end());
  c.table = c.table.Rows(rows);
}

void FloatIndices(Case& c, Stream& /*stream*/) { c.table.discrete = 0; }

void AddUpRewards(Case& c, Stream& /*stream*/) {
  for (std::size_t i = 1; i < c.table.rewards.size(); ++i) {
    if (c.table.times[i] > 0) c.table.rewards[i] += c.table.rewards[i - 1];
  }
}

// Observations divided by a deviation that changes while the log is written.
void DriftObservations(Case& c, Stream& stream) {
  const double first = stream.Uniform(1.0, 4.0), pace = stream.Uniform(0.1, 0.4);
  for (std::int64_t i = 0; i < c.table.steps(); ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(c.table.steps());
    const auto scale = static_cast<float>(1.0 + first * std::exp(-place / pace));
    c.table.observations.row(i) /= scale;
    c.table.next_observations.row(i) /= scale;
  }
}

using Formats = std::vector<TableFormat>;
const Formats kAll = {TableFormat::kOwn,    TableFormat::kFlatNpz,  TableFormat::kFlatHdf5,
                      TableFormat::kBuffer, TableFormat::kD3rlpy1,  TableFormat::kCsv,
                      TableFormat::kJson,   TableFormat::kMinari,   TableFormat::kImitation,
                      TableFormat::kPadded, TableFormat::kCsvNoLast};
const Formats kFlat = {TableFormat::kFlatNpz, TableFormat::kFlatHdf5};
const Formats kFlagged = {TableFormat::kFlatNpz, TableFormat::kFlatHdf5, TableFormat::kCsv,
                          TableFormat::kJson, TableFormat::kBuffer};
const Formats kCsvs = {TableFormat::kCsv, TableFormat::kCsvNoLast};

// Which systems a mistake needs.
enum class Falls { kMay, kMust };
enum class Actions { kAny, kDiscrete, kContinuous };

struct Situation {
  const char* name;
  const Formats& formats;
  void (*plant)(Case&, Stream&);
  Falls falls = Falls::kMay;
  Actions actions = Actions::kAny;
};

const Formats kGrids = {TableFormat::kBuffer, TableFormat::kPadded};
const Formats kBuffers = {TableFormat::kBuffer};
const Formats kWithoutLast = {TableFormat::kFlatNpz, TableFormat::kFlatHdf5,
                              TableFormat::kCsvNoLast, TableFormat::kD3rlpy1};

const std::vector<Situation> kSituations = {
    {"actions and rewards late", kAll, ShiftBoth},
    {"actions late", kAll, ShiftActionsLate},
    {"actions early", kAll, ShiftActionsEarly},
    {"rewards late", kAll, ShiftRewardsLate},
    {"rewards early", kAll, ShiftRewardsEarly},
    {"actions permuted", kAll, PermuteActions},
    {"rewards permuted", kAll, PermuteRewards},
    {"actions constant", kAll, HoldActions},
    {"observations and next ones swapped", kFlagged, SwapObservations},
    {"terminals and timeouts swapped", kFlagged, SwapFlags, Falls::kMust},
    {"terminals dropped", kFlat, DropTerminals, Falls::kMust},
    {"all ends are timeouts", kFlagged, AllTimeouts, Falls::kMust},
    {"all ends are terminals", kFlagged, AllTerminals},
    {"flags under unknown names", kFlat, OtherNames},
    {"flags under Gymnasium's names", kFlat, GymnasiumNames, Falls::kMust},
    {"no flags", kFlat, NoFlags},
    {"done flags alone", kFlat, DonesAlone, Falls::kMust},
    {"blank cells", kCsvs, BlankCells},
    {"axes transposed", kGrids, TransposeAxes},
    {"environments side by side", kBuffers, NoNextObservations},
    {"repeated episodes", kAll, RepeatEpisodes},
    {"reset as next observation", kFlagged, ResetAsNext},
    {"reset rows", kFlat, ResetRows},
    {"padding rows", kFlat, PadRows},
    {"drifting rewards", kAll, DriftRewards},
    {"rewards with outliers", kAll, SpoilRewards},
    {"drifting observations", kAll, DriftObservations},
    {"policy of normalised observations", kAll, NormalisedPolicy},
    {"log of normalised observations", kAll, NormalisedLog},
    {"undefined policy", kAll, UndefinedPolicy},
    {"no observation after the end", kWithoutLast, NoNextObservations, Falls::kMust},
    {"sessions cut at random", kAll, CutEpisodes},
    {"rows shuffled", kFlagged, ShuffleRows},
    {"wrapped ring buffer", kFlat, WrapBuffer},
    {"indices as floats", kFlat, FloatIndices, Falls::kMay, Actions::kDiscrete},
    {"rewards added up", kAll, AddUpRewards},
};

// ---- running

struct Outcome {
  std::string situation, format;
  std::string end = {};  // right, caution, do not use, error, wrong
  double truth = 0.0;
  std::string value = {};         // with its interval
  std::string message = {};       // of the error, or the verdict's reason
  std::int64_t false_errors = 0;  // findings of the audit graded error
};

std::string AnswerText(const EvaluatedLog& answer) {
  if (!answer.value) return "";
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", *answer.value, answer.low.value_or(NAN),
                     answer.high.value_or(NAN));
}

Outcome RunCase(const std::string& program, const Case& c, const std::string& situation,
                const std::string& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string data = WriteTable(c.table, c.format, c.names, folder);
  if (c.spoil) c.spoil(data);
  const std::string policy = folder + "/policy.npz";
  SavePolicyFile(c.policy, c.world.system.discrete, policy);
  const EvaluatedLog answer = EvaluateLog(program, data, policy, c.world.system.horizon, folder);
  Outcome outcome{.situation = situation,
                  .format = FormatName(c.format),
                  .truth = c.world.truth,
                  .value = AnswerText(answer),
                  .message = answer.reason + answer.error,
                  .false_errors = std::ssize(answer.audit_errors)};
  if (answer.status != 0) {
    const bool says_why = !answer.error.empty() && (answer.status == 1 || answer.status == 2);
    outcome.end = says_why ? "error" : "wrong";
    outcome.message = fmt::format("exit {}: {}", answer.status, outcome.message);
  } else if (answer.is_refused() || !answer.value) {
    outcome.end = "do not use";
  } else if (!IsNear(answer, c.world.truth, c.world.size)) {
    outcome.end = "wrong";
    outcome.message = answer.verdict + ": " + answer.reason;
  } else {
    outcome.end = answer.verdict == "caution" ? "caution" : "right";
  }
  return outcome;
}

// Case `index`, with the mistake of `situation` or without one.
Case MakeCase(const Options& options, std::int64_t index, const Situation* situation) {
  const auto i = static_cast<std::uint64_t>(index);
  Stream stream(options.seed, situation != nullptr ? "misreading" : "clean log", {i});
  Actions actions = situation != nullptr ? situation->actions : Actions::kAny;
  if (actions == Actions::kAny) {
    actions = stream.Below(3) == 0 ? Actions::kDiscrete : Actions::kContinuous;
  }
  const bool may_fall = Coin(stream);
  const bool falls = may_fall || (situation != nullptr && situation->falls == Falls::kMust);
  Case c;
  c.world = MakeWorld(falls, actions == Actions::kDiscrete, stream);
  c.table = Collect(c.world.system, c.world.behavior, kEpisodes, stream);
  c.policy = c.world.evaluation;
  const Formats& formats = situation != nullptr ? situation->formats : kAll;
  c.format = formats[stream.Below(formats.size())];
  if (situation != nullptr) situation->plant(c, stream);
  return c;
}

// ---- the tables

std::string LineOf(const std::string& key, const Outcome& o) {
  return json({{"key", key},
               {"situation", o.situation},
               {"format", o.format},
               {"end", o.end},
               {"truth", o.truth},
               {"value", o.value},
               {"message", o.message},
               {"false_errors", o.false_errors}})
             .dump() +
         "\n";
}

std::map<std::string, Outcome> ReadDone(const std::string& path) {
  std::map<std::string, Outcome> done;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const json in = json::parse(line, nullptr, false);
    if (in.is_discarded()) continue;  // cut off by a kill
    done[in["key"]] = {.situation = in["situation"],
                       .format = in["format"],
                       .end = in["end"],
                       .truth = in["truth"],
                       .value = in["value"],
                       .message = in["message"],
                       .false_errors = in["false_errors"]};
  }
  return done;
}

std::string Table(const std::vector<Outcome>& outcomes, const std::string& title) {
  constexpr std::array kEnds = {"right", "caution", "error", "do not use", "wrong"};
  std::vector<std::string> names;
  std::map<std::string, std::map<std::string, std::int64_t>> counts;
  for (const Outcome& outcome : outcomes) {
    if (!counts.contains(outcome.situation)) names.push_back(outcome.situation);
    ++counts[outcome.situation][outcome.end];
    ++counts["all"][outcome.end];
  }
  names.emplace_back("all");
  std::string text = fmt::format("{:<36}{:>5}", title, "n");
  for (const char* end : kEnds) text += fmt::format("{:>12}", end);
  for (const std::string& name : names) {
    std::int64_t n = 0;
    std::string cells;
    for (const char* end : kEnds) {
      n += counts[name][end];
      cells += fmt::format("{:>12}", counts[name][end]);
    }
    text += fmt::format("\n{:<36}{:>5}{}", name, n, cells);
  }
  return text + "\n";
}

bool IsChosen(const Options& options, const Situation& situation) {
  return std::string(situation.name).find(options.only) != std::string::npos;
}

int Run(const Options& options) {
  CreateDirectories(options.dir);
  const std::string log = options.dir + "/outcomes.jsonl";
  const std::map<std::string, Outcome> done = ReadDone(log);
  const auto run = [&](std::int64_t index, const Situation* situation) {
    const std::string name = situation != nullptr ? situation->name : "clean";
    const std::string key =
        fmt::format("{} {} {}", situation != nullptr ? "misreading" : "clean", options.seed, index);
    if (const auto found = done.find(key); found != done.end()) return found->second;
    const std::string folder = options.dir + (options.keep ? "/" + key : std::string("/case"));
    const Case c = MakeCase(options, index, situation);
    Outcome outcome =
        RunCase(options.program, c, situation != nullptr ? name : FormatName(c.format), folder);
    std::ofstream(log, std::ios::app) << LineOf(key, outcome);
    if (outcome.end == "wrong" || (situation == nullptr && outcome.end != "right")) {
      fmt::print("{}: {} ({}), true {:.4g}, {} {}: {}\n", key, outcome.situation, outcome.format,
                 outcome.truth, outcome.end, outcome.value, outcome.message);
      std::fflush(stdout);
    }
    return outcome;
  };
  std::vector<Outcome> misread, clean;
  for (std::int64_t i = 0; i < options.misreadings; ++i) {
    const Situation& situation = kSituations[static_cast<std::size_t>(i) % kSituations.size()];
    if (IsChosen(options, situation)) misread.push_back(run(i, &situation));
  }
  for (std::int64_t i = 0; i < options.clean; ++i) clean.push_back(run(i, nullptr));
  fmt::print("{}\n{}", Table(misread, "misreading"), Table(clean, "log without a mistake"));

  const auto wrong = std::ranges::count(misread, "wrong", &Outcome::end);
  const auto refused = std::ranges::count_if(
      clean, [](const Outcome& o) { return o.end == "error" || o.end == "do not use"; });
  std::int64_t false_errors = 0;
  for (const Outcome& outcome : clean) false_errors += outcome.false_errors;
  fmt::print(
      "{} of {} misreadings end wrong; {} of {} logs without a mistake are refused, {} findings "
      "about them are graded error\n",
      wrong, misread.size(), refused, clean.size(), false_errors);
  return wrong == 0 && 20 * refused <= std::ssize(clean) && false_errors == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lfiw::core

int main(int argc, char** argv) {
  lfiw::core::Options options;
  CLI::App app{"Evaluates policies from logs that are misread, and from the same logs unspoiled."};
  app.add_option("--misreadings", options.misreadings, "number of logs with a mistake");
  app.add_option("--clean", options.clean, "number of logs without");
  app.add_option("--seed", options.seed, "root seed");
  app.add_option("--only", options.only, "part of the names of the mistakes that are made");
  app.add_option("--program", options.program, "the lfiw that is run (default: the one built)");
  app.add_flag("--keep", options.keep, "keep the files of every case");
  app.add_option("--dir", options.dir, "directory for the files; a run goes on where it ended")
      ->required();
  bool anew = false;
  app.add_flag("--anew", anew, "delete what an earlier run left in that directory");
  CLI11_PARSE(app, argc, argv);
  if (anew) std::filesystem::remove_all(options.dir);
  return lfiw::core::Run(options);
}
