#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/communication.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinPasses = 1.5;   // backward passes per step that exchange gradients
constexpr double kMinRepeats = 1.9;  // numbers exchanged per step, over numbers that the optimizers update
constexpr double kMinSharePct = 1;   // of the step's work

// The reducer's work on the training thread for each pass whose gradients it exchanges.
bool IsReducerWork(std::string_view name) {
  return name.ends_with("reducer::copy_bucket_to_grad") || name.ends_with("reducer::mul_out");
}

struct Exchanges {
  std::map<std::uint32_t, std::set<int>> passes;  // by step
  double elements = 0, bytes = 0;                 // per step of the detail window
  bool sized = false;
  const HostCollective* first = nullptr;

  double passes_per_step(const Timeline& timeline) const {
    std::size_t count = 0;
    for (const auto& [step, of_step] : passes) count += of_step.size();
    return CountPerStep(timeline, static_cast<double>(count));
  }
  // Only the last pass of a step must exchange gradients: all before it could wait.
  bool NeedNot(std::uint32_t step, int pass) const {
    const auto of_step = passes.find(step);
    return of_step != passes.end() && of_step->second.contains(pass) && pass != *of_step->second.rbegin();
  }
};

bool ExchangesGradients(const HostCollective& one) {
  // The map of used parameters is made of integers.
  return one.in_backward() && (!one.sized() || one.dtype.find('i') == one.dtype.npos);
}

Exchanges Collect(const Timeline& timeline, const std::vector<HostCollective>& collectives) {
  Exchanges found;
  for (const HostCollective& one : collectives) {
    if (!ExchangesGradients(one)) continue;
    if (!found.first) found.first = &one;
    found.passes[one.step].insert(one.pass);
    if (!one.sized() || !timeline.steps()[one.step].detail) continue;
    found.sized = true;
    found.elements += static_cast<double>(one.elements) / timeline.detail_steps();
    found.bytes += static_cast<double>(one.bytes) / timeline.detail_steps();
  }
  return found;
}

double UpdatedPerStep(const Timeline& timeline) {
  double numbers = 0;
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.is_range(RangeCategory::kOptimizer)) numbers += event.value;
  });
  return CountPerStep(timeline, numbers);
}

// Waiting for the exchanges of all passes but the last, and copying to and from their buckets. On a device, passes
// overlap with what follows: each is charged an equal share of what no computation covers.
double CostMs(const Timeline& timeline, const Exchanges& found) {
  const IntervalSet waiting = OnlyCommunicating(timeline);
  const auto passes = timeline.part(Part::kBackward).intervals();
  if (!timeline.devices().empty()) {
    const double per_step = found.passes_per_step(timeline);
    return MsInAStep(timeline, waiting) * (per_step - 1) / per_step;
  }
  double total_ms = 0;
  for (const auto& [step, of_step] : found.passes) {
    for (const int pass : of_step) {
      if (found.NeedNot(step, pass)) total_ms += Ms(waiting.total_ns(passes[static_cast<std::size_t>(pass)]));
    }
  }
  timeline.ForEachSteady([&](EventRef ref) {
    const Event& event = timeline.event(ref);
    if (event.kind != EventKind::kOp || !IsReducerWork(timeline.name(ref))) return;
    const auto after = std::ranges::upper_bound(passes, event.start_ns, {}, &Interval::start_ns);
    const int pass = static_cast<int>(after - passes.begin()) - 1;
    if (found.NeedNot(static_cast<std::uint32_t>(timeline.step_at(event.start_ns)), pass)) {
      total_ms += Ms(event.duration_ns());
    }
  });
  return MsPerStep(timeline, total_ms);
}

// Where backward is called; else where the collective is.
std::optional<Where> PlaceOfPass(const Timeline& timeline, const Exchanges& found) {
  std::optional<Where> place;
  timeline.ForEachSteady([&](EventRef ref) {
    if (place || !timeline.event(ref).is_range(RangeCategory::kBackward)) return;
    if (const Where* where = timeline.where(ref)) place = *where;
  });
  if (place) return place;
  if (const Where* where = timeline.where(found.first->op)) place = *where;
  return place;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const std::vector<HostCollective> collectives = HostCollectives(timeline);
  const Exchanges found = Collect(timeline, collectives);
  if (!found.first) return {Finding::NotApplicable("no exchange of gradients in a backward pass was seen")};
  const double passes = found.passes_per_step(timeline);
  if (passes < kMinPasses) return {};
  const double updated = UpdatedPerStep(timeline);
  if (!found.sized || updated == 0) {
    return {Finding::CannotTell(fmt::format("{:.3g} backward passes per step exchange gradients, but {}", passes,
                                            updated == 0
                                                ? "how many the optimizer updates is not known"
                                                : WhyNoDetail(timeline) + ": how many each exchanges is not known"))};
  }
  if (const auto why_not = WhyDevicesUnknown(timeline)) return {*why_not};
  const double cost_ms = CostMs(timeline, found);
  if (found.elements < kMinRepeats * updated || SharePct(timeline, cost_ms) < kMinSharePct) return {};
  Finding finding =
      Costing(timeline, cost_ms,
              fmt::format("gradients are exchanged in {:.3g} backward passes per optimizer step: {} more than once",
                          passes, MsText(cost_ms)));
  if (const auto alone = PlaceOf(FactOf(timeline.trace(), "ddp.no_sync.backward_alone"))) {
    finding.evidence.push_back(
        {"no_sync() is around the backward pass alone and has no effect: the forward pass, which decides whether "
         "gradients are exchanged, runs outside of it",
         1, alone});
    finding.advice =
        "Move the forward pass into the no_sync() that is around the backward pass: DistributedDataParallel decides in "
        "the forward pass whether the backward pass that follows exchanges gradients.";
  }
  finding.evidence.push_back(
      {fmt::format("{:.3g} MB are exchanged per step for {:.3g} million numbers that are updated", found.bytes / 1e6,
                   updated / 1e6),
       found.passes.size(), PlaceOfPass(timeline, found)});
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kCommunication}};

}  // namespace

extern const Analyzer kAccumulationAllreduce{
    .id = "accumulation-allreduce",
    .question = "Are gradients exchanged more often than the optimizer needs them?",
    .run = Run,
    .claims = kClaims};

}  // namespace loopscope
