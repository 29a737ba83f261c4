#include <fmt/format.h>

#include <array>
#include <map>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/devices/device_links.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

// A site that reads less often than every other step is a log line, not a habit.
constexpr double kMinReadsPerStep = 0.5;
constexpr double kMinSharePct = 1;  // device idle time after the waits, of the step's work

struct Reads {
  CallSites sites;
  std::uint64_t of_device = 0;  // reads of a tensor that lives on a device, where the inputs say so
};

// The autograd engine, the optimizer and the loader read values themselves (anomaly mode's checks, Adam's step
// counters, the workers' base seed): not the user's lines.
bool BelongsToLibrary(const Timeline& timeline, EventRef ref, const NameSet& nodes) {
  return HasAncestor(timeline, ref, [&](const Event& up) {
    return nodes.Has(up) || up.is_range(RangeCategory::kBackward) || up.is_range(RangeCategory::kOptimizer) ||
           up.is_range(RangeCategory::kZeroGrad) || up.is_range(RangeCategory::kLoader) ||
           up.is_range(RangeCategory::kEvaluation);
  });
}

// A random number that is read right after it is drawn (an index, a length) is on the host, wherever the model is.
bool IsDrawn(std::string_view name) {
  return name == "aten::randint" || name == "aten::randperm" || name == "aten::rand" || name == "aten::multinomial";
}

Reads Collect(const Timeline& timeline) {
  const NameSet reads(timeline.trace(), ops::IsHostRead), nodes(timeline.trace(), ops::IsBackwardNode),
      draws(timeline.trace(), IsDrawn);
  Reads found;
  bool drawn = false;  // by the operator before
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread() || event.kind != EventKind::kOp) return;
    const bool own = drawn && reads.Has(event);
    if (timeline.outermost_op(ref)) drawn = draws.Has(event);
    if (!reads.Has(event) || own) return;
    // aten::item calls aten::_local_scalar_dense: one read.
    if (HasAncestor(timeline, ref, [&](const Event& up) { return reads.Has(up); })) return;
    if (BelongsToLibrary(timeline, ref, nodes)) return;
    const std::vector<TensorText> inputs = ParseInputs(timeline.inputs(ref));
    found.of_device += !inputs.empty() && !inputs[0].device.empty();
    found.sites.Add(timeline.where(ref), Ms(event.duration_ns()), ModuleOf(timeline, ref));
  });
  return found;
}

// A call that made the host wait for the device, in order of time.
struct Wait {
  Interval time;
  std::optional<Where> where;
  std::string_view name;
  bool library = false;
};

// Waits named by the outermost operator around the call, or the call itself: "aten::item", "cudaDeviceSynchronize".
std::vector<Wait> CollectWaits(const Timeline& timeline) {
  const NameSet nodes(timeline.trace(), ops::IsBackwardNode);
  const DeviceCopies copies(timeline.trace());
  HostCallReader reader(copies);
  std::vector<Wait> waits;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread()) return;
    if (!event.is_range(RangeCategory::kSync) && !event.is_range(RangeCategory::kDeviceCall)) return;
    if (reader.Read(event) != HostCall::kWait) return;
    std::string_view name = timeline.name(ref);
    for (std::uint32_t up = timeline.parent(ref); up != kNone; up = timeline.parent({ref.thread, up})) {
      if (timeline.event({ref.thread, up}).kind == EventKind::kOp) name = timeline.name({ref.thread, up});
    }
    const Where* where = timeline.where(ref);
    waits.push_back({{event.start_ns, event.end_ns},
                     where ? std::optional(*where) : std::nullopt,
                     name,
                     BelongsToLibrary(timeline, ref, nodes)});
  });
  return waits;
}

// What each wait cost: the device's idle time of that cause from the wait to the next one.
std::vector<Finding> JudgeDevice(const Timeline& timeline) {
  const std::vector<Wait> waits = CollectWaits(timeline);
  CallSites sites;
  std::map<std::optional<Where>, std::string_view> names;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].library) continue;
    const std::int64_t until_ns = i + 1 < waits.size() ? waits[i + 1].time.start_ns : INT64_MAX;
    sites.Add(waits[i].where ? &*waits[i].where : nullptr,
              IdleMs(timeline, IdleCause::kHostSync, {waits[i].time.start_ns, until_ns}));
    names.emplace(waits[i].where, waits[i].name);
  }
  sites.DropRarerThan(kMinReadsPerStep * static_cast<double>(timeline.steady().size()));
  sites.FoldUnknown();
  const double ms = MsPerStep(timeline, sites.ms());
  if (sites.empty() || SharePct(timeline, ms) < kMinSharePct) return {};
  const double count = CountPerStep(timeline, static_cast<double>(sites.count()));
  Finding finding = Costing(timeline, ms,
                            fmt::format("the host waits for the GPU {}; the GPU then idles for {} ({})",
                                        TimesPerStep(count), MsText(ms), ShareText(timeline, ms)));
  finding.evidence = sites.Describe([&](const CallSites::Site& site) {
    const auto name = names.find(site.where);
    return fmt::format("{} {}, GPU idle {} after it", name == names.end() ? "a wait" : name->second,
                       TimesPerStep(CountPerStep(timeline, static_cast<double>(site.count))),
                       MsText(MsPerStep(timeline, site.ms)));
  });
  return {finding};
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!timeline.devices().empty()) {
    if (const auto why_not = WhyNotCauses(timeline)) return {*why_not};
    return JudgeDevice(timeline);
  }
  Reads reads = Collect(timeline);
  if (reads.of_device > 0) {
    return {Finding::CannotTell(
        fmt::format("{} from a device {} seen, but this trace holds no device times, so their cost is unknown",
                    Counted(reads.of_device, "read"), reads.of_device == 1 ? "was" : "were"))};
  }
  if (const auto why_not = WhyDevicesUnknown(timeline)) return {*why_not};
  reads.sites.DropRarerThan(kMinReadsPerStep * static_cast<double>(timeline.steady().size()));
  if (reads.sites.empty()) return {};
  const auto per_step = [&](std::uint64_t count) {
    return TimesPerStep(CountPerStep(timeline, static_cast<double>(count)));
  };
  Finding finding;
  finding.severity = Severity::kInfo;
  finding.title =
      fmt::format("values are read back to the host {}: {} on this CPU, but a GPU would be waited for each time",
                  per_step(reads.sites.count()), MsText(MsPerStep(timeline, reads.sites.ms())));
  finding.evidence = reads.sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("reads a value back {}, {}", per_step(site.count), MsText(MsPerStep(timeline, site.ms)));
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kAnyLine, Standing::kDoubted}, Claim{Time::kIdleDevices}};

}  // namespace

extern const Analyzer kHostSync{
    .id = "host-sync", .question = "Does the loop make the device wait for the host?", .run = Run, .claims = kClaims};

}  // namespace loopscope
