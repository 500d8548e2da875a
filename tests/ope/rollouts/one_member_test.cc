#include "ope/rollouts/one_member.h"

#include <gtest/gtest.h>

#include <vector>

namespace lfiw::ope {
namespace {

// Three members that move every state by their own number.
class ThreeMembers final : public TransitionModel {
 public:
  std::int64_t obs_dim() const override { return 1; }
  std::int64_t action_dim() const override { return 1; }
  std::int64_t aux_dim() const override { return 0; }
  std::int64_t members() const override { return 3; }
  std::int64_t noise_dim() const override { return 0; }
  void Sample(ConstMatrixRef states, ConstMatrixRef /*actions*/,
              std::span<const std::int64_t> member, ConstMatrixRef /*noise*/, MatrixRef next_states,
              MatrixRef /*aux*/) const override {
    for (Eigen::Index i = 0; i < states.rows(); ++i) {
      next_states(i, 0) = states(i, 0) + static_cast<float>(member[static_cast<std::size_t>(i)]);
    }
  }
  std::vector<std::int64_t> MembersFor(std::int64_t /*episode*/) const override {
    return {0, 1, 2};
  }
};

TEST(OneMember, IsThatMemberWhicheverIsAskedFor) {
  const ThreeMembers all;
  const OneMember last(all, 2);
  EXPECT_EQ(last.members(), 1);
  EXPECT_EQ(last.MembersFor(7), std::vector<std::int64_t>{0});
  const MatrixF states = MatrixF::Ones(2, 1), actions = MatrixF::Zero(2, 1);
  MatrixF next(2, 1), aux(2, 0);
  last.Sample(states, actions, std::vector<std::int64_t>{0, 0}, MatrixF(2, 0), next, aux);
  EXPECT_EQ(next, MatrixF::Constant(2, 1, 3.0f));
}

}  // namespace
}  // namespace lfiw::ope
