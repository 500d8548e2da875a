#include "policies/log_compatibility.h"

#include "core/error.h"
#include "envs/env_registry.h"

namespace lfiw::policies {
namespace {

void RequireDim(const std::string& source, const char* what, std::int64_t found,
                const EnvSpec& spec, std::int64_t expected, const std::string& hint = "") {
  if (found == expected) return;
  Throw<DataError>("{}: {} have {} columns, {} has {}{}", source, what, found, spec.name, expected,
                   hint);
}

}  // namespace

void CheckFits(const EpisodeBatch& log, const EnvSpec& spec, const std::string& source) {
  const bool fits = log.obs_dim() == spec.obs_dim && log.action_dim() == spec.action_dim;
  const std::string hint = fits ? "" : SizesHint(spec, log.obs_dim(), log.action_dim());
  RequireDim(source, "observations", log.obs_dim(), spec, spec.obs_dim, hint);
  RequireDim(source, "actions", log.action_dim(), spec, spec.action_dim, hint);
  if (log.aux_dim() > 0) RequireDim(source, "aux", log.aux_dim(), spec, spec.aux_dim());
}

}  // namespace lfiw::policies
