#ifndef LFIW_TESTS_FUZZ_MISTAKES_H_
#define LFIW_TESTS_FUZZ_MISTAKES_H_

#include "core/rng.h"
#include "tests/fuzz/misread_case.h"

namespace lfiw::core {

// Mistakes that users make. Each changes the table, the names of arrays or the policy of a case, or
// plants what spoils its file; random numbers come from `stream`.

inline bool Coin(Stream& stream) { return stream.Below(2) == 0; }

// In the rows: shifted, permuted, repeated, lost or added (mistakes_in_rows.cc).
void ShiftBoth(Case& c, Stream& stream);
void ShiftActionsLate(Case& c, Stream& stream);
void ShiftActionsEarly(Case& c, Stream& stream);
void ShiftRewardsLate(Case& c, Stream& stream);
void ShiftRewardsEarly(Case& c, Stream& stream);
void PermuteActions(Case& c, Stream& stream);
void PermuteRewards(Case& c, Stream& stream);
void HoldActions(Case& c, Stream& stream);
void SwapObservations(Case& c, Stream& stream);
void RepeatEpisodes(Case& c, Stream& stream);
void ResetAsNext(Case& c, Stream& stream);
void ResetRows(Case& c, Stream& stream);
void PadRows(Case& c, Stream& stream);
void CutEpisodes(Case& c, Stream& stream);
void ShuffleRows(Case& c, Stream& stream);
void WrapBuffer(Case& c, Stream& stream);

// In flags, names, and cells and axes of files (mistakes_in_files.cc).
void SwapFlags(Case& c, Stream& stream);
void DropTerminals(Case& c, Stream& stream);
void AllTimeouts(Case& c, Stream& stream);
void AllTerminals(Case& c, Stream& stream);
void OtherNames(Case& c, Stream& stream);
void GymnasiumNames(Case& c, Stream& stream);
void NoFlags(Case& c, Stream& stream);
void DonesAlone(Case& c, Stream& stream);
void NoNextObservations(Case& c, Stream& stream);
void BlankCells(Case& c, Stream& stream);
void TransposeAxes(Case& c, Stream& stream);

// In units and sizes of numbers, and in the policy (mistakes_in_numbers.cc).
void DriftRewards(Case& c, Stream& stream);
void SpoilRewards(Case& c, Stream& stream);
void NormalisedPolicy(Case& c, Stream& stream);
void NormalisedLog(Case& c, Stream& stream);
void UndefinedPolicy(Case& c, Stream& stream);
void FloatIndices(Case& c, Stream& stream);
void AddUpRewards(Case& c, Stream& stream);
void DriftObservations(Case& c, Stream& stream);

}  // namespace lfiw::core

#endif  // LFIW_TESTS_FUZZ_MISTAKES_H_
