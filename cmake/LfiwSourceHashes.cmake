# Writes OUTPUT, a source file with the hashes of the sources of SOURCE_DIR by layer, which tell a
# stage cache by what code its artifacts were made; run at every build (cmake -P), it touches the
# file only when a hash changed. Of the experiments, those whose stages run their own code count.
set(core_folders core)
set(envs_folders envs)
set(models_folders models)
set(policies_folders policies)
set(ope_folders ope)
set(experiments_folders experiments/evaluation experiments/calibration experiments/image_gof
    experiments/omniglot)

set(hashes "")
foreach(layer core envs models policies ope experiments)
  set(sources "")
  foreach(folder ${${layer}_folders})
    file(GLOB_RECURSE found ${SOURCE_DIR}/${folder}/*.h ${SOURCE_DIR}/${folder}/*.cc
         ${SOURCE_DIR}/${folder}/*.xml)
    list(APPEND sources ${found})
  endforeach()
  list(SORT sources)
  set(all "")
  foreach(source ${sources})
    file(SHA256 ${source} hash)
    string(APPEND all ${hash})
  endforeach()
  string(SHA256 hash "${all}")
  string(APPEND hashes "    \"${hash}\",  // ${layer}\n")
endforeach()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "experiments/presentation/toolchain.h"

namespace lfiw::experiments {

const std::array<std::string_view, 6> kSourceHashes = {
@hashes@};

}  // namespace lfiw::experiments
]])
