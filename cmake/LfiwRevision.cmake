# Writes OUTPUT, a source file that defines the version and the git revision of SOURCE_DIR; run at
# every build (cmake -P), it touches the file only when the revision changed.
execute_process(
  COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "core/run/revision.h"

namespace lfiw::core {

const std::string_view kLfiwVersion = "@VERSION@";
const std::string_view kLfiwRevision = "@revision@";

}  // namespace lfiw::core
]])
