#ifndef LFIW_OPE_JUDGEMENT_SELECTION_H_
#define LFIW_OPE_JUDGEMENT_SELECTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"

namespace lfiw::ope {

// Choosing among estimates and blending them, from the log alone: none of these sees the truth.

// Chooses by Lepski's rule as SLOPE uses it (Su, Srinath and Krishnamurthy 2020). `values` and
// `widths` [m] are candidates in order of growing bias and shrinking width of their confidence
// intervals value +- width. Returns the index of the last candidate whose interval meets those of
// all before it: the least variable one whose bias does not show. Widths that grow are replaced by
// the smallest so far (the interval of a better candidate holds for it too). m >= 1.
std::int64_t SlopeChoice(std::span<const double> values, std::span<const double> widths);

// Chooses by Lepski's rule from what is known of *differences*: candidates that share their
// episodes differ by far less than their own errors suggest. `values` [m] are in order of growing
// bias, row k of `influences` [m, n] is the influence function of candidate k. Returns the index of
// the last candidate that, like all before it, differs from every one before it by no more than
// `width` standard errors of that difference. m >= 1, n >= 2.
std::int64_t DifferenceChoice(std::span<const double> values, const Array<double, 2>& influences,
                              double width);

// Returns argmin over the simplex { x >= 0, sum x = 1 } of x' A x, A [m, m] symmetric positive
// semidefinite, by an active set of exact solves; ties at the smallest norm. m >= 1.
std::vector<double> MinimizeOnSimplex(const Array<double, 2>& a);

// Returns the convex weights of m estimates of one value that minimize the estimated mean squared
// error of their blend, after OPERA (Nie et al. 2024): the error matrix is the mean over bootstraps
// b of e_b e_b', e_b = replicates(b, .) - values, rescaled by n_b / n from the size of the
// resamples to that of the log (`scale`). replicates [B, m].
std::vector<double> BlendWeights(std::span<const double> values, const Array<double, 2>& replicates,
                                 double scale = 1.0);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_SELECTION_H_
