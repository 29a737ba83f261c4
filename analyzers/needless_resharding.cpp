#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "analyzers/shared/memory_use.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/collectives.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinSharePct = 2;   // of the step's work
constexpr double kMinPerStep = 0.9;  // all-gathers in the backward pass

// The ranges of torch's FullyShardedDataParallel, the newer and the older.
bool IsSharding(std::string_view name) {
  return name.starts_with("FSDP::") || name.starts_with("FullyShardedDataParallel.");
}

bool Shards(const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  if (std::ranges::none_of(trace.strings, IsSharding)) return false;
  bool shards = false;
  timeline.ForEachSteady([&](EventRef ref) { shards = shards || IsSharding(trace.text(timeline.event(ref).name)); });
  return shards;
}

struct Gathers {
  double per_step = 0, exposed_ms = 0, total_ms = 0;  // in the backward pass
  double bytes = 0;                                   // per step, what is gathered; 0 unknown
};

Gathers InBackward(const Timeline& timeline) {
  Gathers found;
  const std::vector<CollectiveTimes> all = CollectivesOf(timeline);
  for (const CollectiveTimes& row : all) {
    if (row.operation != "allgather" || row.phase != Part::kBackward) continue;
    // A group that gathers nothing in the forward pass exchanges something else.
    const bool in_forward = std::ranges::any_of(all, [&](const CollectiveTimes& one) {
      return one.operation == row.operation && one.group == row.group && one.phase == Part::kForward;
    });
    if (!in_forward) continue;
    found.per_step += CountPerStep(timeline, static_cast<double>(row.count));
    found.exposed_ms += MsPerStep(timeline, Ms(row.exposed_ns));
    found.total_ms += MsPerStep(timeline, Ms(row.total_ns));
    found.bytes += CountPerStep(timeline, static_cast<double>(row.bytes));
  }
  return found;
}

std::vector<Finding> Run(const Timeline& timeline) {
  if (!Shards(timeline)) return {Finding::NotApplicable("no FullyShardedDataParallel was seen")};
  if (const auto why_not = WhyDevicesUnknown(timeline)) return {*why_not};
  const Gathers again = InBackward(timeline);
  if (again.per_step < kMinPerStep || SharePct(timeline, again.exposed_ms) < kMinSharePct) return {};
  const MemoryUse memory = MemoryUseOf(timeline);
  if (!memory.known()) {
    return {Finding::CannotTell(fmt::format("parameters are gathered again in the backward pass, {} per step, but {}",
                                            MsText(again.exposed_ms), memory.why_unknown))};
  }
  const double kept_pct = 100 * again.bytes / static_cast<double>(memory.limit_bytes);
  if (!memory.free() || memory.pct() + kept_pct > kTightPct) return {};
  Finding finding =
      Costing(timeline, again.exposed_ms,
              fmt::format("parameters are gathered again for the backward pass, {} per step, and memory is free: {}",
                          MsText(again.exposed_ms), UseText(memory)));
  std::string text = fmt::format("{:.3g} all-gathers per step in the backward pass take {}, {} of it exposed",
                                 again.per_step, MsText(again.total_ms), MsText(again.exposed_ms));
  if (again.bytes > 0) text += fmt::format("; keeping what they gather takes {}", BytesText(again.bytes));
  finding.evidence.push_back({text, static_cast<std::uint64_t>(again.per_step * timeline.steady().size() + 0.5),
                              PlaceOf(FactOf(timeline.trace(), "fsdp.where"))});
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kCommunication}};

}  // namespace

extern const Analyzer kNeedlessResharding{.id = "needless-resharding",
                                          .question = "Are sharded parameters gathered twice although memory is free?",
                                          .run = Run,
                                          .needs = kNeedsOps | kNeedsPasses,
                                          .claims = kClaims};

}  // namespace loopscope
