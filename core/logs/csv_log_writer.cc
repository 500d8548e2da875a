#include <iterator>

#include "core/error.h"
#include "core/logs/log_writers.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

class CsvLogWriter final : public LogWriter {
 public:
  CsvLogWriter(const std::string& path, const LogInfo& info)
      : info_(info), file_(path), out_(file_.temporary()) {}

  void Append(const EpisodeBatch& batch) override {
    if (batch.episodes() == 0) return;
    if (episodes_ == 0) out_.Write(Header(batch));
    std::vector<std::int64_t> discrete;
    if (info_.discrete_actions > 0) discrete = ActionIndices(batch.actions, file_.temporary());
    for (std::int64_t e = 0; e < batch.episodes(); ++e, ++episodes_) {
      std::string text;
      // an end that is not recorded has no line of its own
      for (std::int64_t t = 0; t <= batch.Outcomes(e); ++t) AppendLine(batch, discrete, e, t, text);
      out_.Write(text);
    }
  }

  void Finish() override {
    out_.Close();
    file_.Commit();
  }

 private:
  std::string Header(const EpisodeBatch& batch) const {
    std::string text = "episode,t";
    const auto append = [&](const char* name, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) text += fmt::format(",{}_{}", name, i);
    };
    append("obs", batch.obs_dim());
    if (info_.discrete_actions > 0) {
      text += ",action";
    } else {
      append("action", batch.action_dim());
    }
    text += ",reward,terminated,truncated";
    if (!batch.behavior_log_density.empty()) text += ",behavior_log_density";
    append("aux", batch.aux_dim());
    return text + "\n";
  }

  // Step `t`, or, at the episode's length, the last observation with all else empty.
  void AppendLine(const EpisodeBatch& batch, const std::vector<std::int64_t>& discrete,
                  std::int64_t e, std::int64_t t, std::string& text) const {
    const std::int64_t length = batch.Length(e);
    const std::int64_t step = batch.offsets[static_cast<std::size_t>(e)] + t;
    const auto i = static_cast<std::size_t>(step);
    const bool last = t == length;
    const bool ends = t + 1 == length;
    const bool terminal = batch.terminated[static_cast<std::size_t>(e)] != 0;
    auto out = std::back_inserter(text);
    const auto put = [&](auto value) {
      if (last) {
        text += ',';
      } else {
        fmt::format_to(out, ",{}", value);
      }
    };
    fmt::format_to(out, "{},{}", episodes_, t);
    const auto observation = batch.observations.row(batch.ObservationRow(e, t));
    for (Eigen::Index k = 0; k < observation.size(); ++k) {
      fmt::format_to(out, ",{}", observation(k));
    }
    if (info_.discrete_actions > 0) put(last ? 0 : discrete[i]);
    for (Eigen::Index k = 0; info_.discrete_actions == 0 && k < batch.action_dim(); ++k) {
      put(last ? 0.0f : batch.actions(step, k));
    }
    put(last ? 0.0 : batch.rewards[i]);
    put(ends && terminal ? 1 : 0);
    put(ends && !terminal ? 1 : 0);
    if (!batch.behavior_log_density.empty()) put(last ? 0.0 : batch.behavior_log_density[i]);
    for (Eigen::Index k = 0; k < batch.aux_dim(); ++k) put(last ? 0.0f : batch.aux(step, k));
    text += '\n';
  }

  LogInfo info_;
  AtomicFile file_;
  CheckedStream out_;
  std::int64_t episodes_ = 0;
};

}  // namespace

std::unique_ptr<LogWriter> CreateCsvLog(const std::string& path, const LogInfo& info) {
  return std::make_unique<CsvLogWriter>(path, info);
}

}  // namespace lfiw::core
