// How much of what the devices did is in the trace, and whether that is enough to judge them.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/core/devices/device_timeline_build.h"
#include "profiler/core/timeline/timeline_build.h"

namespace loopscope {
namespace {

constexpr double kMaxUnlinkedShare = 0.05;    // of the devices' work in the window, with its call missing
constexpr double kMaxHiddenShare = 0.05;      // of the devices' time in the window, spent inside graphs
constexpr double kMaxUnrecordedShare = 0.05;  // of the launches in the window; the last may run after the trace ends

struct Launches {
  std::uint64_t kernels = 0, unrecorded_kernels = 0, graphs = 0, unrecorded_graphs = 0;
};

enum class Launch : std::uint8_t { kNo, kKernel, kGraph };

// Calls of the CUDA runtime and driver, and of HIP: cudaLaunchKernelExC, cuLaunchKernel, hipExtModuleLaunchKernel …
Launch LaunchOf(std::string_view name) {
  if (name.find("GraphLaunch") != name.npos) return Launch::kGraph;
  return name.find("LaunchKernel") != name.npos || name.find("LaunchCooperative") != name.npos ? Launch::kKernel
                                                                                               : Launch::kNo;
}

std::vector<std::uint32_t> RecordedCorrelations(const Trace& trace) {
  std::vector<std::uint32_t> recorded;
  for (const Device& device : trace.devices) {
    for (const DeviceEvent& event : device.events) recorded.push_back(event.correlation);
  }
  if (!std::ranges::is_sorted(recorded)) std::ranges::sort(recorded);
  return recorded;
}

Launches CountLaunches(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  std::vector<Launch> kinds;
  for (const std::string& name : trace.strings) kinds.push_back(LaunchOf(name));
  const std::vector<std::uint32_t> recorded = RecordedCorrelations(trace);
  Launches counted;
  const auto count = [&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (!event.is_range(RangeCategory::kDeviceCall) || event.value == 0 || event.name >= kinds.size()) return;
    const Launch kind = kinds[event.name];
    if (kind == Launch::kNo) return;
    const bool missing = !std::ranges::binary_search(recorded, event.value);
    (kind == Launch::kGraph ? counted.graphs : counted.kernels) += 1;
    (kind == Launch::kGraph ? counted.unrecorded_graphs : counted.unrecorded_kernels) += missing;
  };
  timeline.ForEachSteady(count);
  for (std::uint32_t t = 0; timeline.steady().empty() && t < trace.threads.size(); ++t) {
    timeline.ForEach(t, {INT64_MIN, INT64_MAX}, count);
  }
  return counted;
}

std::string OutOf(std::uint64_t some, std::uint64_t all) {
  return std::to_string(some) + " of " + std::to_string(all);
}

std::string WhyNoCauses(const Timeline& timeline) {
  std::uint64_t all = 0, unlinked = 0;
  ForEachWork(timeline, [&](const DeviceTimeline& device, std::uint32_t i, const DeviceEvent&) {
    ++all;
    unlinked += device.launch(i).thread == kNone;
  });
  if (static_cast<double>(unlinked) <= kMaxUnlinkedShare * static_cast<double>(all)) return "";
  return "the calls that launched " + OutOf(unlinked, all) +
         " pieces of the GPU's work are not in the trace: why it stood still is unknown";
}

// A graph is launched without its operators, and recorded without its kernels.
std::string WhyNoPasses(const Timeline& timeline) {
  std::int64_t all_ns = 0, hidden_ns = 0;
  ForEachWork(timeline, [&](const DeviceTimeline&, std::uint32_t, const DeviceEvent& event) {
    all_ns += event.duration_ns();
    hidden_ns += event.kind == DeviceKind::kGraph ? event.duration_ns() : 0;
  });
  const double share = all_ns == 0 ? 0 : static_cast<double>(hidden_ns) / static_cast<double>(all_ns);
  if (share <= kMaxHiddenShare) return "";
  return fmt::format("CUDA graphs, recorded as a whole, took {:.0f} % of the GPU's time: what runs inside is not known",
                     100 * share);
}

bool AnyDeviceCall(const Trace& trace) {
  for (const Thread& thread : trace.threads) {
    for (const Event& event : thread.events) {
      if (event.is_range(RangeCategory::kDeviceCall) || event.is_range(RangeCategory::kSync)) return true;
    }
  }
  return false;
}

bool AnyDeviceInput(const Trace& trace) {
  return std::ranges::any_of(trace.strings, [](std::string_view text) { return text.find("]@cuda") != text.npos; });
}

// torch.profiler registers CUPTI's callbacks again and, when it stops, turns off what was on before it.
bool ProfilerTookTheRecords(const Timeline& timeline) {
  const auto profiled = [](const Event& event) {
    return event.kind == EventKind::kOp && (event.flags & wire::kOpProfiler) != 0;
  };
  return timeline.trace().run.source == "capture" &&
         std::ranges::any_of(timeline.trace().threads,
                             [&](const Thread& thread) { return std::ranges::any_of(thread.events, profiled); });
}

DeviceCoverage RecordsOf(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  if (timeline.devices().empty()) {
    if (!AnyDeviceCall(trace) && !AnyDeviceInput(trace)) return {false, "the program used no GPU", ""};
    return {true, "the program ran on a GPU, but the trace holds no times of what the GPU did", ""};
  }
  if (ProfilerTookTheRecords(timeline)) {
    return {true, "torch.profiler was active, which takes the GPU's records for itself: part of them is missing", ""};
  }
  const Launches launches = CountLaunches(timeline);
  if (launches.unrecorded_graphs > 0) {
    return {true,
            OutOf(launches.unrecorded_graphs, launches.graphs) +
                " launches of CUDA graphs left nothing in the trace: what the GPU did in them is not known",
            ""};
  }
  const double all = static_cast<double>(launches.kernels);
  if (static_cast<double>(launches.unrecorded_kernels) > kMaxUnrecordedShare * all) {
    return {true,
            OutOf(launches.unrecorded_kernels, launches.kernels) +
                " kernel launches left no kernel in the trace: part of what the GPU did is missing",
            ""};
  }
  return {true, "", WhyNoCauses(timeline)};
}

}  // namespace

DeviceCoverage CoverageOf(const Timeline& timeline) {
  DeviceCoverage coverage = RecordsOf(timeline);
  coverage.why_no_passes = WhyNoPasses(timeline);
  return coverage;
}

void TimelineBuilder::FindDevices() {
  std::vector<Interval> steady;
  for (const std::uint32_t index : timeline_.steady()) steady.push_back(timeline_.steps()[index].time);
  timeline_.devices_ = BuildDeviceTimelines({.trace = timeline_.trace(),
                                             .training_thread = timeline_.training_thread(),
                                             .threads = timeline_.step_threads(),
                                             .steady = steady,
                                             .loader_wait = timeline_.part(Part::kLoaderWait)});
  timeline_.device_coverage_ = CoverageOf(timeline_);
}

}  // namespace loopscope
