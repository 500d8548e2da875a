#ifndef LFIW_OPE_FITS_MRDR_H_
#define LFIW_OPE_FITS_MRDR_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "models/fit.h"
#include "models/timed_function.h"
#include "ope/estimator.h"
#include "ope/fits/fqe.h"
#include "ope/fits/logged_rows.h"

namespace lfiw::ope {

// More robust doubly robust evaluation (MRDR, Farajtabar, Chow and Ghavamzadeh 2018): the Q that
// minimizes the variance of the doubly robust estimator rather than an error of its own. What that
// variance (Jiang and Li 2016) owes to Q is, with w_t the ratio of the policies' probabilities of
// action t and W_t = w_0 ... w_{t-1},
//
//   sum_t E[ g^2t W_t^2 Var( w_t (y_t - Q_t(s_t, a_t)) | s_t ) ],     E[y_t | s_t, a_t] = Q^pi_t.
//
// The paper takes the variance over actions as a sum over all of them. Here it is the minimum over
// functions c of E[ (w_t (y_t - Q_t(s_t, a_t)) - c_t(s_t))^2 ], which needs the logged action alone
// and so serves continuous actions too; c is a second network, fitted together with Q. A penalty on
// c^2 chooses among the Q + c / w, whose variances are the same.

// y_t: r_t + g (V_{t+1} + c_{t+1})(s_{t+1}) of lagged networks as in FQE (V + c stays the value
// where Q deviates from it), or the paper's return sum_k g^{k-t} w_{t+1} ... w_k r_k, unbiased and
// of a variance that grows with the horizon.
enum class MrdrTarget { kBootstrap, kReturns };
constexpr auto EnumNames(MrdrTarget /*kind*/) {
  return std::to_array<std::string_view>({"bootstrap", "returns"});
}

// The fields of FQE are those of both networks and of the values.
struct MrdrOptions : FqeOptions {
  MrdrTarget target = MrdrTarget::kBootstrap;
  // Clipping from above of w_t, and of W_t: squares of larger ones would be all that is fitted.
  double largest_ratio = 10.0;
  double largest_product = 10.0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("target", target, "what Q is regressed on");
    v.Field("largest_ratio", largest_ratio, "ratios of actions are clipped above it", Positive());
    v.Field("largest_product", largest_product, "cumulated ratios are clipped above it",
            Positive());
    FqeOptions::Visit(v);
  }
};

struct MrdrFit {
  TimedFunction q;  // of rows (s, a) and the step; one step for an infinite horizon
  std::vector<FitSummary> members;
  double clipped_share = 0.0;  // of the logged steps, where a ratio or a product was clipped
};

// Fits to the first T steps of all episodes of the log. action_log_ratios [episodes, >= steps]: log
// pi_e - log pi_b of each logged step (see ActionLogRatios), -infinity for a ratio of 0. Rows are
// drawn with probabilities in proportion to g^2t W_t^2, a tenth of them uniformly. Every member is
// one parallel task; "mrdr_<k>.npz" are its checkpoints. Throws DataError for a log with fewer than
// two episodes or ratios of another shape, ConfigError for an infinite horizon without discount
// below 1, else as Fit.
MrdrFit FitMrdr(const LoggedProblem& problem, const Array<double, 2>& action_log_ratios,
                const MrdrOptions& options, std::uint64_t seed, const FitRun& run = {});

// Q and V on the listed episodes, padded to `columns` steps: values "mrdr".
ValueArrays MrdrValues(const MrdrFit& fit, const LoggedProblem& problem,
                       std::span<const std::int64_t> episodes, std::int64_t columns,
                       const MrdrOptions& options, std::uint64_t seed);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_MRDR_H_
