#include "analyzers/gradients/unread_nodes.h"

#include <ranges>
#include <vector>

#include "analyzers/shared/events.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kShareOfWeights = 0.5;  // of a layer's node: the other half is the gradient of its input

struct Node {
  double ms = 0;
  bool accumulates = false, read = false;
};

bool AddsToGradient(std::string_view name) {
  return name == "torch::autograd::AccumulateGrad";
}

// In the order in which they ran: the engine adds to a tensor's gradient as soon as that is made.
std::vector<Node> NodesOf(const Timeline& timeline, EventRef pass, const Shapes& read) {
  const NameSet nodes(timeline.trace(), ops::IsBackwardNode), adds(timeline.trace(), AddsToGradient);
  const Event& range = timeline.event(pass);
  std::vector<Node> found;
  timeline.ForEach(pass.thread, {range.start_ns, range.end_ns}, [&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (nodes.Has(event)) found.push_back({.ms = Ms(event.duration_ns())});
    if (!adds.Has(event) || found.empty()) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    found.back().accumulates = true;
    found.back().read = inputs.empty() || read.contains(inputs[0].sizes);
  });
  return found;
}

}  // namespace

double UnreadMs(const Timeline& timeline, EventRef pass, const Shapes& read) {
  double ms = 0;
  bool any_read = false;      // of those that ran later
  int added = 0, unread = 0;  // right after the current node
  for (const Node& node : NodesOf(timeline, pass, read) | std::views::reverse) {
    if (node.accumulates) {
      ++added;
      unread += node.read ? 0 : 1;
      any_read |= node.read;
      ms += node.read ? 0 : node.ms;
      continue;
    }
    if (!any_read) {
      ms += node.ms;
    } else if (unread > 0) {
      ms += kShareOfWeights * node.ms * unread / added;
    }
    added = unread = 0;
  }
  return ms;
}

}  // namespace loopscope
