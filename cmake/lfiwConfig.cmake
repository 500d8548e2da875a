include(${CMAKE_CURRENT_LIST_DIR}/LfiwDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/lfiw_targets.cmake)
