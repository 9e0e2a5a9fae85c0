# find_package(referee_c) defines the target referee::c.
include(CMakeFindDependencyMacro)
find_dependency(json-c CONFIG)
include(${CMAKE_CURRENT_LIST_DIR}/referee_c-targets.cmake)
