#ifndef LFIW_CORE_LAYERS_H_
#define LFIW_CORE_LAYERS_H_

// The layers of the house, one namespace per top-level folder. A layer uses the names of those
// below it unqualified; no layer knows the names of one above it, and a name of its own hides an
// equal one from below. Users of the library write lfiw::ope::EstimateLfiw.
namespace lfiw {

namespace core {}

namespace envs {
using namespace core;  // NOLINT(google-build-using-namespace)
}  // namespace envs

namespace models {
using namespace core;  // NOLINT(google-build-using-namespace)
}  // namespace models

namespace policies {
using namespace core;    // NOLINT(google-build-using-namespace)
using namespace envs;    // NOLINT(google-build-using-namespace)
using namespace models;  // NOLINT(google-build-using-namespace)
}  // namespace policies

namespace ope {
using namespace core;      // NOLINT(google-build-using-namespace)
using namespace envs;      // NOLINT(google-build-using-namespace)
using namespace models;    // NOLINT(google-build-using-namespace)
using namespace policies;  // NOLINT(google-build-using-namespace)
}  // namespace ope

namespace experiments {
using namespace core;      // NOLINT(google-build-using-namespace)
using namespace envs;      // NOLINT(google-build-using-namespace)
using namespace models;    // NOLINT(google-build-using-namespace)
using namespace policies;  // NOLINT(google-build-using-namespace)
using namespace ope;       // NOLINT(google-build-using-namespace)
}  // namespace experiments

}  // namespace lfiw

#endif  // LFIW_CORE_LAYERS_H_
