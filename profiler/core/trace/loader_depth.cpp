#include "profiler/core/trace/loader_depth.h"

#include <algorithm>
#include <cstdint>

#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr int kMost = 1024;  // a file may claim anything

int Number(const Trace& trace, facts::NumberKey key, int otherwise, int least) {
  const auto number = NumberFact(trace, key);
  return number ? static_cast<int>(std::clamp<std::int64_t>(*number, least, kMost)) : otherwise;
}

}  // namespace

LoaderDepth LoaderDepthOf(const Trace& trace) {
  const LoaderDepth usual;
  return {.workers = Number(trace, "loader.workers", usual.workers, 0),
          .prefetch = Number(trace, "loader.prefetch", usual.prefetch, 1)};
}

}  // namespace loopscope
