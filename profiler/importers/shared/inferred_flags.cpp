#include "profiler/importers/shared/inferred_flags.h"

#include <utility>

namespace loopscope {

void MarkGraphOps(const IsBackwardOp& is_backward, std::vector<Event>& events) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> later;  // (start, sequence) of later ops, the nearest last
  for (std::size_t i = events.size(); i-- > 0;) {
    Event& op = events[i];
    if (op.kind != EventKind::kOp) continue;
    if (is_backward(op)) {
      op.sub = 1;
      continue;
    }
    if (op.sequence == kNone) continue;
    op.flags |= wire::kOpGradMode;
    while (!later.empty() && later.back().first < op.end_ns) later.pop_back();
    if (!later.empty() && later.back().second > op.sequence) op.flags |= wire::kOpGraph;
    later.emplace_back(op.start_ns, op.sequence);
  }
}

void MarkOutermostOps(std::vector<Event>& events) {
  std::int64_t covered_to = INT64_MIN;
  for (Event& event : events) {
    if (event.kind != EventKind::kOp || event.start_ns < covered_to) continue;
    event.flags |= wire::kOpOutermost;
    covered_to = event.end_ns;
  }
}

}  // namespace loopscope
