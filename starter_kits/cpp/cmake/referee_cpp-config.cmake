# find_package(referee_cpp) defines the target referee::cpp.
include(CMakeFindDependencyMacro)
find_dependency(nlohmann_json 3.10)
include(${CMAKE_CURRENT_LIST_DIR}/referee_cpp-targets.cmake)
