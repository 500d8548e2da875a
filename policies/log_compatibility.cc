#include "policies/log_compatibility.h"

#include "core/error.h"

namespace lfiw::policies {
namespace {

void RequireDim(const std::string& source, const char* what, std::int64_t found,
                const EnvSpec& spec, std::int64_t expected) {
  if (found == expected) return;
  Throw<DataError>("{}: {} have {} columns, {} has {}", source, what, found, spec.name, expected);
}

}  // namespace

void CheckFits(const EpisodeBatch& log, const EnvSpec& spec, const std::string& source) {
  RequireDim(source, "observations", log.obs_dim(), spec, spec.obs_dim);
  RequireDim(source, "actions", log.action_dim(), spec, spec.action_dim);
  if (log.aux_dim() > 0) RequireDim(source, "aux", log.aux_dim(), spec, spec.aux_dim());
}

}  // namespace lfiw::policies
