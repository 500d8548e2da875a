#include "models/image/parameter_average.h"

#include <algorithm>

namespace lfiw::models {

ParameterAverage::ParameterAverage(const VectorF& parameters, double decay)
    : decay_(decay), mean_(parameters) {}

void ParameterAverage::Move(const VectorF& parameters, std::int64_t step) {
  const double decay =
      std::min(decay_, static_cast<double>(step + 1) / static_cast<double>(step + 10));
  mean_ += static_cast<float>(1.0 - decay) * (parameters - mean_);
}

void ParameterAverage::Swap(VectorF& parameters) { mean_.swap(parameters); }

void ParameterAverage::Save(const std::string& name, NpzFile& file) const { file.Put(name, mean_); }

void ParameterAverage::Load(const NpzFile& file, const std::string& name) {
  mean_ = file.GetVector(name);
}

}  // namespace lfiw::models
