#ifndef LFIW_ENVS_MJCF_H_
#define LFIW_ENVS_MJCF_H_

#include "core/layers.h"

namespace lfiw::envs {

// The texts of envs/mjcf/*.xml, compiled in so that no file is needed at run time.
extern const char* const kSwimmerMjcf;
extern const char* const kHalfCheetahMjcf;
extern const char* const kHumanoidStandupMjcf;
extern const char* const kHopperMjcf;
extern const char* const kWalker2dMjcf;
extern const char* const kAntMjcf;
extern const char* const kHumanoidMjcf;
extern const char* const kReacherMjcf;
extern const char* const kPusherMjcf;
extern const char* const kInvertedPendulumMjcf;
extern const char* const kInvertedDoublePendulumMjcf;

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_MJCF_H_
