#include "core/logs/array_blocks.h"

#include <algorithm>

#include "core/error.h"
#include "core/logs/line_reader.h"
#include "core/logs/log_builder.h"

namespace lfiw::core {
namespace {

// Arrays are read in pieces of about this size.
constexpr std::int64_t kBlockBytes = std::int64_t{8} << 20;
// Next observations may have been rounded or computed again.
constexpr float kSameTolerance = 1e-4f;

// Calls visit(block, first row) over the rows first .. first + count - 1.
template <class Visit>
void ForEachBlock(ArrayStore& store, const std::string& key, std::int64_t first, std::int64_t count,
                  Visit visit) {
  const std::int64_t row_bytes = std::max<std::int64_t>(store.Info(key).row_items(), 1) * 8;
  const std::int64_t block = std::max<std::int64_t>(kBlockBytes / row_bytes, 1);
  for (std::int64_t at = first; at < first + count; at += block) {
    visit(store.ReadRows(key, at, std::min(block, first + count - at)), at);
  }
}

// Whole-number actions in one column are discrete.
bool IsDiscrete(const ArrayStore& store, const std::string& key, std::int64_t row_items) {
  return IsIntegerType(store.Info(key).type) && row_items == 1;
}

// The number of actions in an array of their indices: the largest plus one.
std::int64_t CountActions(ArrayStore& store, const std::string& key) {
  std::int64_t largest = 0;
  ForEachBlock(store, key, 0, store.Info(key).rows(), [&](const NpzArray& block, std::int64_t) {
    for (const std::int64_t action : ToIntegers(block, Where(store, key))) {
      if (action < 0 || action >= kMaxDiscreteActions) {
        Throw<DataError>(
            "{}: action {}, expected a discrete action 0 to {} (or floating-point "
            "numbers for continuous actions)",
            Where(store, key), action, kMaxDiscreteActions - 1);
      }
      largest = std::max(largest, action);
    }
  });
  return largest + 1;
}

}  // namespace

std::string Where(const ArrayStore& store, const std::string& key) {
  return fmt::format("{}: array '{}'", store.path(), key);
}

MatrixF ReadMatrix(ArrayStore& store, const std::string& key, std::int64_t first,
                   std::int64_t count) {
  MatrixF out(count, store.Info(key).row_items());
  ForEachBlock(store, key, first, count, [&](const NpzArray& block, std::int64_t at) {
    const MatrixF rows = ToMatrix(block, Where(store, key));
    out.middleRows(at - first, rows.rows()) = rows;
  });
  return out;
}

std::vector<double> ReadDoubles(ArrayStore& store, const std::string& key, std::int64_t first,
                                std::int64_t count) {
  std::vector<double> out;
  ForEachBlock(store, key, first, count, [&](const NpzArray& block, std::int64_t /*at*/) {
    const std::vector<double> values = ToDoubles(block, Where(store, key));
    out.insert(out.end(), values.begin(), values.end());
  });
  return out;
}

std::vector<std::int64_t> ReadIntegers(ArrayStore& store, const std::string& key,
                                       std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> out;
  ForEachBlock(store, key, first, count, [&](const NpzArray& block, std::int64_t /*at*/) {
    const std::vector<std::int64_t> values = ToIntegers(block, Where(store, key));
    out.insert(out.end(), values.begin(), values.end());
  });
  return out;
}

std::vector<std::uint8_t> ReadFlags(ArrayStore& store, const std::string& key, std::int64_t first,
                                    std::int64_t count) {
  std::vector<std::uint8_t> flags;
  for (const double value : ReadDoubles(store, key, first, count)) {
    if (value != 0.0 && value != 1.0) {
      Throw<DataError>("{} holds {} in row {}, expected 0 or 1", Where(store, key), value,
                       first + static_cast<std::int64_t>(flags.size()));
    }
    flags.push_back(value == 1.0 ? 1 : 0);
  }
  return flags;
}

bool SameRow(const MatrixF& x, std::int64_t a, const MatrixF& y, std::int64_t b) {
  // NaN says nothing about continuity
  return !((x.row(a) - y.row(b)).array().abs() > kSameTolerance * (1.0f + y.row(b).array().abs()))
              .any();
}

void FillDims(ArrayStore& store, const LogKeys& keys, std::int64_t obs_items,
              std::int64_t action_items, LogInfo& info) {
  if (obs_items <= 0 || action_items <= 0) {
    Throw<DataError>("{}: observations of {} and actions of {} numbers, expected at least one",
                     store.path(), obs_items, action_items);
  }
  info.format = keys.format;
  info.obs_dim = obs_items;
  info.action_dim = action_items;
  if (!IsDiscrete(store, keys.action, action_items)) return;
  info.discrete_actions = CountActions(store, keys.action);
  if (const auto stated = store.attributes().find("discrete_actions");
      stated != store.attributes().end()) {
    // actions that were never taken count too
    const double count = ParseNumber(stated->second).value_or(0.0);
    if (count > 0.0 && count <= static_cast<double>(kMaxDiscreteActions)) {
      info.discrete_actions = std::max(info.discrete_actions, static_cast<std::int64_t>(count));
    }
  }
  info.action_dim = info.discrete_actions;
  AddNote(info,
          fmt::format("whole-number actions are taken as {} discrete ones", info.discrete_actions));
}

}  // namespace lfiw::core
