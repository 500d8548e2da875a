#include "core/run/stage.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "core/run/sha256.h"
#include "core/run/stage_cache.h"

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

std::string StageWork::Checkpoints() const {
  return directory + "/" + StageCache::kCheckpointFolder;
}

std::unique_ptr<Progress> StageWork::StartProgress(const std::string& title, std::int64_t total,
                                                   const std::string& unit) const {
  if (!start_progress) return std::make_unique<SilentProgress>();
  return start_progress(title, total, unit);
}

std::string StageId::Hash() const { return Sha256Hex(DescribeStage(*this)); }

}  // namespace lfiw::core
