#include <algorithm>

#include "profiler/core/devices/device_links.h"
#include "profiler/core/timeline/communication.h"
#include "profiler/core/timeline/timeline_build.h"
#include "profiler/core/trace/inputs.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

Interval Of(const Event& event) {
  return {event.start_ns, event.end_ns};
}

bool IsUpdate(const Event& event) {
  return event.is_range(RangeCategory::kOptimizer) || event.is_range(RangeCategory::kZeroGrad);
}

bool IsPhase(const Event& range) {
  switch (static_cast<RangeCategory>(range.sub)) {
    case RangeCategory::kLoader:
    case RangeCategory::kBackward:
    case RangeCategory::kOptimizer:
    case RangeCategory::kZeroGrad:
      return true;
    default:
      return false;
  }
}

// Merges adjacent intervals when no `other` starts between them.
std::vector<Interval> Bursts(const std::vector<Interval>& by_start, const std::vector<Interval>& other) {
  std::vector<Interval> bursts;
  for (const Interval& one : by_start) {
    const Interval* between = bursts.empty() ? nullptr : FirstFrom(other, bursts.back().end_ns);
    if (bursts.empty() || (between != nullptr && between->start_ns < one.start_ns)) {
      bursts.push_back(one);
    } else {
      bursts.back().end_ns = std::max(bursts.back().end_ns, one.end_ns);
    }
  }
  return bursts;
}

}  // namespace

void TimelineBuilder::AddRange(const Event& range) {
  const Interval time = Of(range);
  switch (static_cast<RangeCategory>(range.sub)) {
    case RangeCategory::kLoader: {
      const bool python = range.name < name_class_.size() && (name_class_[range.name] & kNamePythonLoader);
      activity_.loaders.push_back({time, range.name, python});
      break;
    }
    case RangeCategory::kBackward:
      activity_.backward.push_back(time);
      break;
    case RangeCategory::kOptimizer:
      activity_.steps_taken.push_back(time);
      [[fallthrough]];
    case RangeCategory::kZeroGrad:
      activity_.optimizer.push_back(time);
      break;
    case RangeCategory::kCommunication:
      activity_.communication.push_back(time);
      break;
    case RangeCategory::kCopyToDevice:
      activity_.copies.push_back(time);
      break;
    case RangeCategory::kForward:
      if (activity_.calls.empty() || activity_.calls.back().end_ns <= time.start_ns) activity_.calls.push_back(time);
      break;
    case RangeCategory::kEvaluation:
      activity_.evaluations.push_back(time);
      break;
    default:
      break;
  }
}

// A collective only starts on the thread that calls it: that thread's next wait is for the other ranks.
void TimelineBuilder::AddWait(const Interval& time, bool for_collective) {
  if (for_collective) {
    activity_.communication.push_back(time);
  } else if (time.length() >= kMinWaitNs) {
    activity_.waits.push_back(time);
  }
}

void TimelineBuilder::CollectActivity() {
  const std::uint32_t thread = timeline_.training_thread_;
  const std::vector<Event>& events = timeline_.trace_.threads[thread].events;
  const std::vector<std::uint32_t>& parents = timeline_.parents_[thread];
  const DeviceCopies copies(timeline_.trace_);
  HostCallReader calls(copies);
  struct Place {
    bool in_op = false, in_phase = false;  // a phase between the event and the nearest op above it
    bool in_backward = false;              // a backward pass, or a node of one
  };
  std::vector<Place> places(events.size());  // a parent comes before its children
  bool after_collective = false;             // nothing but waits since the last collective was called
  std::vector<Interval> exchanged;           // with another rank, while this thread may work
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    span_.end_ns = std::max(span_.end_ns, event.end_ns);
    if (const std::uint32_t up = parents[i]; up != kNone) {
      const bool below_op = events[up].kind == EventKind::kOp;
      places[i].in_op = below_op || places[up].in_op;
      places[i].in_phase = !below_op && (IsPhase(events[up]) || places[up].in_phase);
      places[i].in_backward = places[up].in_backward || events[up].is_range(RangeCategory::kBackward) ||
                              (below_op && (NameBits(events[up]) & kNameBackwardNode));
    }
    const auto [in_op, in_phase, in_backward] = places[i];
    const unsigned bits = NameBits(event);
    if (in_backward && IsUpdate(event)) activity_.in_backward.push_back(Of(event));
    if (event.kind == EventKind::kOp && (event.flags & wire::kOpAsync)) {  // it only waits here, at its end
      if (IsBackendRange(timeline_.trace_.text(event.name))) exchanged.push_back(Of(event));
      continue;
    }
    if (event.is_range(RangeCategory::kWait)) {
      if (!in_op && !in_phase) AddWait(Of(event), after_collective);
      continue;
    }
    if (!in_op) after_collective = event.kind == EventKind::kOp && (bits & kNameCollective);
    if (event.is_range(RangeCategory::kSync) || event.is_range(RangeCategory::kDeviceCall)) {
      const HostCall call = calls.Read(event);
      if (call == HostCall::kWait) activity_.sync.push_back(Of(event));
      if (call == HostCall::kCopyToDevice) activity_.copies.push_back(Of(event));
    } else if (event.kind == EventKind::kRange) {
      AddRange(event);
    } else if (!in_op) {
      activity_.outermost.push_back(Of(event));
      activity_.of_model.push_back((event.flags & wire::kOpGraph) || (bits & kNameLayer));
      if (bits & kNameHostRead) activity_.host_reads.push_back(Of(event));
      if (in_phase || (bits & kNameBackwardNode)) continue;
      if (bits & kNameLayer) activity_.layers.push_back(Of(event));
      if (bits & kNameMode) AddMode({thread, i});
      const bool graph = (event.flags & wire::kOpGraph) != 0;
      if (graph && (bits & kNameLayer)) activity_.graph_layers.push_back(Of(event));
      if ((bits & kNameLayer) || (event.flags & wire::kOpGraph)) activity_.compute.push_back(Of(event));
    }
  }
  if (!events.empty()) span_.start_ns = events.front().start_ns;
  timeline_.loader_known_ = !activity_.loaders.empty();
  AddBackwardNodes();
  AddUpdatesOfEngine();
  const IntervalSet waited = IntervalSet(std::move(exchanged)).Subtract(IntervalSet(activity_.outermost));
  activity_.communication.insert(activity_.communication.end(), waited.intervals().begin(), waited.intervals().end());
}

// Of a device's tensors, the hooks run on the engine's own threads while the training thread waits in its backward
// pass.
void TimelineBuilder::AddUpdatesOfEngine() {
  const IntervalSet backward(activity_.backward);
  for (const std::uint32_t thread : timeline_.step_threads_) {
    if (thread == timeline_.training_thread_) continue;
    for (const Event& event : timeline_.trace_.threads[thread].events) {
      if (!IsUpdate(event)) continue;
      const IntervalSet inside = backward.Within(Of(event));
      activity_.in_backward.insert(activity_.in_backward.end(), inside.intervals().begin(), inside.intervals().end());
    }
  }
}

void TimelineBuilder::AddMode(EventRef op) {
  // aten::batch_norm(input, weight, bias, running_mean, running_var, training, …), aten::dropout(input, p, train)
  const std::size_t index = ops::IsDropout(timeline_.name(op)) ? 2 : 5;
  const std::vector<TensorText> inputs = ParseInputs(timeline_.inputs(op));
  if (inputs.size() <= index) return;
  const std::string_view mode = inputs[index].scalar;
  if (mode == "true" || mode == "false") activity_.modes.push_back({timeline_.event(op).start_ns, mode == "true"});
}

// Autograd's CPU backward runs on the calling thread; without kBackward ranges the engine's own threads count too.
void TimelineBuilder::AddBackwardNodes() {
  const IntervalSet ranges(activity_.backward);
  std::vector<Interval> nodes;
  for (const std::uint32_t thread : timeline_.step_threads_) {
    if (thread != timeline_.training_thread_ && !activity_.backward.empty()) continue;
    const std::vector<Event>& events = timeline_.trace_.threads[thread].events;
    for (const Event& event : events) {
      if (event.kind != EventKind::kOp || event.name >= name_class_.size()) continue;
      if (!(name_class_[event.name] & kNameBackwardNode)) continue;
      if (ranges.total_ns(Of(event)) == 0) nodes.push_back(Of(event));
    }
  }
  if (nodes.empty()) return;
  std::vector<Interval> other = activity_.compute;
  other.insert(other.end(), activity_.optimizer.begin(), activity_.optimizer.end());
  for (const Activity::Loader& loader : activity_.loaders) other.push_back(loader.time);
  const auto by_start = [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; };
  std::ranges::sort(other, by_start);
  std::ranges::sort(nodes, by_start);
  const std::vector<Interval> bursts = Bursts(nodes, other);
  activity_.backward.insert(activity_.backward.end(), bursts.begin(), bursts.end());
  std::ranges::sort(activity_.backward, by_start);
}

}  // namespace loopscope
