# Headers that are read once for many sources. Torch's: they take three quarters of a source's time. The standard
# library's and fmt's: where sources are read one by one, as rules are, that halves the time and more. Where they are read
# together, with clang alone (the sanitizers' builds): GCC gains a twentieth there. The preset `dev` builds without
# them, and so sees a source that does not include what it uses.
set(LOOPSCOPE_COMMON_HEADERS
  <algorithm> <array> <charconv> <cmath> <cstdint> <cstdlib> <cstring> <filesystem> <fstream> <functional> <map>
  <memory> <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h>)
set(LOOPSCOPE_TORCH_HEADERS <torch/nn/module.h> <torch/types.h> <algorithm> <memory> <string> <vector>)

# loopscope_common_headers(<target> [<more>…]), for sources that are read one by one.
function(loopscope_common_headers target)
  if(LOOPSCOPE_UNITY)
    target_precompile_headers(${target} PRIVATE ${LOOPSCOPE_COMMON_HEADERS} ${ARGN})
  endif()
endfunction()

# For sources that are read together: loopscope_clang_headers(<target> [<more>…]), or with what another target
# precompiled: loopscope_clang_headers(<target> REUSE_FROM <other>).
function(loopscope_clang_headers target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  if("REUSE_FROM" IN_LIST ARGN)
    target_precompile_headers(${target} ${ARGN})
  else()
    loopscope_common_headers(${target} ${ARGN})
  endif()
endfunction()

# ccache keeps sources with precompiled headers only where it is told that it may.
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE}")
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
