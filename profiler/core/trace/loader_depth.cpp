#include "profiler/core/trace/loader_depth.h"

#include <algorithm>
#include <cstdlib>

namespace loopscope {
namespace {

int Number(const Trace& trace, const char* key, int otherwise) {
  const auto fact = trace.facts.find(key);
  return fact == trace.facts.end() ? otherwise : std::atoi(fact->second.c_str());
}

}  // namespace

LoaderDepth LoaderDepthOf(const Trace& trace) {
  constexpr int kMost = 1024;  // a file may claim anything
  const LoaderDepth usual;
  return {.workers = std::clamp(Number(trace, "loader.workers", usual.workers), 0, kMost),
          .prefetch = std::clamp(Number(trace, "loader.prefetch", usual.prefetch), 1, kMost)};
}

}  // namespace loopscope
