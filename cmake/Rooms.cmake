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

# A room's sources are read together, for builds from nothing. Whoever works on one of them sets this to OFF (the preset
# `dev` does), and sees there what a source forgot to include.
option(LOOPSCOPE_UNITY "read the sources of a folder together" ON)

# With headers precompiled once, where that helps (PrecompiledHeaders.cmake).
function(loopscope_library name sources)
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
  if(LOOPSCOPE_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40)
  endif()
  get_property(first GLOBAL PROPERTY LOOPSCOPE_FIRST_ROOM)
  if(first)
    loopscope_clang_headers(${name} REUSE_FROM ${first})
  else()
    loopscope_clang_headers(${name})
    set_property(GLOBAL PROPERTY LOOPSCOPE_FIRST_ROOM ${name})
  endif()
endfunction()

# loopscope_seam_library(<name> <sources> <header> <libraries>…): a list of rules. Its files name their parts
# alike, and so are read one by one, with what all of them include precompiled.
function(loopscope_seam_library name sources header)
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
  loopscope_common_headers(${name} "${PROJECT_SOURCE_DIR}/${header}")
endfunction()
