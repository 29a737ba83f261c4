// How much of what the devices did is in the trace, and whether that is enough to judge them.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/core/devices/device_timeline_build.h"
#include "profiler/core/timeline/timeline_build.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMaxUnlinkedShare = 0.05;  // of the devices' work in the window, with its call missing
constexpr double kMaxHiddenShare = 0.05;    // of the devices' time in the window, spent inside graphs

struct Counted {
  LaunchCounts kernels, graphs;
};

// Of the threads that take part in the steady steps; where there are none, all up to the last one that left work.
Counted CountLaunches(const Timeline& timeline, const std::vector<Launch>& launches) {
  Counted counted;
  const std::int64_t last_ns = LastRecorded(launches);
  const auto counts = [&](const Launch& launch) {
    if (timeline.steady().empty()) return launch.start_ns <= last_ns;
    if (std::ranges::find(timeline.step_threads(), launch.thread) == timeline.step_threads().end()) return false;
    const int step = timeline.step_at(launch.start_ns);
    return step >= 0 && std::ranges::binary_search(timeline.steady(), static_cast<std::uint32_t>(step));
  };
  for (const Launch& launch : launches) {
    if (counts(launch)) (launch.graph ? counted.graphs : counted.kernels).Add(launch);
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

// Asking for devices, waiting for them and pinning memory is what programs do on machines that have a GPU, also those
// that compute on the CPU.
bool ConcernsDevice(std::string_view call) {
  const auto has = [&](std::string_view part) { return call.find(part) != call.npos; };
  return has("Launch") || has("Memcpy") || has("Memset") ||
         ((has("Malloc") || has("MemAlloc") || has("MemCreate")) && !has("Host"));
}

bool AnyDeviceCall(const Trace& trace) {
  std::vector<bool> concerns;
  for (const std::string& name : trace.strings) concerns.push_back(ConcernsDevice(name));
  return std::ranges::any_of(trace.threads, [&](const Thread& thread) {
    return std::ranges::any_of(thread.events, [&](const Event& event) {
      return event.is_range(RangeCategory::kDeviceCall) && event.name < concerns.size() && concerns[event.name];
    });
  });
}

bool AnyDeviceInput(const Trace& trace) {
  return std::ranges::any_of(trace.strings, [](std::string_view text) { return text.find("]@cuda") != text.npos; });
}

// torch.profiler registers CUPTI's callbacks again and, when it stops, turns off what was on before it.
bool ProfilerTookTheRecords(const Timeline& timeline) {
  const auto profiled = [](const Event& event) {
    return event.kind == EventKind::kOp && (event.flags & wire::kOpProfiler) != 0;
  };
  const Trace& trace = timeline.trace();
  // Where the probe made room for it, the steps before that are whole.
  if (const std::int64_t left_ns = DevicesLeftAt(trace); left_ns != INT64_MAX) {
    return timeline.steady().empty() || timeline.steps()[timeline.steady().back()].time.end_ns > left_ns;
  }
  return trace.run.source == "capture" && std::ranges::any_of(trace.threads, [&](const Thread& thread) {
           return std::ranges::any_of(thread.events, profiled);
         });
}

std::string Remedy(const Trace& trace) {
  if (trace.run.source == "kineto") return "record it with ProfilerActivity.CUDA";
  if (trace.run.source == "nsys") return "record it with --trace=cuda";
  return "run it with a torch whose CUPTI can be loaded, or report a trace of torch.profiler";
}

DeviceCoverage RecordsOf(const Timeline& timeline, const std::vector<Launch>& launches) {
  const Trace& trace = timeline.trace();
  if (timeline.devices().empty()) {
    if (!AnyDeviceCall(trace) && !AnyDeviceInput(trace)) return {false, "the program used no GPU", ""};
    return {true, "the program ran on a GPU, but the trace holds no times of what the GPU did: " + Remedy(trace), ""};
  }
  if (ProfilerTookTheRecords(timeline)) {
    return {true, "torch.profiler was active, which takes the GPU's records for itself: part of them is missing", ""};
  }
  if (const auto lost = NumberFact(trace, "device.lost_work")) {
    return {true,
            std::to_string(*lost) + " pieces of the GPU's work have no true time: part of what the GPU did is missing",
            ""};
  }
  const auto [kernels, graphs] = CountLaunches(timeline, launches);
  if (graphs.incomplete()) {
    return {true,
            OutOf(graphs.unrecorded, graphs.all) +
                " launches of CUDA graphs left nothing in the trace: what the GPU did in them is not known",
            ""};
  }
  if (kernels.incomplete()) {
    return {true,
            OutOf(kernels.unrecorded, kernels.all) +
                " kernel launches left no kernel in the trace: part of what the GPU did is missing",
            ""};
  }
  return {true, "", WhyNoCauses(timeline)};
}

}  // namespace

DeviceCoverage CoverageOf(const Timeline& timeline, const std::vector<Launch>& launches) {
  DeviceCoverage coverage = RecordsOf(timeline, launches);
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
  timeline_.device_coverage_ = CoverageOf(timeline_, launches_);
}

}  // namespace loopscope
