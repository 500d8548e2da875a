# Writes OUTPUT, a source file with the hashes of the sources of SOURCE_DIR by layer, which tell a
# stage cache by what code its artifacts were made; run at every build (cmake -P), it touches the
# file only when a hash changed. The experiments' own code is left out: of it only the bodies of
# stages decide bytes, and they have versions.
set(hashes "")
foreach(folder core envs models policies ope)
  file(GLOB_RECURSE sources ${SOURCE_DIR}/${folder}/*.h ${SOURCE_DIR}/${folder}/*.cc
       ${SOURCE_DIR}/${folder}/*.xml)
  list(SORT sources)
  set(all "")
  foreach(source ${sources})
    file(SHA256 ${source} hash)
    string(APPEND all ${hash})
  endforeach()
  string(SHA256 hash "${all}")
  string(APPEND hashes "    \"${hash}\",  // ${folder}\n")
endforeach()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "experiments/presentation/toolchain.h"

namespace lfiw::experiments {

const std::array<std::string_view, 5> kSourceHashes = {
@hashes@};

}  // namespace lfiw::experiments
]])
