#ifndef LFIW_POLICIES_PROGRAMS_PROGRAM_MESSAGES_H_
#define LFIW_POLICIES_PROGRAMS_PROGRAM_MESSAGES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/npy_header.h"
#include "core/arrays/npz_array.h"
#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::policies {

// What a program that serves a policy says of itself in its first line:
//   lfiw-policy 1 obs_dim=17 action_dim=6 noise_dim=6 discrete=0 density=1 answer_seconds=60
struct ProgramHello {
  std::int64_t obs_dim = 0;
  std::int64_t action_dim = 0;  // numbers of an action, or number of discrete actions
  std::int64_t noise_dim = 0;
  bool discrete = false;
  bool density = false;          // whether it answers log_density
  double answer_seconds = 60.0;  // the longest that one answer may take
};

// An example of such a line.
std::string ProgramHelloTemplate();

// Throws DataError that says what is wrong with the line.
ProgramHello ParseProgramHello(std::string_view line);

// A request: its name in a line, then arrays as .npy blocks, little-endian in C order:
//   sample        observations f4 [n, obs_dim], steps i8 [n], noise f4 [n, noise_dim]
//   mean          observations, steps
//   log_density   observations, steps, executed actions f4 [n, action_dim] (discrete ones: their
//                 index, i8 [n]), low f4 [action_dim], high f4 [action_dim]
// The answer is one .npy block: actions [n, action_dim] (f4 or f8; discrete ones: their index, an
// integer type, [n]) or log-densities [n] (f4 or f8).
class ProgramRequest {
 public:
  explicit ProgramRequest(std::string_view name);

  void AddRows(const ConstMatrixRef& values);             // f4 [rows, cols]
  void AddVector(const VectorF& values);                  // f4 [n]
  void AddIndices(std::span<const std::int64_t> values);  // i8 [n]
  const std::string& bytes() const { return bytes_; }

 private:
  void AddBlock(const std::string& type, std::vector<std::int64_t> shape, const void* data);

  std::string bytes_;
};

// What an answer may be.
enum class AnswerType { kFloats, kIntegers };

// The bytes that follow an accepted header. Throws DataError that says what is there and what was
// expected.
std::int64_t CheckAnswer(const NpyHeader& header, AnswerType type,
                         const std::vector<std::int64_t>& shape);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PROGRAMS_PROGRAM_MESSAGES_H_
