#include "experiments/calibration/case_outcome.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace lfiw::experiments {

using nlohmann::json;

namespace {

// JSON has no infinity.
json NumberJson(const std::optional<double>& value) {
  if (!value) return nullptr;
  return std::isinf(*value) ? json(*value > 0.0 ? "inf" : "-inf") : json(*value);
}

std::optional<double> NumberFromJson(const json& value) {
  if (value.is_null()) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (value.is_string()) return value == "inf" ? kInfinity : -kInfinity;
  return value.get<double>();
}

// Calls use(name, field) for every optional number of some evidence.
template <class E, class Use>
void ForEachNumber(E& evidence, const Use& use) {
  use("ess", evidence.ess);
  use("khat", evidence.khat);
  use("clip_rate", evidence.clip_rate);
  use("clamp_rate", evidence.clamp_rate);
  use("ece", evidence.ece);
  use("auc", evidence.auc);
  use("model_auc", evidence.model_auc);
  use("open_loop", evidence.open_loop);
  use("reach", evidence.reach);
  use("value", evidence.value);
  use("uncorrected", evidence.uncorrected);
}

json EvidenceJson(const Evidence& evidence) {
  json out = {{"missing_value", evidence.missing_value}, {"episodes", evidence.episodes}};
  ForEachNumber(evidence, [&](const char* name, const std::optional<double>& number) {
    out[name] = NumberJson(number);
  });
  if (const auto& step = evidence.mean_weight) {
    out["mean_weight"] = {{"step", step->step},
                          {"supported", step->supported},
                          {"log_mean", NumberJson(step->log_mean)},
                          {"log_stderr", NumberJson(step->log_stderr)}};
  }
  if (const auto& check = evidence.improves) {
    out["improves"] = {{"holds", check->holds},
                       {"margin", NumberJson(check->margin)},
                       {"standard_error", NumberJson(check->standard_error)},
                       {"reason", check->reason}};
  }
  if (const auto& support = evidence.support) {
    out["support"] = {{"outside", support->outside},
                      {"median_ratio", NumberJson(support->median_ratio)},
                      {"worst_quarter", support->worst_quarter},
                      {"queries", support->queries}};
  }
  if (const auto& test = evidence.back_test) {
    out["back_test"] = {{"estimate", test->estimate},
                        {"estimate_stderr", NumberJson(test->estimate_stderr)},
                        {"logged", test->logged},
                        {"logged_stderr", test->logged_stderr},
                        {"spread", test->spread}};
  }
  if (const auto& range = evidence.possible) {
    out["possible"] = {range->low, range->high};
  }
  return out;
}

Evidence EvidenceFromJson(const json& in) {
  Evidence evidence;
  evidence.missing_value = in.at("missing_value");
  evidence.episodes = in.at("episodes");
  ForEachNumber(evidence, [&](const char* name, std::optional<double>& number) {
    number = NumberFromJson(in.at(name));
  });
  if (in.contains("mean_weight")) {
    const json& step = in.at("mean_weight");
    evidence.mean_weight = MeanWeight{.step = step.at("step"),
                                      .supported = step.at("supported"),
                                      .log_mean = *NumberFromJson(step.at("log_mean")),
                                      .log_stderr = NumberFromJson(step.at("log_stderr"))};
  }
  if (in.contains("improves")) {
    const json& check = in.at("improves");
    evidence.improves =
        ImprovementCheck{.holds = check.at("holds"),
                         .margin = *NumberFromJson(check.at("margin")),
                         .standard_error = NumberFromJson(check.at("standard_error")),
                         .reason = check.at("reason")};
  }
  if (in.contains("support")) {
    const json& support = in.at("support");
    evidence.support = SupportCheck{.outside = support.at("outside"),
                                    .median_ratio = *NumberFromJson(support.at("median_ratio")),
                                    .worst_quarter = support.at("worst_quarter"),
                                    .queries = support.at("queries")};
  }
  if (in.contains("back_test")) {
    const json& test = in.at("back_test");
    evidence.back_test = Backtest{.estimate = test.at("estimate"),
                                  .estimate_stderr = NumberFromJson(test.at("estimate_stderr")),
                                  .logged = test.at("logged"),
                                  .logged_stderr = test.at("logged_stderr"),
                                  .spread = test.at("spread")};
  }
  if (in.contains("possible")) {
    evidence.possible = ReturnRange{in.at("possible").at(0), in.at("possible").at(1)};
  }
  return evidence;
}

}  // namespace

json OutcomeJson(const CaseOutcome& outcome) {
  return {{"estimator", outcome.estimator},
          {"horizon", outcome.horizon},
          {"value", NumberJson(outcome.value)},
          {"standard_error", NumberJson(outcome.standard_error)},
          {"ci_low", NumberJson(outcome.ci_low)},
          {"ci_high", NumberJson(outcome.ci_high)},
          {"interval_method", outcome.interval_method},
          {"plain_low", NumberJson(outcome.plain_low)},
          {"plain_high", NumberJson(outcome.plain_high)},
          {"truth", outcome.truth},
          {"spread", outcome.spread},
          {"evidence", EvidenceJson(outcome.evidence)}};
}

CaseOutcome OutcomeFromJson(const json& in) {
  return {.estimator = in.at("estimator"),
          .horizon = in.at("horizon"),
          .value = NumberFromJson(in.at("value")),
          .standard_error = NumberFromJson(in.at("standard_error")),
          .ci_low = NumberFromJson(in.at("ci_low")),
          .ci_high = NumberFromJson(in.at("ci_high")),
          .interval_method = in.at("interval_method"),
          .plain_low = NumberFromJson(in.at("plain_low")),
          .plain_high = NumberFromJson(in.at("plain_high")),
          .truth = in.at("truth"),
          .spread = in.at("spread"),
          .evidence = EvidenceFromJson(in.at("evidence"))};
}

}  // namespace lfiw::experiments
