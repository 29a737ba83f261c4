#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzers/shared/evidence.h"
#include "profiler/core/rank_analyzer.h"

namespace loopscope {
namespace {

constexpr double kMinSpread = 0.2;  // of the busiest device's work
constexpr double kMinGainPct = 1;

struct Work {
  int rank = 0;
  const RankDevice* device = nullptr;
  double ms = 0;
};

// Communication is left out: a collective's kernel runs while its rank waits for others.
std::vector<Work> WorkOf(std::span<const RankSummary> ranks) {
  std::vector<Work> all;
  for (const RankSummary& rank : ranks) {
    for (const RankDevice& device : rank.devices) {
      all.push_back({rank.run.rank, &device, device.compute_ms + device.memory_ms});
    }
  }
  return all;
}

std::string NameOf(const Work& work, bool several_ranks) {
  const std::string device = fmt::format("device {}", work.device->ordinal);
  return several_ranks ? fmt::format("rank {}, {}", work.rank, device) : device;
}

std::vector<Finding> RunDeviceImbalance(std::span<const RankSummary> ranks) {
  const std::vector<Work> work = WorkOf(ranks);
  if (work.size() < 2) return {Finding::NotApplicable("the work of fewer than two devices was recorded")};
  double mean_step_ms = 0, sum_ms = 0;
  for (const RankSummary& rank : ranks) {
    mean_step_ms = std::max(mean_step_ms, rank.mean_step_ms);
    if (rank.steps == 0) return {Finding::CannotTell("no timed step was seen on every rank: " + rank.why_no_steps)};
    if (!rank.why_no_devices.empty()) {
      return {Finding::CannotTell(fmt::format("rank {}: {}", rank.run.rank, rank.why_no_devices))};
    }
  }
  for (const Work& one : work) sum_ms += one.ms;
  const Work busiest = *std::ranges::max_element(work, {}, &Work::ms);
  const Work idlest = *std::ranges::min_element(work, {}, &Work::ms);
  const double mean_ms = sum_ms / static_cast<double>(work.size());
  const bool spread = busiest.ms - idlest.ms >= kMinSpread * busiest.ms;
  if (!spread || busiest.ms - mean_ms < kMinGainPct / 100 * mean_step_ms) return {};
  Finding finding;
  finding.cost_ms_per_step = busiest.ms - mean_ms;
  const bool several = ranks.size() > 1;
  finding.title = fmt::format("{} works {} per step, {} only {}", NameOf(busiest, several), MsText(busiest.ms),
                              NameOf(idlest, several), MsText(idlest.ms));
  finding.evidence = {
      {fmt::format("{} devices work {} per step on average", work.size(), MsText(mean_ms)), work.size(), std::nullopt}};
  return {finding};
}

}  // namespace

extern const RankAnalyzer kDeviceImbalance{
    .id = "device-imbalance", .question = "Do the devices get unequal work?", .run = RunDeviceImbalance};

}  // namespace loopscope
