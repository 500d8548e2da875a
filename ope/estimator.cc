#include "ope/estimator.h"

#include <utility>

namespace lfiw {

Estimate Refuse(std::string reason) {
  Estimate estimate;
  estimate.reason = std::move(reason);
  return estimate;
}

}  // namespace lfiw
