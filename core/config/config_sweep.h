#ifndef LFIW_CORE_CONFIG_CONFIG_SWEEP_H_
#define LFIW_CORE_CONFIG_CONFIG_SWEEP_H_

#include <string>
#include <vector>

namespace lfiw::core {

// The product of sweep arguments, as one list of overrides per combination; the last argument
// varies fastest. In "key=value" a value may be a comma list, whose items may be half-open ranges:
//
//   a=1,2          a=1 and a=2
//   b=range(0,10)  b=0 .. b=9; range(0,1,0.25) steps by 0.25; range(10,0,-5) is 10, 5
//   c=[1,2]        one value, a list; c=[1,2],[3] are two
//
// No arguments give one empty list. Throws ConfigError for a malformed or empty range and for more
// than 100,000 combinations.
std::vector<std::vector<std::string>> ExpandSweep(const std::vector<std::string>& arguments);

}  // namespace lfiw::core

#endif  // LFIW_CORE_CONFIG_CONFIG_SWEEP_H_
