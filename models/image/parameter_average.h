#ifndef LFIW_MODELS_IMAGE_PARAMETER_AVERAGE_H_
#define LFIW_MODELS_IMAGE_PARAMETER_AVERAGE_H_

#include <cstdint>
#include <string>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

// The running mean of parameters over the steps of their training (Polyak & Juditsky
// 1992): what generators are sampled from, since single steps of a game drift about its solution.
class ParameterAverage {
 public:
  // Starts at these parameters [n]. `decay` in [0, 1] is how much of the mean a step keeps; with 0
  // it follows them.
  ParameterAverage(const VectorF& parameters, double decay);

  // Takes the parameters after `step` (0-based) in. Early steps, whose mean would be that of the
  // initial values, keep at most (step + 1) / (step + 10).
  void Move(const VectorF& parameters, std::int64_t step);
  // Exchanges the mean and the parameters; the second call undoes the first.
  void Swap(VectorF& parameters);

  // The array `name`.
  void Save(const std::string& name, NpzFile& file) const;
  void Load(const NpzFile& file, const std::string& name);

 private:
  double decay_;
  VectorF mean_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_PARAMETER_AVERAGE_H_
