#include "experiments/presentation/experiment.h"

#include "core/config/config.h"

namespace lfiw::experiments {
namespace {

// The one field that all experiment files share.
struct KindField {
  ExperimentKind experiment = ExperimentKind::kEvaluation;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("experiment", experiment, "which experiment this file is for");
  }
};

}  // namespace

ExperimentKind ReadExperimentKind(const std::string& path,
                                  const std::vector<std::string>& overrides) {
  const ConfigNode node = internal::LoadNode(path, overrides);
  KindField field;
  if (const ConfigNode* kind = node.Find("experiment")) {
    ConfigNode alone = ConfigNode::Map();
    alone.Add("experiment", *kind);
    ReadConfig(alone, field);
  }
  return field.experiment;
}

}  // namespace lfiw::experiments
