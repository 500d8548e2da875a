#include "models/image/network_average.h"

#include <algorithm>

namespace lfiw::models {

NetworkAverage::NetworkAverage(const Network& network, double decay)
    : decay_(decay), mean_(network.parameters) {}

void NetworkAverage::Move(const Network& network, std::int64_t step) {
  const double decay =
      std::min(decay_, static_cast<double>(step + 1) / static_cast<double>(step + 10));
  mean_ += static_cast<float>(1.0 - decay) * (network.parameters - mean_);
}

void NetworkAverage::Swap(Network& network) { mean_.swap(network.parameters); }

void NetworkAverage::Save(const std::string& name, NpzFile& file) const { file.Put(name, mean_); }

void NetworkAverage::Load(const NpzFile& file, const std::string& name) {
  mean_ = file.GetVector(name);
}

}  // namespace lfiw::models
