// The process of a trace whose steps are measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// The marks of the leading process: the first that trained (ranks are joined in order, and each has its own losses and
// window).
class LeadingProcess {
 public:
  explicit LeadingProcess(const Trace& trace) : trace_(trace) {
    const std::uint32_t pid = LeadingPid(trace);
    const auto own = [&](const Mark& mark) {
      return mark.thread >= trace.threads.size() || trace.threads[mark.thread].pid == pid;
    };
    std::ranges::copy_if(trace.marks, std::back_inserter(marks), own);
  }

  std::vector<Mark> marks;
  std::string_view text(StringId name) const { return trace_.text(name); }

 private:
  static std::uint32_t LeadingPid(const Trace& trace) {
    std::vector<std::uint64_t> steps(trace.threads.size());
    for (const Mark& mark : trace.marks) {
      if (mark.kind == MarkKind::kStepEnd && mark.thread < steps.size()) ++steps[mark.thread];
    }
    const auto most = std::ranges::max_element(steps);
    // At the end of a bounded run one rank may be a few steps ahead of another.
    const auto first =
        std::ranges::find_if(steps, [&](std::uint64_t count) { return count > 0 && 2 * count >= *most; });
    return first == steps.end() ? 0 : trace.threads[static_cast<std::size_t>(first - steps.begin())].pid;
  }

  const Trace& trace_;
};

}  // namespace loopscope
