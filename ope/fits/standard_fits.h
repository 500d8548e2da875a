#ifndef LFIW_OPE_FITS_STANDARD_FITS_H_
#define LFIW_OPE_FITS_STANDARD_FITS_H_

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/fits/fourier_features.h"
#include "ope/fits/linear_values.h"
#include "ope/fits/mrdr.h"
#include "ope/fits/regularized_lagrangian.h"

namespace lfiw::ope {

// Options of the fits that StandardFits (ope/fit.h) registers, where they are not those of the
// fit's own header. By name: "model" (ModelValueOptions), "fqe" (FqeOptions), "linear"
// (LinearFitOptions), "dual_dice" and "gen_dice" (LagrangianOptions) and "mrdr" (MrdrOptions);
// "action", "rollouts" and "visitation" have none.

// MQL and MWL, linear in random Fourier features.
struct LinearFitOptions {
  FourierOptions features;
  LinearValueOptions values;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("features", features, "of states, actions and the step");
    v.Field("values", values, "fit of both");
  }
};

// A minute for all of DualDICE, GenDICE and MRDR on a log of 1000 x 100 steps: small networks,
// which take more steps in the same time.
LagrangianOptions QuickDualDice();
LagrangianOptions QuickGenDice();
MrdrOptions QuickMrdr();

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_STANDARD_FITS_H_
