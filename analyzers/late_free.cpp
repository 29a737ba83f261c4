#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/memory_use.h"
#include "profiler/core/analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinOfPeakPct = 5;        // the saving that a memory treatment must show
constexpr double kMinBytes = 1024 * 1024;  // smaller savings are not worth an edit
constexpr std::size_t kSteps = 2;          // the last ones that can be judged: their tensors are known best
constexpr std::int64_t kAtOnceNs = 1000;   // tolerance between the clocks of two threads

// The moment at which the tensors of a step held the most memory.
struct Peak {
  double bytes = 0;
  std::int64_t time_ns = 0;
  std::int64_t op_began_ns = 0;  // start of the outermost op, or optimizer step, in which it was reached: what that
                                 // used it may use again, and its caller cannot free
};

bool IdleAt(const IdleTensor& tensor, const Peak& peak) {
  return tensor.used_ns < peak.op_began_ns && (tensor.freed_ns == 0 || tensor.freed_ns > peak.time_ns);
}

// The innermost or outermost op that a thread runs at `time_ns`.
EventRef OpAt(const Timeline& timeline, std::uint32_t thread, std::int64_t time_ns, bool outermost) {
  EventRef found{kNone, kNone};
  const int step = thread == kNone ? -1 : timeline.step_at(time_ns);
  if (step < 0) return found;
  const std::int64_t from = timeline.steps()[static_cast<std::size_t>(step)].time.start_ns;
  timeline.ForEach(thread, {from, time_ns + kAtOnceNs}, [&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.kind != EventKind::kOp || event.end_ns < time_ns) return;
    if (outermost && !timeline.outermost_op(ref)) return;
    found = ref;
  });
  return found;
}

// The start of the optimizer step that runs at `time_ns`; else `time_ns`.
std::int64_t OptimizerBegan(const Timeline& timeline, std::int64_t time_ns) {
  const int step = timeline.step_at(time_ns);
  if (step < 0) return time_ns;
  const std::int64_t from_ns = timeline.steps()[static_cast<std::size_t>(step)].time.start_ns;
  std::int64_t began_ns = time_ns;
  timeline.ForEach(timeline.training_thread(), {from_ns, time_ns + 1}, [&](EventRef ref) {
    const Event& event = timeline.event(ref);
    const bool runs = event.is_range(RangeCategory::kOptimizer) && event.end_ns >= time_ns;
    if (runs) began_ns = std::min(began_ns, event.start_ns);
  });
  return began_ns;
}

std::vector<Peak> PeaksOf(const Timeline& timeline) {
  std::vector<Peak> peaks;
  for (const TensorPeak& one : timeline.trace().tensor_peaks) {
    Peak peak{static_cast<double>(one.bytes), one.time_ns, one.time_ns};
    const EventRef op = OpAt(timeline, timeline.training_thread(), peak.time_ns, /*outermost=*/true);
    if (Exists(op)) peak.op_began_ns = std::min(peak.op_began_ns, timeline.event(op).start_ns);
    peak.op_began_ns = std::min(peak.op_began_ns, OptimizerBegan(timeline, peak.time_ns));
    peaks.push_back(peak);
  }
  return peaks;
}

const Where* PlaceAt(const Timeline& timeline, std::uint32_t thread, std::int64_t time_ns) {
  const EventRef op = OpAt(timeline, thread, time_ns, /*outermost=*/false);
  return Exists(op) ? timeline.where(op) : nullptr;
}

std::string PlaceText(const Where* where) {
  if (where == nullptr) return "";
  return fmt::format(", last used at {}:{}", where->path.substr(where->path.rfind('/') + 1), where->line);
}

// Where the tensors that are idle at the peaks come from, the largest place first.
std::vector<Evidence> Places(const Timeline& timeline, std::span<const Peak> peaks) {
  struct Place {
    double bytes = 0;
    std::uint64_t count = 0;
    std::string text;
  };
  std::map<std::optional<Where>, Place> places;
  for (const IdleTensor& tensor : timeline.trace().idle_tensors) {
    const auto times = static_cast<std::uint64_t>(
        std::ranges::count_if(peaks, [&](const Peak& peak) { return IdleAt(tensor, peak); }));
    if (times == 0) continue;
    const Where* where = PlaceAt(timeline, tensor.thread, tensor.allocated_ns);
    const Where* used = PlaceAt(timeline, timeline.training_thread(), tensor.used_ns);
    const bool made_here = where != nullptr;
    if (!made_here) where = used;  // made before the detail window, or by code without a recorded stack
    Place& place = places[where == nullptr ? std::nullopt : std::optional(*where)];
    place.bytes += static_cast<double>(tensor.bytes) * static_cast<double>(times) / static_cast<double>(peaks.size());
    place.count += times;
    place.text = made_here ? "made here" + PlaceText(used) : "used here for the last time";
  }
  std::vector<std::pair<std::optional<Where>, Place>> ordered(places.begin(), places.end());
  std::ranges::stable_sort(ordered, std::ranges::greater(), [](const auto& one) { return one.second.bytes; });
  std::vector<Evidence> evidence;
  for (const auto& [where, place] : ordered) {
    evidence.push_back(
        {fmt::format("{} at the peak of a step, {}", BytesText(place.bytes), place.text), place.count, where});
  }
  return evidence;
}

std::optional<Finding> WhyNot(const Timeline& timeline, std::span<const Peak> peaks) {
  if (OnDevice(timeline)) {
    return Finding::CannotTell("tensors on a GPU are not followed one by one");
  }
  if (timeline.trace().run.source != "capture") {
    return Finding::CannotTell("the trace does not say which tensor was in memory when");
  }
  if (timeline.detail_steps() == 0) return Finding::CannotTell(WhyNoDetail(timeline));
  if (peaks.size() < kSteps) return Finding::CannotTell("the allocations of no three steps in a row were followed");
  return std::nullopt;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const std::vector<Peak> all = PeaksOf(timeline);
  if (const auto why_not = WhyNot(timeline, all)) return {*why_not};
  const std::span<const Peak> peaks = std::span(all).last(kSteps);
  double idle_bytes = 0, peak_bytes = 0;
  bool material = true;
  for (const Peak& peak : peaks) {
    double idle = 0;
    for (const IdleTensor& tensor : timeline.trace().idle_tensors) {
      if (IdleAt(tensor, peak)) idle += static_cast<double>(tensor.bytes);
    }
    material &= idle >= kMinBytes && 100 * idle >= kMinOfPeakPct * peak.bytes;
    idle_bytes += idle / static_cast<double>(peaks.size());
    peak_bytes += peak.bytes / static_cast<double>(peaks.size());
  }
  if (!material) return {};
  const MemoryUse memory = MemoryUseOf(timeline);
  Finding finding;
  finding.severity = memory.tight() ? Severity::kMedium : Severity::kInfo;
  finding.title = fmt::format("{} of the {} that tensors hold at the peak of a step ({:.0f} %) are not used again",
                              BytesText(idle_bytes), BytesText(peak_bytes), 100 * idle_bytes / peak_bytes);
  if (memory.tight()) finding.title += fmt::format("; memory is short: {}", UseText(memory));
  finding.evidence = Places(timeline, peaks);
  return {finding};
}

}  // namespace

extern const Analyzer kLateFree{
    .id = "late-free", .question = "Do tensors hold memory that nothing reads any more?", .run = Run};

}  // namespace loopscope
