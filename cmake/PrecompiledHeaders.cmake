# The headers that most sources include, read once per set of flags: about halves a build from nothing. A source still
# includes what it uses, so it builds with CMAKE_DISABLE_PRECOMPILE_HEADERS=ON too.
set(LOOPSCOPE_COMMON_HEADERS
  <algorithm> <array> <charconv> <cmath> <cstdint> <cstdlib> <cstring> <filesystem> <fstream> <functional> <map>
  <memory> <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h>)
set(LOOPSCOPE_TORCH_HEADERS <torch/nn/module.h> <torch/types.h> <algorithm> <memory> <string> <vector>)

# ccache keeps sources with precompiled headers only where it is told that it may.
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE}")
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()
