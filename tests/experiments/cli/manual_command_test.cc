#include "experiments/cli/manual_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/run/revision.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ManualCommand, PrintsThePageAndTheCompletions) {
  CLI::App app("tells", "lfiw");
  std::string env;
  app.add_subcommand("truth", "Evaluate")->add_option("--env", env, "")->type_name("ENVIRONMENT");
  EXPECT_THAT(Manual(app, ManualKind::kPage).text,
              HasSubstr("lfiw " + std::string(core::kLfiwVersion)));
  EXPECT_THAT(Manual(app, ManualKind::kBash).text, HasSubstr("HalfCheetah"));
  EXPECT_THAT(Manual(app, ManualKind::kBash).text, HasSubstr("complete -F _lfiw lfiw\n"));
  EXPECT_THAT(Manual(app, ManualKind::kZsh).text, StartsWith("#compdef lfiw\n"));
  EXPECT_EQ(Manual(app, ManualKind::kZsh).object.at("text"), Manual(app, ManualKind::kZsh).text);
}

}  // namespace
}  // namespace lfiw::experiments
