#ifndef LFIW_EXPERIMENTS_EVALUATION_ENV_AUDIT_H_
#define LFIW_EXPERIMENTS_EVALUATION_ENV_AUDIT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/logs/log_audit.h"
#include "envs/env.h"

namespace lfiw::experiments {

// Compares a log with the environment it is said to come from: sizes, bounds of actions, the reward
// function and the termination rule; and its rewards with those of other versions of it, if they
// observe the same. One pass, batch by batch.
class EnvAuditor {
 public:
  explicit EnvAuditor(std::shared_ptr<const EnvFactory> env) : env_(std::move(env)) {}

  void Add(const EpisodeBatch& batch);
  // Adds its findings.
  void Finish(AuditReport& report) const;

 private:
  // Mean squared difference between logged and computed rewards.
  struct Mismatch {
    double squares = 0.0;
    std::int64_t count = 0;
    void Add(double logged, double computed);
    double Rms() const;
  };
  // Another version of the environment.
  struct Version {
    std::string name;
    std::unique_ptr<TaskRules> rules;
    Mismatch all, at_ends;  // at steps that terminate
  };
  void FindVersions();
  void CompareVersions(const EpisodeBatch& batch, const Transitions& steps);
  // The other version whose rewards the log has, if it has not those of the named one.
  const Version* BetterVersion(double tolerance) const;
  void CompareActions(const EpisodeBatch& batch);
  void CompareRewards(const EpisodeBatch& batch, const Transitions& steps);
  void CompareTermination(const EpisodeBatch& batch, const Transitions& steps);
  void ReportRewards(AuditReport& report) const;
  void ReportTermination(AuditReport& report) const;

  std::shared_ptr<const EnvFactory> env_;
  std::unique_ptr<TaskRules> functions_;  // null until the first fitting batch
  RewardSource source_ = RewardSource::kDisplacement;
  std::string misfit_;
  std::string fitting_;  // the version whose sizes the log has, where those of `env_` differ
  std::int64_t episodes_ = 0;
  std::int64_t outside_ = 0;  // steps with an action outside the bounds
  std::string first_outside_;
  // The logged reward against that of the same step, of the step before, and of the step after.
  Mismatch same_, before_, after_;
  Mismatch at_ends_;                   // the same at steps that terminate
  std::vector<Version> versions_;      // others of the same sizes
  std::int64_t false_terminals_ = 0;   // episodes said to end in a terminal state that is none
  std::int64_t missed_terminals_ = 0;  // steps into a terminal state that the episode goes past
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_ENV_AUDIT_H_
