// The one-word category that event formats give to a host event.
#pragma once

#include <array>
#include <string_view>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// "op", or the range's category: "backward", "device_call" …
inline std::string_view EventCategory(const Event& event) {
  if (event.kind == EventKind::kOp) return "op";
  static constexpr std::array<std::string_view, 12> kNames{"user",       "loader",  "backward",   "optimizer",
                                                           "zero_grad",  "sync",    "collective", "copy_to_device",
                                                           "evaluation", "forward", "wait",       "device_call"};
  return event.sub < kNames.size() ? kNames[event.sub] : "user";
}

}  // namespace loopscope
