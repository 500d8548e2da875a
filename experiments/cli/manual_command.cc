#include "experiments/cli/manual_command.h"

#include <string>

#include "core/run/revision.h"
#include "envs/env_registry.h"
#include "experiments/cli/completions.h"
#include "experiments/cli/manual_page.h"
#include "experiments/cli/verb_tree.h"

namespace lfiw::experiments {
namespace {

std::string ManualText(const CLI::App& program, ManualKind kind) {
  const Verb tree = ReadVerb(program, EnvNames());
  switch (kind) {
    case ManualKind::kBash:
      return BashCompletion(tree);
    case ManualKind::kZsh:
      return ZshCompletion(tree);
    case ManualKind::kPage:
      break;
  }
  return ManualPage(tree, core::kLfiwVersion);
}

}  // namespace

Outcome Manual(const CLI::App& program, ManualKind kind) {
  const std::string text = ManualText(program, kind);
  return {.status = 0, .text = text, .object = {{"text", text}}};
}

}  // namespace lfiw::experiments
