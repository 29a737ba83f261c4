# loopscope_room(<folder> <libraries that it may include>…): the folder's own sources as a library, named for its path:
# profiler/core/trace is loopscope_core_trace, reports/words is loopscope_reports_words.
# tests/unit/architecture_test.cpp holds includes to the same directions.
function(loopscope_room folder)
  file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
  string(REGEX REPLACE "^profiler/" "" path "${path}")
  string(REPLACE "/" "_" name "loopscope_${path}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  loopscope_library(${name} "${sources}" ${ARGN})
endfunction()

# With the standard library's headers precompiled once, where that helps (PrecompiledHeaders.cmake). The sanitizers' builds
# read a room's sources together, which takes a third of the time; lists of rules and of treatments, whose files name
# their parts alike, are set apart by loopscope_sources_apart.
function(loopscope_library name sources)
  add_library(${name} STATIC ${sources})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
  target_link_libraries(${name} PUBLIC ${ARGN})
  get_property(first GLOBAL PROPERTY LOOPSCOPE_FIRST_ROOM)
  if(first)
    loopscope_common_headers(${name} REUSE_FROM ${first})
  else()
    loopscope_common_headers(${name})
    set_property(GLOBAL PROPERTY LOOPSCOPE_FIRST_ROOM ${name})
  endif()
endfunction()

function(loopscope_sources_apart name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
endfunction()
