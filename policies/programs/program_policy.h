#ifndef LFIW_POLICIES_PROGRAMS_PROGRAM_POLICY_H_
#define LFIW_POLICIES_PROGRAMS_PROGRAM_POLICY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/layers.h"
#include "core/matrix.h"
#include "policies/policy.h"
#include "policies/programs/program_pool.h"

namespace lfiw::policies {

// A policy that a program of the user computes: any language, any framework. The program is asked
// over pipes (program_messages.h) and must answer alike whenever it is asked for the same, with the
// noise that it is sent as its only randomness; then results are the same bytes for any number of
// threads. It is started once for every thread that asks at the same time, and ended with the
// policy. Everything throws PolicyError, with the end of the program's standard error, when the
// program dies, answers late, or answers with anything but what was asked for; NaN is told with its
// observation.
class ProgramPolicy final : public Policy {
 public:
  // Starts `command` in a shell. Throws PolicyError.
  explicit ProgramPolicy(const std::string& command, double start_seconds = kProgramStartSeconds);

  std::int64_t obs_dim() const override { return hello().obs_dim; }
  std::int64_t action_dim() const override { return hello().action_dim; }
  std::int64_t noise_dim() const override { return hello().noise_dim; }
  std::int64_t discrete_actions() const override {
    return hello().discrete ? hello().action_dim : 0;
  }
  std::string Description() const override;

  void Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
              ConstMatrixRef noise, MatrixRef actions) const override;
  void Mean(ConstMatrixRef observations, std::span<const std::int64_t> steps,
            MatrixRef actions) const override;
  bool has_density() const override { return hello().density; }
  std::string DensityRefusal() const override;
  void LogDensity(ConstMatrixRef observations, std::span<const std::int64_t> steps,
                  ConstMatrixRef executed, const VectorD& low, const VectorD& high,
                  std::span<double> log_density) const override;

  // Programs that run beside this one for the policy.
  std::int64_t programs() const { return pool_->started(); }

 private:
  const ProgramHello& hello() const { return pool_->hello(); }
  // Asks for actions of some rows, [rows, action_dim] written.
  void Act(ProgramRequest request, const ConstMatrixRef& observations,
           std::span<const std::int64_t> steps, MatrixRef actions) const;

  std::string command_;
  std::unique_ptr<ProgramPool> pool_;
};

// A policy is named as a program by "exec:COMMAND" where the path of a file could stand.
inline constexpr std::string_view kProgramPrefix = "exec:";
bool IsProgramPolicy(std::string_view path);

// The SHA-256 of a program's name, of the command's text and of the content of every file that a
// word of the command names (the word itself, or what follows "=" in it). What the program reads
// besides is not seen.
std::string ProgramPolicyHash(const std::string& path);

// What a program is called in tables: the last file that the command names, without folder and
// ending, or else its first word.
std::string ProgramPolicyLabel(const std::string& path);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PROGRAMS_PROGRAM_POLICY_H_
