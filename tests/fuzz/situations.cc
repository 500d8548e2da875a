#include "tests/fuzz/situations.h"

#include "tests/fuzz/mistakes.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kEpisodes = 150;

const Formats kAll = {TableFormat::kOwn,    TableFormat::kFlatNpz,  TableFormat::kFlatHdf5,
                      TableFormat::kBuffer, TableFormat::kD3rlpy1,  TableFormat::kCsv,
                      TableFormat::kJson,   TableFormat::kMinari,   TableFormat::kImitation,
                      TableFormat::kPadded, TableFormat::kCsvNoLast};
const Formats kFlat = {TableFormat::kFlatNpz, TableFormat::kFlatHdf5};
const Formats kFlagged = {TableFormat::kFlatNpz, TableFormat::kFlatHdf5, TableFormat::kCsv,
                          TableFormat::kJson, TableFormat::kBuffer};
const Formats kCsvs = {TableFormat::kCsv, TableFormat::kCsvNoLast};
const Formats kGrids = {TableFormat::kBuffer, TableFormat::kPadded};
const Formats kBuffers = {TableFormat::kBuffer};
const Formats kWithoutLast = {TableFormat::kFlatNpz, TableFormat::kFlatHdf5,
                              TableFormat::kCsvNoLast, TableFormat::kD3rlpy1};

}  // namespace

const std::vector<Situation>& Situations() {
  static const std::vector<Situation> situations = {
      {"actions and rewards late", kAll, ShiftBoth},
      {"actions late", kAll, ShiftActionsLate},
      {"actions early", kAll, ShiftActionsEarly},
      {"rewards late", kAll, ShiftRewardsLate},
      {"rewards early", kAll, ShiftRewardsEarly},
      {"actions permuted", kAll, PermuteActions},
      {"rewards permuted", kAll, PermuteRewards},
      {"actions constant", kAll, HoldActions},
      {"observations and next ones swapped", kFlagged, SwapObservations},
      {"terminals and timeouts swapped", kFlagged, SwapFlags, Falls::kMust},
      {"terminals dropped", kFlat, DropTerminals, Falls::kMust},
      {"all ends are timeouts", kFlagged, AllTimeouts, Falls::kMust},
      {"all ends are terminals", kFlagged, AllTerminals},
      {"flags under unknown names", kFlat, OtherNames},
      {"flags under Gymnasium's names", kFlat, GymnasiumNames, Falls::kMust},
      {"no flags", kFlat, NoFlags},
      {"done flags alone", kFlat, DonesAlone, Falls::kMust},
      {"blank cells", kCsvs, BlankCells},
      {"axes transposed", kGrids, TransposeAxes},
      {"environments side by side", kBuffers, NoNextObservations},
      {"repeated episodes", kAll, RepeatEpisodes},
      {"reset as next observation", kFlagged, ResetAsNext},
      {"reset rows", kFlat, ResetRows},
      {"padding rows", kFlat, PadRows},
      {"drifting rewards", kAll, DriftRewards},
      {"rewards with outliers", kAll, SpoilRewards},
      {"drifting observations", kAll, DriftObservations},
      {"policy of normalised observations", kAll, NormalisedPolicy},
      {"log of normalised observations", kAll, NormalisedLog},
      {"undefined policy", kAll, UndefinedPolicy},
      {"no observation after the end", kWithoutLast, NoNextObservations, Falls::kMust},
      {"sessions cut at random", kAll, CutEpisodes},
      {"rows shuffled", kFlagged, ShuffleRows},
      {"wrapped ring buffer", kFlat, WrapBuffer},
      {"indices as floats", kFlat, FloatIndices, Falls::kMay, Actions::kDiscrete},
      {"rewards added up", kAll, AddUpRewards},
  };
  return situations;
}

Case MakeCase(std::uint64_t seed, std::int64_t index, const Situation* situation) {
  const auto i = static_cast<std::uint64_t>(index);
  Stream stream(seed, situation != nullptr ? "misreading" : "clean log", {i});
  Actions actions = situation != nullptr ? situation->actions : Actions::kAny;
  if (actions == Actions::kAny) {
    actions = stream.Below(3) == 0 ? Actions::kDiscrete : Actions::kContinuous;
  }
  const bool may_fall = Coin(stream);
  const bool falls = may_fall || (situation != nullptr && situation->falls == Falls::kMust);
  Case c;
  c.world = MakeWorld(falls, actions == Actions::kDiscrete, stream);
  c.table = Collect(c.world.system, c.world.behavior, kEpisodes, stream);
  c.policy = c.world.evaluation;
  const Formats& formats = situation != nullptr ? situation->formats : kAll;
  c.format = formats[stream.Below(formats.size())];
  if (situation != nullptr) situation->plant(c, stream);
  return c;
}

}  // namespace lfiw::core
