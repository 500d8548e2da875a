#include "ope/fits/standard_fits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ope/fit.h"

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;

TEST(StandardFits, AreTheWholeFamilyByName) {
  std::vector<std::string> names;
  const FitRegistry fits = StandardFits();
  for (const FitMethod& fit : fits.all()) names.push_back(fit.name);
  EXPECT_THAT(names, ElementsAre("action", "model", "fqe", "linear", "dual_dice", "gen_dice",
                                 "mrdr", "rollouts", "family", "visitation"));
}

TEST(StandardFits, SayHowMuchWorkTheyAre) {
  FitRegistry fits = StandardFits();
  fits.Options<MrdrOptions>("mrdr").fit.steps = 12;
  const FitMethod& mrdr = fits.Find("mrdr");
  EXPECT_EQ(mrdr.work(mrdr.options, {}).total, 12);
}

TEST(QuickOptions, DifferInTheirRegularizersAlone) {
  EXPECT_EQ(QuickDualDice().network.width, QuickGenDice().network.width);
  EXPECT_EQ(QuickGenDice().primal_regularizer, GenDiceOptions().primal_regularizer);
  EXPECT_EQ(QuickDualDice().primal_regularizer, DualDiceOptions().primal_regularizer);
}

}  // namespace
}  // namespace lfiw::ope
