#include "core/logs/env_axis.h"

#include <algorithm>
#include <utility>

#include "core/arrays/npy_header.h"
#include "core/error.h"
#include "core/logs/array_blocks.h"

namespace lfiw::core {
namespace {

// Observations that are compared at most, in numbers.
constexpr std::int64_t kComparedNumbers = std::int64_t{4} << 20;

struct Share {
  double same = 0.0, all = 0.0;
  double value() const { return all > 0.0 ? same / all : 0.0; }
};

}  // namespace

TimeAxis FindTimeAxis(ArrayStore& store, const LogKeys& keys) {
  if (keys.next_observation.empty()) return TimeAxis::kUnknown;
  const ArrayInfo& info = store.Info(keys.observation);
  const ArrayInfo& next_info = store.Info(keys.next_observation);
  if (info.shape != next_info.shape || info.shape.size() < 2 || info.shape[1] < 1) {
    return TimeAxis::kUnknown;
  }
  const std::int64_t columns = info.shape[1], width = info.row_items() / columns;
  if (width < 1) return TimeAxis::kUnknown;
  const std::int64_t rows =
      std::clamp<std::int64_t>(kComparedNumbers / info.row_items(), 2, info.rows());
  const auto read = [&](const std::string& key) {
    const MatrixF block = ReadMatrix(store, key, 0, rows);
    return MatrixF(Eigen::Map<const MatrixF>(block.data(), rows * columns, width));
  };
  const MatrixF now = read(keys.observation), next = read(keys.next_observation);
  Share first, second;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      // padding continues along both
      if (next.row(i * columns + j).isZero(0.0f) && now.row(i * columns + j).isZero(0.0f)) continue;
      const auto compare = [&](std::int64_t after, Share& share) {
        share.all += 1.0;
        share.same += SameRow(next, i * columns + j, now, after) ? 1.0 : 0.0;
      };
      if (i + 1 < rows) compare((i + 1) * columns + j, first);
      if (j + 1 < columns) compare(i * columns + j + 1, second);
    }
  }
  if (first.value() >= 0.5 && first.value() > 2.0 * second.value()) return TimeAxis::kFirst;
  if (second.value() >= 0.5 && second.value() > 2.0 * first.value()) return TimeAxis::kSecond;
  return TimeAxis::kUnknown;
}

bool HoldsStreams(ArrayStore& store, const LogKeys& keys) {
  const ArrayInfo& info = store.Info(keys.observation);
  const std::int64_t steps = info.shape.at(1), width = info.row_items() / steps;
  for (std::int64_t e = 0; e < info.rows(); ++e) {
    std::int64_t end = steps;
    for (const std::string& key : {keys.terminal, keys.timeout, keys.end}) {
      if (key.empty()) continue;
      const std::vector<std::uint8_t> flags = ReadFlags(store, key, e, 1);
      end = std::min(end, std::int64_t{std::find(flags.begin(), flags.end(), 1) - flags.begin()});
    }
    const MatrixF row = ReadMatrix(store, keys.observation, e, 1);
    for (std::int64_t t = end + 2; t < steps; ++t) {
      for (std::int64_t k = 0; k < width; ++k) {
        if (row(0, t * width + k) != row(0, (t - 1) * width + k)) return true;
      }
    }
  }
  return false;
}

EnvRowsStore::EnvRowsStore(std::unique_ptr<ArrayStore> store, const LogKeys& keys, TimeAxis axis)
    : store_(std::move(store)), axis_(axis) {
  const std::vector<std::int64_t> shape = store_->Info(keys.reward).shape;
  const bool time_first = axis == TimeAxis::kFirst;
  steps_in_file_ = time_first ? shape.at(0) : shape.at(1);
  environments_ = time_first ? shape.at(1) : shape.at(0);
  steps_ = time_first ? CountUsed(keys.observation) : steps_in_file_;
  for (const auto& [name, info] : store_->arrays()) {
    ArrayInfo flat = info;
    const bool of_steps =
        info.shape.size() >= 2 && info.shape[0] == shape[0] && info.shape[1] == shape[1];
    if (of_steps) {
      flat.shape.erase(flat.shape.begin());
      flat.shape[0] = environments_ * steps_;
    }
    arrays_.emplace(name, std::move(flat));
  }
}

// Steps up to the last that is not 0 in every environment; two or more behind it are padding.
std::int64_t EnvRowsStore::CountUsed(const std::string& key) {
  const std::int64_t rows = store_->Info(key).rows();
  const std::int64_t piece =
      std::max<std::int64_t>(kComparedNumbers / store_->Info(key).row_items(), 1);
  std::int64_t used = 0;
  for (std::int64_t at = 0; at < rows; at += piece) {
    const MatrixF block = ReadMatrix(*store_, key, at, std::min(piece, rows - at));
    for (Eigen::Index i = 0; i < block.rows(); ++i) {
      if ((block.row(i).array() != 0.0f).any()) used = at + i + 1;
    }
  }
  return rows - used > 1 && used > 0 ? used : rows;
}

const NpzArray& EnvRowsStore::Whole(const std::string& name) {
  if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second;
  NpzArray array = store_->ReadAll(name);
  const ArrayInfo& flat = Info(name);
  if (array.shape != flat.shape) {
    const auto item = static_cast<std::size_t>(flat.row_items() * NpyItemSize(array.type));
    std::vector<std::byte> rows(item * static_cast<std::size_t>(environments_ * steps_));
    for (std::int64_t env = 0; env < environments_; ++env) {
      for (std::int64_t t = 0; t < steps_; ++t) {
        const std::int64_t from =
            axis_ == TimeAxis::kFirst ? t * environments_ + env : env * steps_in_file_ + t;
        std::copy_n(array.bytes.begin() + from * static_cast<std::int64_t>(item), item,
                    rows.begin() + (env * steps_ + t) * static_cast<std::int64_t>(item));
      }
    }
    array.bytes = std::move(rows);
    array.shape = flat.shape;
  }
  return loaded_.emplace(name, std::move(array)).first->second;
}

NpzArray EnvRowsStore::ReadRows(const std::string& name, std::int64_t first, std::int64_t count) {
  const NpzArray& whole = Whole(name);
  NpzArray out{whole.type, whole.shape, {}};
  if (out.shape.empty()) return whole;
  const std::int64_t rows = std::max<std::int64_t>(whole.shape[0], 1);
  const std::int64_t row = static_cast<std::int64_t>(whole.bytes.size()) / rows;
  out.shape[0] = count;
  out.bytes.assign(whole.bytes.begin() + first * row, whole.bytes.begin() + (first + count) * row);
  return out;
}

}  // namespace lfiw::core
