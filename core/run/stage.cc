#include "core/run/stage.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/run/sha256.h"

namespace lfiw::core {
namespace {

class SilentProgress : public Progress {
 public:
  void Advance(std::int64_t /*done*/) override {}
  void Note(const std::string& /*text*/) override {}
};

}  // namespace

std::string Toolchain::SourceHash(Layer layer) const {
  std::string all;
  for (std::size_t i = 0; i < sources.size() && i <= static_cast<std::size_t>(layer); ++i) {
    all += sources[i] + "\n";
  }
  return Sha256Hex(all);
}

std::string StageWork::Checkpoints() const { return directory + "/" + kCheckpointFolder; }

std::unique_ptr<Progress> StageWork::StartProgress(const std::string& title, std::int64_t total,
                                                   const std::string& unit) const {
  if (!start_progress) return std::make_unique<SilentProgress>();
  return start_progress(title, total, unit);
}

std::string DescribeStage(const StageId& stage) {
  const nlohmann::ordered_json description = {
      {"stage", stage.name},      {"key", stage.key},
      {"inputs", stage.inputs},   {"version", stage.version},
      {"sources", stage.sources}, {"computed_with", stage.computed_with}};
  // a path need not be UTF-8, and must not stop the work for that
  return description.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string StageId::Hash() const { return Sha256Hex(DescribeStage(*this)); }

}  // namespace lfiw::core
