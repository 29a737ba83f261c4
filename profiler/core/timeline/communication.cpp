#include "profiler/core/timeline/communication.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "profiler/core/trace/inputs.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr std::string_view kPrefix = "c10d::";

// The tensors that a collective exchanges are its first input: "(f32[1024])".
void ReadSizes(const Timeline& timeline, HostCollective& collective) {
  const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(collective.op));
  if (inputs.empty()) return;
  const std::vector<TensorText> tensors =
      inputs[0].is_tensor ? std::vector{inputs[0]} : ParseTensorList(inputs[0].scalar);
  if (tensors.empty()) return;
  collective.elements = 0;
  for (const TensorText& one : tensors) {
    collective.elements += one.elements();
    collective.bytes += one.bytes();
  }
  collective.dtype = tensors[0].dtype;
  collective.device = tensors[0].device;
}

int PassAt(const IntervalSet& passes, std::int64_t time_ns) {
  const auto all = passes.intervals();
  const auto after = std::ranges::upper_bound(all, time_ns, {}, &Interval::start_ns);
  if (after == all.begin() || (after - 1)->end_ns <= time_ns) return -1;
  return static_cast<int>(after - all.begin()) - 1;
}

bool IsWait(const Event& event) {
  return event.is_range(RangeCategory::kWait) || event.is_range(RangeCategory::kSync);
}

// What the probe's NCCL plugin wrote, with the device's times: "nccl:all_reduce", "nccl world:all_reduce". PyTorch's
// own operator of that name only enqueues.
bool IsPluginName(std::string_view name) {
  return name.starts_with("nccl:") || (name.starts_with("nccl ") && name.find(':') != name.npos);
}
bool IsPluginRange(const Event& event, std::string_view name) {
  return event.is_range(RangeCategory::kCommunication) && IsPluginName(name);
}

}  // namespace

bool IsBackendRange(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
}

void ForEachBackendRange(const Timeline& timeline, const std::function<void(const Event&)>& visit) {
  const Trace& trace = timeline.trace();
  if (timeline.training_thread() == kNone) return;
  std::vector<bool> named(trace.strings.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    named[i] = IsBackendRange(trace.strings[i]) || IsPluginName(trace.strings[i]);
  }
  if (std::ranges::find(named, true) == named.end()) return;
  for (const Thread& thread : trace.threads) {
    if (thread.pid != trace.threads[timeline.training_thread()].pid) continue;
    for (const Event& event : thread.events) {
      if (event.name >= named.size() || !named[event.name]) continue;
      const std::string_view name = trace.text(event.name);
      if (IsBackendRange(name) || IsPluginRange(event, name)) visit(event);
    }
  }
}

namespace {

// What runs Python within its span: the engine's range around a backward node, in which the hooks of gradients run
// too, and nodes that are written in Python. Such code may wait for what it exchanges.
bool RunsPython(std::string_view name) {
  if (ops::IsBackwardNode(name) || name == "torch::autograd::AccumulateGrad") return true;
  return name.ends_with("Backward") && name != "CompiledFunctionBackward";  // torch's own have a number: "MmBackward0"
}

// When the training thread worked: its operators. Of those that run Python only what they call counts, not their whole
// span.
IntervalSet HostWorking(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  std::vector<bool> runs_python(trace.strings.size());
  std::vector<bool> exchanges(
      trace.strings.size());  // from its start to its wait(), on this thread: gloo's send and receive
  for (std::size_t i = 0; i < runs_python.size(); ++i) {
    runs_python[i] = RunsPython(trace.strings[i]);
    exchanges[i] = IsBackendRange(trace.strings[i]);
  }
  std::vector<Interval> working;
  // Of the last operator that lies in no other, and of the last such one that runs Python.
  constexpr auto kNever = std::numeric_limits<std::int64_t>::min();
  std::int64_t outermost_end_ns = kNever, python_end_ns = kNever;
  for (const Event& event : trace.threads[timeline.training_thread()].events) {
    if (event.kind != EventKind::kOp || (event.flags & wire::kOpAsync)) continue;
    if (event.name < exchanges.size() && exchanges[event.name]) continue;
    const bool outermost = event.start_ns >= outermost_end_ns;
    if (outermost) outermost_end_ns = event.end_ns;
    if (event.name < runs_python.size() && runs_python[event.name]) {
      if (outermost) python_end_ns = event.end_ns;
    } else if (outermost || event.start_ns < python_end_ns) {
      working.push_back({event.start_ns, event.end_ns});
    }
  }
  return IntervalSet(std::move(working));
}

// While a backend communicated and the training thread did not work, it waited.
IntervalSet HostOnlyCommunicating(const Timeline& timeline) {
  std::vector<Interval> communicating;
  ForEachBackendRange(timeline, [&](const Event& event) { communicating.push_back({event.start_ns, event.end_ns}); });
  const IntervalSet& calls = timeline.part(Part::kCommunication);
  if (communicating.empty()) return calls;
  return IntervalSet(std::move(communicating)).Subtract(HostWorking(timeline)).Union(calls);
}

}  // namespace

IntervalSet OnlyCommunicating(const Timeline& timeline) {
  if (timeline.devices().empty()) return HostOnlyCommunicating(timeline);
  IntervalSet communicating, working;
  for (const DeviceTimeline& device : timeline.devices()) {
    communicating = communicating.Union(device.communication());
    working = working.Union(device.compute()).Union(device.memory());
  }
  return communicating.Subtract(working);
}

double MsInAStep(const Timeline& timeline, const IntervalSet& times) {
  double inside_ns = 0, total_ns = 0;
  if (!timeline.devices().empty()) {  // as all figures of a device, over the steps in which its work is known
    for (const std::uint32_t step : timeline.steady()) {
      inside_ns += static_cast<double>(times.total_ns(timeline.steps()[step].time));
    }
    return inside_ns / 1e6 / static_cast<double>(timeline.steady().size());
  }
  for (const PartedStep& one : timeline.parted()) {
    const Interval step = timeline.steps()[one.index].time;
    inside_ns += one.weight * static_cast<double>(times.total_ns(step));
    total_ns += one.weight * static_cast<double>(step.length());
  }
  return total_ns > 0 ? inside_ns / total_ns * timeline.mean_step_ms() : 0;
}

std::vector<HostCollective> HostCollectives(const Timeline& timeline) {
  std::vector<HostCollective> found;
  const Trace& trace = timeline.trace();
  std::vector<bool> named(trace.strings.size());
  for (std::size_t i = 0; i < named.size(); ++i) named[i] = trace.strings[i].starts_with(kPrefix);
  if (std::ranges::find(named, true) == named.end()) return found;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.kind != EventKind::kOp || event.name >= named.size() || !named[event.name]) return;
    HostCollective collective{ref, timeline.name(ref).substr(kPrefix.size())};
    collective.step = static_cast<std::uint32_t>(timeline.step_at(event.start_ns));
    collective.pass = PassAt(timeline.part(Part::kBackward), event.start_ns);
    ReadSizes(timeline, collective);
    found.push_back(collective);
  });
  return found;
}

std::int64_t GoesOnAt(const Timeline& timeline, const HostCollective& collective) {
  const std::vector<Event>& events = timeline.trace().threads[collective.op.thread].events;
  const std::int64_t until = timeline.steps()[collective.step].time.end_ns;
  const std::int64_t end_ns = timeline.event(collective.op).end_ns;
  for (std::size_t i = collective.op.index + 1; i < events.size() && events[i].start_ns < until; ++i) {
    if (events[i].start_ns >= end_ns && !IsWait(events[i])) return events[i].start_ns;
  }
  return until;
}

}  // namespace loopscope
