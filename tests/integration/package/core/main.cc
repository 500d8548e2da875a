#include <cstdio>
#include <vector>

#include "core/statistics.h"

// The median of 1, 2 and 4 is 2.
int main() {
  const double median = lfiw::core::Quantile(std::vector<double>{4.0, 1.0, 2.0}, 0.5);
  std::printf("%.12f\n", median);
  return median == 2.0 ? 0 : 1;
}
