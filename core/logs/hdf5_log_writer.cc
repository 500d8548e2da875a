#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "core/arrays/hdf5_writer.h"
#include "core/error.h"
#include "core/logs/log_writers.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

using nlohmann::json;

NpzArray MakeArray(const MatrixF& rows) {
  const auto bytes = std::as_bytes(std::span(rows.data(), static_cast<std::size_t>(rows.size())));
  return {"f4", {rows.rows(), rows.cols()}, {bytes.begin(), bytes.end()}};
}

template <class T>
NpzArray MakeArray(const char* type, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {type, {static_cast<std::int64_t>(values.size())}, {bytes.begin(), bytes.end()}};
}

// Whole numbers for discrete actions.
NpzArray ActionArray(const MatrixF& actions, const LogInfo& info, const std::string& path) {
  if (info.discrete_actions == 0) return MakeArray(actions);
  return MakeArray<std::int64_t>("i8", ActionIndices(actions, path));
}

class D4rlWriter final : public LogWriter {
 public:
  D4rlWriter(const std::string& path, const LogInfo& info)
      : info_(info), file_(path), out_(file_.temporary(), Hdf5Compression::kGzip) {
    if (!info.environment.empty()) out_.SetAttribute("", "environment", info.environment);
    if (info.discrete_actions > 0) out_.SetAttribute("", "discrete_actions", info.discrete_actions);
  }

  void Append(const EpisodeBatch& batch) override {
    if (batch.episodes() == 0) return;
    MatrixF observations(batch.steps(), batch.obs_dim());
    MatrixF next(batch.steps(), batch.obs_dim());
    std::vector<std::uint8_t> terminals(static_cast<std::size_t>(batch.steps()), 0);
    std::vector<std::uint8_t> timeouts = terminals;
    for (std::int64_t e = 0; e < batch.episodes(); ++e) {
      const std::int64_t first = batch.offsets[static_cast<std::size_t>(e)];
      const std::int64_t length = batch.Length(e);
      const std::int64_t row = batch.ObservationRow(e, 0);
      observations.middleRows(first, length) = batch.observations.middleRows(row, length);
      next.middleRows(first, length) = batch.observations.middleRows(row + 1, length);
      if (!batch.EndRecorded(e)) next.row(first + length - 1).setConstant(kUnrecorded);
      const bool ended = batch.terminated[static_cast<std::size_t>(e)] != 0;
      (ended ? terminals : timeouts)[static_cast<std::size_t>(first + length - 1)] = 1;
    }
    out_.Append("observations", MakeArray(observations));
    out_.Append("next_observations", MakeArray(next));
    out_.Append("actions", ActionArray(batch.actions, info_, file_.temporary()));
    out_.Append("rewards", MakeArray<double>("f8", batch.rewards));
    out_.Append("terminals", MakeArray<std::uint8_t>("b1", terminals));
    out_.Append("timeouts", MakeArray<std::uint8_t>("b1", timeouts));
    if (batch.aux_dim() > 0) out_.Append("infos/aux", MakeArray(batch.aux));
    if (!batch.behavior_log_density.empty()) {
      out_.Append("infos/action_log_probs", MakeArray<double>("f8", batch.behavior_log_density));
    }
  }

  void Finish() override {
    out_.Close();
    file_.Commit();
  }

 private:
  LogInfo info_;
  AtomicFile file_;
  Hdf5Writer out_;
};

// A space without bounds, in Minari's JSON (which knows Infinity).
std::string BoxText(std::int64_t size) {
  std::vector<std::string> low(static_cast<std::size_t>(size), "-Infinity");
  std::vector<std::string> high(static_cast<std::size_t>(size), "Infinity");
  return fmt::format(
      R"({{"type": "Box", "dtype": "float32", "shape": [{}], "low": [{}], "high": [{}]}})", size,
      fmt::join(low, ", "), fmt::join(high, ", "));
}

std::string ActionSpaceText(const LogInfo& info, std::int64_t action_dim) {
  if (info.discrete_actions == 0) return BoxText(action_dim);
  return fmt::format(R"({{"type": "Discrete", "dtype": "int64", "start": 0, "n": {}}})",
                     info.discrete_actions);
}

// A directory that appears under its name when it is whole.
class AtomicDirectory {
 public:
  explicit AtomicDirectory(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
    std::error_code error;
    if (std::filesystem::exists(path_, error)) {
      Throw<DataError>("cannot write {}: it exists; a Minari dataset is a new directory", path_);
    }
    temporary_ = fmt::format("{}.{}.tmp", path_, getpid());
    CreateDirectories(temporary_ + "/data");
  }
  AtomicDirectory(const AtomicDirectory&) = delete;
  AtomicDirectory& operator=(const AtomicDirectory&) = delete;
  ~AtomicDirectory() {
    std::error_code error;
    if (!committed_) std::filesystem::remove_all(temporary_, error);
  }

  const std::string& path() const { return path_; }
  std::string File(const char* name) const { return temporary_ + "/data/" + name; }

  void Commit() {
    std::error_code error;
    std::filesystem::rename(temporary_, path_, error);
    if (error) Throw<DataError>("cannot write {}: {}", path_, error.message());
    committed_ = true;
  }

 private:
  std::string path_;
  std::string temporary_;
  bool committed_ = false;
};

class MinariWriter final : public LogWriter {
 public:
  MinariWriter(const std::string& path, const LogInfo& info)
      : info_(info), directory_(path), out_(directory_.File("main_data.hdf5")) {}

  void Append(const EpisodeBatch& batch) override {
    obs_dim_ = batch.obs_dim();
    action_dim_ = batch.action_dim();
    for (std::int64_t e = 0; e < batch.episodes(); ++e) AppendEpisode(batch, e);
  }

  void Finish() override {
    out_.Close();
    SyncToDisk(directory_.File("main_data.hdf5"));
    const std::string name = std::filesystem::path(directory_.path()).filename().string();
    json metadata = {{"dataset_id", name + "-v0"},
                     {"total_episodes", episodes_},
                     {"total_steps", steps_},
                     {"data_format", "hdf5"},
                     {"jpeg_encoding", false},
                     {"minari_version", "0.5.0"},
                     {"observation_space", BoxText(obs_dim_)},
                     {"action_space", ActionSpaceText(info_, action_dim_)}};
    if (!info_.environment.empty()) metadata["environment"] = info_.environment;
    WriteFileAtomically(directory_.File("metadata.json"), metadata.dump(2));
    directory_.Commit();
  }

 private:
  void AppendEpisode(const EpisodeBatch& batch, std::int64_t e) {
    const std::string group = fmt::format("episode_{}", episodes_);
    const std::int64_t first = batch.offsets[static_cast<std::size_t>(e)];
    const std::int64_t length = batch.Length(e);
    const auto part = [&](const std::vector<double>& values) {
      return std::span(values).subspan(static_cast<std::size_t>(first),
                                       static_cast<std::size_t>(length));
    };
    const auto put = [&](const char* name, const NpzArray& array) {
      out_.Put(group + "/" + name, array);
    };
    MatrixF observations = batch.observations.middleRows(batch.ObservationRow(e, 0), length + 1);
    if (!batch.EndRecorded(e)) observations.bottomRows(1).setConstant(kUnrecorded);
    put("observations", MakeArray(observations));
    put("actions", ActionArray(batch.actions.middleRows(first, length), info_, directory_.path()));
    put("rewards", MakeArray<double>("f8", part(batch.rewards)));
    std::vector<std::uint8_t> ended(static_cast<std::size_t>(length), 0);
    std::vector<std::uint8_t> cut = ended;
    (batch.terminated[static_cast<std::size_t>(e)] != 0 ? ended : cut).back() = 1;
    put("terminations", MakeArray<std::uint8_t>("b1", ended));
    put("truncations", MakeArray<std::uint8_t>("b1", cut));
    // infos start with one of the reset
    if (batch.aux_dim() > 0) {
      MatrixF aux = MatrixF::Zero(length + 1, batch.aux_dim());
      aux.bottomRows(length) = batch.aux.middleRows(first, length);
      put("infos/aux", MakeArray(aux));
    }
    if (!batch.behavior_log_density.empty()) {
      std::vector<double> density = {0.0};
      const auto values = part(batch.behavior_log_density);
      density.insert(density.end(), values.begin(), values.end());
      put("infos/behavior_log_density", MakeArray<double>("f8", density));
    }
    out_.SetAttribute(group, "id", episodes_);
    out_.SetAttribute(group, "total_steps", length);
    ++episodes_;
    steps_ += length;
  }

  LogInfo info_;
  AtomicDirectory directory_;
  Hdf5Writer out_;
  std::int64_t obs_dim_ = 0, action_dim_ = 0;
  std::int64_t episodes_ = 0, steps_ = 0;
};

}  // namespace

std::unique_ptr<LogWriter> CreateD4rlLog(const std::string& path, const LogInfo& info) {
  return std::make_unique<D4rlWriter>(path, info);
}

std::unique_ptr<LogWriter> CreateMinariLog(const std::string& path, const LogInfo& info) {
  return std::make_unique<MinariWriter>(path, info);
}

}  // namespace lfiw::core
