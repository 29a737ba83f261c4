#include <fmt/format.h>

#include <string>

#include "analyzers/shared/convolutions.h"
#include "analyzers/shared/devices.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 5;      // of the step's work, in operators that have a slower deterministic form
constexpr std::size_t kMostPlaces = 3;  // listed for each kind
constexpr double kMinFillSharePct = 1;  // of the step's work, in filling memory that is overwritten anyway

struct Slower {
  CallSites sites, fills;
};

Slower Collect(const Timeline& timeline, bool algorithms) {
  Slower found;
  const Trace& trace = timeline.trace();
  const bool on_device = DevicesKnown(timeline);
  const NameSet convolutions(trace, ops::IsConvolution), scatters(trace, ops::IsScatter);
  const NameSet fills(trace, [](std::string_view name) { return name == "aten::fill_"; });
  const NameSet makers(trace, ops::IsUninitialized);
  const OpCost cost(timeline);
  const auto affected = [&](const Event& event) {
    return (algorithms && scatters.Has(event)) || (on_device && convolutions.Has(event));
  };
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (affected(event) && !HasAncestor(timeline, ref, affected)) {
      found.sites.Add(timeline.where(ref), cost.Ms(ref), ModuleOf(timeline, ref));
    } else if (algorithms && fills.Has(event) && timeline.parent(ref) != kNone &&
               makers.Has(timeline.event({ref.thread, timeline.parent(ref)}))) {
      found.fills.Add(timeline.where(ref), cost.Ms(ref), ModuleOf(timeline, ref));
    }
  });
  return found;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  const std::string_view all = FactOf(trace, "deterministic"), cudnn = FactOf(trace, "cudnn.deterministic");
  if (all.empty() && cudnn.empty()) {
    return {Finding::CannotTell("the trace does not record whether deterministic algorithms are on")};
  }
  const bool algorithms = all == "on";
  if (!algorithms && (cudnn != "on" || !DevicesKnown(timeline))) return {};
  const Slower found = Collect(timeline, algorithms);
  const double slower_ms = MsPerStep(timeline, found.sites.ms()), fill_ms = MsPerStep(timeline, found.fills.ms());
  const bool slow = SharePct(timeline, slower_ms) >= kMinSharePct;
  const bool filled = SharePct(timeline, fill_ms) >= kMinFillSharePct;
  if (!slow && !filled) return {};
  const double ms = (slow ? slower_ms : 0) + (filled ? fill_ms : 0);
  Finding finding =
      CostingAtMost(timeline, ms,
                    fmt::format("deterministic algorithms are asked for, and {} per step ({}) go to operators "
                                "that are slower so",
                                MsText(ms), ShareText(timeline, ms)));
  finding.severity = std::min(finding.severity, Severity::kMedium);  // an upper bound: only the difference can be saved
  const auto tell = [&](const CallSites& sites, std::string_view what) {
    const auto described = sites.Describe(
        [&](const CallSites::Site& site) {
          return fmt::format("{}: {:.3g} per step, {}", what, CountPerStep(timeline, static_cast<double>(site.count)),
                             MsText(MsPerStep(timeline, site.ms)));
        },
        kMostPlaces);
    finding.evidence.insert(finding.evidence.end(), described.begin(), described.end());
  };
  if (const auto asked = PlaceOf(FactOf(trace, "deterministic.where"))) {
    finding.evidence.push_back({"deterministic algorithms are asked for here", 1, asked});
  }
  if (slow) tell(found.sites, "operators with a slower deterministic form");
  if (filled) tell(found.fills, "new memory filled before it is used");
  return {finding};
}

}  // namespace

extern const Analyzer kDeterministicMode{.id = "deterministic-mode",
                                         .question = "Do deterministic algorithms slow the loop?",
                                         .run = Run,
                                         .needs = kNeedsOps | kNeedsPasses | kNeedsCosts};

}  // namespace loopscope
