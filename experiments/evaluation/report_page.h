#ifndef LFIW_EXPERIMENTS_EVALUATION_REPORT_PAGE_H_
#define LFIW_EXPERIMENTS_EVALUATION_REPORT_PAGE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/layers.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// The page of a run. It is made from report.json alone, an object whose members are all optional:
// the page says in a sentence what is missing. Numbers may be null, which means "does not apply";
// NaN and infinity count as null. Unknown members are ignored.
//
//   title, environment, behavior_policy, evaluation_policy, command     strings
//   estimand   {horizon: T or "inf", discount, scale: "sum" | "normalized"}
//   verdict    {level: "trust" | "caution" | "do not use", reasons: [text]}
//   confidence coverage of the intervals, such as 0.95
//   headline   index in `rows` of the estimate to state first; else the first row with a value
//   truth      {value, stderr, episodes}: Monte Carlo in the real environment
//   behavior_value {value, stderr}: mean return of the log
//   difference {value, ci_low, ci_high}: the headline's value minus behavior_value
//   log        {episodes, steps, train_episodes, classifier_episodes, constant_dims: [index]}
//   back_test  {estimate, stderr, gap, noise}: the method's answer for the behavior policy, gap =
//              estimate - behavior_value, noise its standard error
//   support    {outside, median_ratio, worst_quarter}: share of the policy's state-action pairs far
//              from the log, over all steps and in the worst quarter of them
//   learned    {reward: {rmse, mean_error, r2}, termination: {positives, missed, false_alarms,
//              note}}: held-out quality of what is not the environment's own
//   ranking    [{policy, estimator, horizon, value, stderr, ci_low, ci_high, verdict, reason,
//              truth, error, difference: {value, ci_low, ci_high}}]: all evaluated policies, best
//              first
//   doubly_robust {model, value, power, episodes, candidates: [{power, value, stderr, ess,
//              left_out}], notes: [text]}: how the log corrects the model's value; value and power
//              are null where it is refused
//   rows       [{estimator, params: text or object, horizon, value, log10_value, stderr, se_within,
//              se_between, ci_low, ci_high, interval_method, ess, khat, max_weight, error, reason}]
//              error = value - truth; a row without value says why in `reason`. A row with horizon
//              is weighted over its first `horizon` steps; the row named "model", or any with
//              horizon 0, is the plain model of the paper's table.
//   sweep      {horizon: [H], n: rollouts, khat_threshold, series: [{label, value: [H],
//              stderr: [H], ess: [H], khat: [H], max_weight: [H]}]}
//   mean_weight {step: [t], series: [{label, value: [t], stderr: [t]}]}
//   calibration {auc, ece, classifiers, bins: [{probability, fraction, count}]}
//   dynamics   {kind, members, nll, r2: [dimension], open_loop: {k: [k], rms: [k]} in standard
//              deviations of the state, history: [{member, step: [i], train: [i], validation:
//              [i]}]}
//   classifier_history [{index, step: [i], train: [i], validation: [i]}]
//   policy_training [{label, steps: [i], return: [i]}]
//   reward_check {source, rms_error, mean_error, note}
//   clamps     {rate, count, total}: predicted states that were limited to the data's range
//   timings    [{stage, seconds, cached: bool}]
//   versions   {name: text};  notes [text]

// Reads run_dir/report.json and writes the page, one self-contained HTML file, as
// run_dir/report.html, and its figures as run_dir/plots/NAME.svg. Where gnuplot is missing or
// fails, the page has no figures and says why. Throws DataError when report.json is missing, when a
// member is of the wrong type or length (naming its path), or when the directory cannot be written.
void WriteReport(const std::string& run_dir, const PlotOptions& options = {});

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_REPORT_PAGE_H_
