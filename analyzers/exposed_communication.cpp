#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/collectives.h"
#include "profiler/core/timeline/communication.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;        // of the step's work, not covered by compute
constexpr double kMinOwnShare = 1.0 / 3;  // of the exposed time: from here on the program's own exchange is named first

// Split by who asked: ranks that train one model have to exchange gradients, but an exchange by the program's own line
// may be unnecessary.
struct Places {
  CallSites own, gradients;
};

struct Communication {
  double total_ms = 0, exposed_ms = 0;  // per step
  std::uint64_t count = 0;
  Places places;
};

// c10d's operators; gather and broadcast of objects call several.
bool IsCollective(std::string_view name) {
  return name.starts_with("c10d::");
}

// Assigns the work of a backend's own threads to the lines whose operators asked for it, matched by kind and order.
struct BackendWork {
  std::uint64_t count = 0;
  Places places;
};

BackendWork OnBackend(const Timeline& timeline, const IntervalSet& waiting) {
  struct OfKind {
    std::vector<EventRef> operators;
    std::vector<Interval> ran;
  };
  std::map<std::string, OfKind> kinds;
  for (const HostCollective& one : HostCollectives(timeline)) {
    kinds[PlainOperation(one.operation)].operators.push_back(one.op);
  }
  ForEachBackendRange(timeline, [&](const Event& event) {
    const int step = timeline.step_at(event.start_ns);
    if (step < 0 || !std::ranges::binary_search(timeline.steady(), static_cast<std::uint32_t>(step))) return;
    const std::string_view name = timeline.trace().text(event.name);
    kinds[PlainOperation(name.substr(name.find(':') + 1))].ran.push_back({event.start_ns, event.end_ns});
  });
  BackendWork found;
  for (auto& [kind, one] : kinds) {
    std::ranges::sort(one.operators, {}, [&](EventRef ref) { return timeline.event(ref).start_ns; });
    std::ranges::sort(one.ran, {}, &Interval::start_ns);
    const bool paired = one.operators.size() == one.ran.size();
    Places places;
    for (std::size_t i = 0; i < one.ran.size(); ++i) {
      const bool gradients = PhaseAt(timeline, one.ran[i].start_ns) == Part::kBackward;
      (gradients ? places.gradients : places.own)
          .Add(paired ? timeline.where(one.operators[i]) : nullptr, Ms(waiting.total_ns(one.ran[i])));
    }
    found.count += one.ran.size();
    places.own.FoldUnknown();
    places.gradients.FoldUnknown();
    found.places.own.Add(places.own);
    found.places.gradients.Add(places.gradients);
  }
  return found;
}

// Collectives that the training thread waits for: on itself, or on a backend's threads while it does nothing else.
Communication OnHost(const Timeline& timeline) {
  Communication found;
  const NameSet collectives(timeline.trace(), IsCollective);
  std::uint64_t operators = 0;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (ref.thread != timeline.training_thread()) return;
    if (event.is_range(RangeCategory::kCommunication)) ++found.count;
    if (!collectives.Has(event) || !timeline.outermost_op(ref)) return;
    ++operators;
    CallSites& sites = timeline.inside(ref, RangeCategory::kBackward) ? found.places.gradients : found.places.own;
    sites.Add(timeline.where(ref), Ms(event.duration_ns()));
  });
  const IntervalSet waiting = OnlyCommunicating(timeline);
  BackendWork backend = OnBackend(timeline, waiting);
  if (backend.count > 0) {
    found.count = backend.count;
    found.places = std::move(backend.places);
  }
  if (found.count == 0) found.count = operators;
  found.exposed_ms = MsInAStep(timeline, waiting);
  double all_ms = 0;
  for (const CollectiveTimes& one : CollectivesOf(timeline)) all_ms += MsPerStep(timeline, Ms(one.total_ns));
  found.total_ms = std::max(found.exposed_ms, all_ms);
  return found;
}

Communication OnDevices(const Timeline& timeline) {
  Communication found;
  DeviceTimes times;
  for (const DeviceTimeline& device : timeline.devices()) times += device.times();
  const double devices = static_cast<double>(timeline.devices().size());
  found.total_ms = MsPerStep(timeline, Ms(times.communication)) / devices;
  found.exposed_ms = MsPerStep(timeline, Ms(times.communication - times.overlap)) / devices +
                     IdleMs(timeline, IdleCause::kCommunication);
  ForEachWork(timeline, [&](const DeviceTimeline&, std::uint32_t, const DeviceEvent& event) {
    found.count += event.kind == DeviceKind::kCommunication;
  });
  return found;
}

// The name without the kernel's argument types: "ncclDevKernel_AllReduce_Sum_f32_RING_LL".
std::string_view ShortName(std::string_view kernel) {
  return kernel.substr(0, std::min<std::size_t>(kernel.find('('), 60));
}

// The kernel name with the longest total time, and how often it was called.
Evidence Longest(const Timeline& timeline) {
  std::map<StringId, std::pair<double, std::uint64_t>> by_name;
  std::pair<double, StringId> most{-1, 0};
  ForEachWork(timeline, [&](const DeviceTimeline&, std::uint32_t, const DeviceEvent& event) {
    if (event.kind != DeviceKind::kCommunication) return;
    auto& [ms, count] = by_name[event.name];
    ms += Ms(event.duration_ns());
    ++count;
    if (ms > most.first) most = {ms, event.name};
  });
  const auto& [ms, count] = by_name[most.second];
  return {fmt::format("{}: {} per step in {:.3g} calls", ShortName(timeline.trace().text(most.second)),
                      MsText(MsPerStep(timeline, ms)), CountPerStep(timeline, static_cast<double>(count))),
          count,
          {}};
}

// The group, kind and phase whose collectives nothing covers for longest; nullopt where groups are not recorded.
std::optional<Evidence> MostExposed(const Timeline& timeline) {
  const std::vector<CollectiveTimes> all = CollectivesOf(timeline);
  if (all.empty() || all.front().exposed_ns <= 0) return std::nullopt;
  const CollectiveTimes& most = all.front();
  std::string text = OfGroup(most.operation, most.group);
  if (most.phase) text += fmt::format(" in {}", PartName(*most.phase));
  text += fmt::format(": {} per step exposed, {} in all", MsText(MsPerStep(timeline, Ms(most.exposed_ns))),
                      MsText(MsPerStep(timeline, Ms(most.total_ns))));
  return Evidence{text, most.count, {}};
}

std::vector<Finding> Run(const Timeline& timeline) {
  const bool device = OnDevice(timeline);
  if (device && !DevicesKnown(timeline)) return {*WhyNotDevices(timeline)};
  const Communication on_device = device ? OnDevices(timeline) : Communication{};
  const Communication found = on_device.count > 0 ? on_device : OnHost(timeline);
  if (found.count == 0 && found.exposed_ms <= 0)
    return {Finding::NotApplicable("no collective was seen in the timed steps")};
  if (SharePct(timeline, found.exposed_ms) < kMinSharePct) return {};
  Finding finding = Costing(timeline, found.exposed_ms,
                            fmt::format("communication that no computation covers takes {} per step ({})",
                                        MsText(found.exposed_ms), ShareText(timeline, found.exposed_ms)));
  const std::string collectives =
      found.count == 0
          ? "collectives on other threads"
          : fmt::format("{:.3g} collectives per step", CountPerStep(timeline, static_cast<double>(found.count)));
  finding.evidence.push_back({fmt::format("{} take {}, {:.0f} % of it exposed", collectives, MsText(found.total_ms),
                                          100 * std::min(found.exposed_ms / found.total_ms, 1.0)),
                              found.count,
                              {}});
  if (auto most = MostExposed(timeline)) finding.evidence.push_back(*std::move(most));
  if (const auto cap = NumberFact(timeline.trace(), "ddp.bucket_cap_mb")) {
    finding.evidence.push_back({fmt::format("gradients go in buckets of {} MB, as DistributedDataParallel was asked "
                                            "to (bucket_cap_mb)",
                                            *cap),
                                1, PlaceOf(FactOf(timeline.trace(), "ddp.where"))});
  }
  if (on_device.count > 0) {
    finding.evidence.push_back(Longest(timeline));
    return {finding};
  }
  const CallSites &own = found.places.own, &gradients = found.places.gradients;
  const bool own_first = own.ms() >= kMinOwnShare * (own.ms() + gradients.ms());
  for (const CallSites* sites : {own_first ? &own : &gradients, own_first ? &gradients : &own}) {
    std::ranges::move(sites->Describe([&](const CallSites::Site& site) {
      return fmt::format("{} per step in {:.3g} calls", MsText(MsPerStep(timeline, site.ms)),
                         CountPerStep(timeline, static_cast<double>(site.count)));
    }),
                      std::back_inserter(finding.evidence));
  }
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}, Claim{Time::kCommunication, Standing::kWhole}};

}  // namespace

extern const Analyzer kExposedCommunication{.id = "exposed-communication",
                                            .question = "Does the loop wait for other ranks without computing?",
                                            .run = Run,
                                            .needs = kNeedsOps | kNeedsPasses,
                                            .claims = kClaims};

}  // namespace loopscope
