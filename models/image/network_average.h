#ifndef LFIW_MODELS_IMAGE_NETWORK_AVERAGE_H_
#define LFIW_MODELS_IMAGE_NETWORK_AVERAGE_H_

#include <cstdint>
#include <string>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "models/image/network.h"

namespace lfiw::models {

// The running mean of a network's parameters over the steps of its training (Polyak & Juditsky
// 1992): what generators are sampled from, since single steps of a game drift about its solution.
class NetworkAverage {
 public:
  // Starts at the network's parameters. `decay` in [0, 1] is how much of the mean a step keeps; 0
  // follows the network.
  NetworkAverage(const Network& network, double decay);

  // Takes the parameters after `step` (0-based) in. Early steps, whose mean would be that of the
  // initial values, keep at most (step + 1) / (step + 10).
  void Move(const Network& network, std::int64_t step);
  // Exchanges the mean and the parameters; the second call undoes the first.
  void Swap(Network& network);

  // The array `name`.
  void Save(const std::string& name, NpzFile& file) const;
  void Load(const NpzFile& file, const std::string& name);

 private:
  double decay_;
  VectorF mean_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_NETWORK_AVERAGE_H_
