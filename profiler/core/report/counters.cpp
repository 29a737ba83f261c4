#include "profiler/core/report/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "profiler/core/devices/device_links.h"

namespace loopscope {
namespace {

struct Tally {
  CounterKind kind = CounterKind::kCount;
  double total = 0;
  std::map<Where, double> sites;
  bool detail_only = true;  // sites are known only in the steps of the detail window
};

struct DebugSwitch {
  wire::OpFlag flag;
  const char* name;
};
constexpr DebugSwitch kSwitches[] = {
    {wire::kOpAnomaly, "anomaly mode"}, {wire::kOpProfiler, "torch profiler"}, {wire::kOpEmitNvtx, "emit_nvtx"}};

// What aten::item and aten::is_nonzero each call, once.
constexpr std::string_view kHostRead = "aten::_local_scalar_dense";

bool Flagged(const Event& event) {
  return event.kind == EventKind::kOp && (event.flags & wire::kOpOutermost);
}

bool Allocates(std::string_view name) {
  return name == "aten::empty" || name == "aten::empty_strided" || name == "aten::resize_";
}

class Counting {
 public:
  Counting(const Timeline& timeline, int steps)
      : timeline_(timeline), copies_(timeline.trace()), directory_(timeline.trace().run.working_directory) {
    for (std::uint32_t i = 0; i < timeline.steps().size() && std::ssize(steps_) < steps; ++i) {
      const Step& step = timeline.steps()[i];
      if (timeline.steady().empty() || i > timeline.steady().back()) break;
      if (step.operators && step.kind() >= StepKind::kTransient) steps_.push_back(i);
    }
    for (const Thread& thread : timeline.trace().threads) {
      flagged_ |= std::ranges::any_of(thread.events, Flagged);
    }
    for (const std::uint32_t index : steps_) detailed_ += timeline.steps()[index].detail;
  }

  Counters Run() {
    Counters counters;
    counters.steps = static_cast<int>(steps_.size());
    counters.clock = timeline_.clock();
    if (steps_.empty()) return counters;
    for (const std::uint32_t thread : timeline_.step_threads()) CountThread(thread);
    CountDevices();
    for (const auto& [name, tally] : tallies_) counters.counts[name] = CountOf(tally);
    double samples = 0, ns = 0;
    for (const std::uint32_t index : steps_) {
      samples += static_cast<double>(timeline_.steps()[index].samples);
      ns += static_cast<double>(timeline_.steps()[index].time.length());
    }
    counters.samples_per_step = samples / static_cast<double>(steps_.size());
    counters.ms_per_step = ns / 1e6 / static_cast<double>(steps_.size());
    return counters;
  }

 private:
  void CountThread(std::uint32_t thread) {
    HostCallReader calls(copies_);
    for (const std::uint32_t index : steps_) {
      std::uint16_t flags = 0;
      timeline_.ForEach(thread, timeline_.steps()[index].time, [&](EventRef ref) {
        const Event& event = timeline_.event(ref);
        if (event.kind == EventKind::kOp) {
          CountOp(ref);
          flags |= event.flags;
        } else {
          CountRange(ref, event, calls);
        }
      });
      for (const DebugSwitch& one : kSwitches) {
        if (flags & one.flag) switched_on_[one.name].insert(index);
      }
    }
    for (const auto& [name, steps] : switched_on_) {
      Tally& tally = tallies_[name];
      tally.kind = CounterKind::kDebug;
      tally.total = static_cast<double>(steps.size());
      if (backward_) tally.sites[*backward_] = tally.total;
      tally.detail_only = false;
    }
  }

  void CountOp(EventRef ref) {
    const std::string_view name = timeline_.name(ref);
    Add("ops", ref, CounterKind::kCount, 1, false);
    if (Allocates(name)) Add("tensors allocated", ref);
    if (Outermost(ref)) Add("op " + std::string(name), ref);
    if (name == kHostRead) Add("host reads", ref, CounterKind::kSync, 1, true, true);
  }

  // Prefer the probe's own flag: a short op's end may be recorded after that of the op around it.
  bool Outermost(EventRef ref) const { return flagged_ ? Flagged(timeline_.event(ref)) : timeline_.outermost_op(ref); }

  void CountRange(EventRef ref, const Event& event, HostCallReader& calls) {
    if (event.is_range(RangeCategory::kBackward) && !backward_) {
      if (const Where* where = timeline_.where(ref)) backward_ = Relative(*where);
    }
    if (event.is_range(RangeCategory::kCommunication)) Add("collectives", ref, CounterKind::kCount, 1, true, true);
    if (!event.is_range(RangeCategory::kSync) && !event.is_range(RangeCategory::kDeviceCall)) return;
    if (calls.Read(event) == HostCall::kWait) Add("waits for the device", ref, CounterKind::kSync, 1, true, true);
    const std::string_view name = timeline_.name(ref);
    if (name.starts_with("cudaMalloc") || name.starts_with("hipMalloc")) Add("device allocations", ref);
  }

  // Work counts in the step in which the host launched it.
  void CountDevices() {
    for (const DeviceTimeline& device : timeline_.devices()) {
      const Device& events = timeline_.trace().devices[device.index()];
      for (std::uint32_t i = 0; i < events.events.size(); ++i) CountWork(events.events[i], device.launch(i));
    }
    for (const Mark& mark : timeline_.trace().marks) {
      const std::string name(timeline_.trace().text(mark.name));
      if (mark.kind != MarkKind::kPeakBytes || name == "host") continue;
      Tally& tally = tallies_["peak bytes on " + name];
      tally.total = std::max(tally.total, static_cast<double>(mark.value) * static_cast<double>(steps_.size()));
    }
  }

  void CountWork(const DeviceEvent& work, EventRef launch) {
    const bool known = launch.index != kNone;
    const int step = timeline_.step_at(known ? timeline_.event(launch).start_ns : work.start_ns);
    if (step < 0 || !std::ranges::binary_search(steps_, static_cast<std::uint32_t>(step))) return;
    const EventRef at = known ? launch : EventRef{kNone, kNone};
    const auto bytes = static_cast<double>(work.bytes);
    if (work.kind == DeviceKind::kKernel || work.kind == DeviceKind::kGraph) Add("kernels", at);
    if (work.kind == DeviceKind::kCommunication) {
      Add("device collectives", at);
      Add("collective bytes", at, CounterKind::kCount, bytes);
    }
    if (work.copy == CopyKind::kHostToDevice) Add("bytes to the device", at, CounterKind::kCount, bytes);
    if (work.copy == CopyKind::kDeviceToHost) Add("bytes from the device", at, CounterKind::kCount, bytes);
  }

  void Add(const std::string& name, EventRef ref, CounterKind kind = CounterKind::kCount, double amount = 1,
           bool with_site = true, bool always_sited = false) {
    Tally& tally = tallies_[name];
    tally.kind = kind;
    tally.total += amount;
    tally.detail_only = !always_sited;
    if (!with_site || ref.index == kNone) return;
    const int step = timeline_.step_at(timeline_.event(ref).start_ns);
    const bool detail = step >= 0 && timeline_.steps()[static_cast<std::size_t>(step)].detail;
    if (!detail && !always_sited) return;
    if (const Where* where = timeline_.where(ref)) tally.sites[Relative(*where)] += amount;
  }

  Where Relative(Where where) const {
    where.path = RelativePath(where.path, directory_);
    return where;
  }

  Count CountOf(const Tally& tally) const {
    const auto steps = static_cast<double>(steps_.size());
    Count count{tally.kind, tally.total / steps, {}};
    const double sited_steps = tally.detail_only ? std::max(1, detailed_) : steps;
    for (const auto& [where, total] : tally.sites) count.sites.push_back({where, total / sited_steps});
    return count;
  }

  const Timeline& timeline_;
  const DeviceCopies copies_;
  const std::string directory_;
  std::vector<std::uint32_t> steps_;  // indices of the counted steps, ascending
  int detailed_ = 0;
  bool flagged_ = false;  // ops carry the flag for outermost
  std::map<std::string, Tally> tallies_;
  std::map<std::string, std::set<std::uint32_t>> switched_on_;
  std::optional<Where> backward_;  // where the backward pass is started
};

}  // namespace

Counters CountersOf(const Timeline& timeline, std::span<const Finding> findings, int steps) {
  Counters counters = Counting(timeline, steps).Run();
  const std::string& directory = timeline.trace().run.working_directory;
  for (const Finding& finding : findings) {
    CountedFinding counted{.rule = finding.rule,
                           .title = finding.title,
                           .severity = finding.severity,
                           .cost_pct = finding.cost_pct,
                           .whatever_runs = finding.whatever_runs,
                           .setting = finding.setting};
    for (const Evidence& one : finding.evidence) {
      if (!one.where) continue;
      counted.sites.push_back({*one.where, 0});
      counted.sites.back().where.path = RelativePath(one.where->path, directory);
    }
    counters.findings.push_back(std::move(counted));
  }
  return counters;
}

}  // namespace loopscope
