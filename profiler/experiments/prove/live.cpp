#include "profiler/experiments/prove/live.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "profiler/core/printable.h"
#include "profiler/core/statistics/betting.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/launch_results.h"
#include "profiler/experiments/prove/arms.h"
#include "profiler/experiments/prove/rows.h"
#include "profiler/experiments/verdicts.h"

namespace loopscope {
namespace {

constexpr int kSettle = 2, kFewestSteps = 5, kMostSteps = 50;  // per block
constexpr double kBlockMs = 100;  // measured: short against drift, long against clock and scheduler resolution
constexpr int kMostRounds = 20;
// Pairs of all fixes until a bet can be won, plus the fewest blocks of one fix with its pilot.
constexpr int kPairsThatMatterMore = kClearPairs + kFewestBlocks + 1;
constexpr double kActs = 0.9;  // share of the blocks that a treatment must act in when it is on

// The schedule's treatments that the arm switches on, as bits.
std::uint32_t Bits(const Arm& arm, const Settings& treatments) {
  std::uint32_t bits = 0;
  for (std::size_t t = 0; t < treatments.size(); ++t) {
    const bool on = std::ranges::find(arm.settings, treatments[t]) != arm.settings.end();
    bits |= on ? 1u << t : 0u;
  }
  return bits;
}

// Drops arms that no comparison needs.
std::vector<std::uint32_t> ArmsInUse(const ExperimentPlan& plan, const Settings& treatments) {
  std::vector<std::uint32_t> bits;
  for (int arm = 0; arm < static_cast<int>(plan.arms.size()); ++arm) {
    const bool used = std::ranges::any_of(
        plan.comparisons, [&](const PlannedComparison& one) { return one.arm == arm || one.reference == arm; });
    if (used) bits.push_back(Bits(plan.arms[arm], treatments));
  }
  return bits;
}

double MeanOfPlain(const LiveBlock& block, int settle) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = static_cast<std::size_t>(settle); i < block.step_ms.size(); ++i) {
    sum += block.step_ms[i];
    count += block.step_ms[i] > 0;
  }
  return count > 0 ? sum / count : 0;
}

int ArmWith(const LivePlan& live, std::uint32_t bits) {
  const auto& arms = live.plan.arms;
  const auto found = std::ranges::find(arms, bits, [&](const Arm& arm) { return Bits(arm, live.schedule.treatments); });
  return found == arms.end() ? -1 : static_cast<int>(found - arms.begin());
}

// How many blocks had exactly these treatments on, and in how many of them the candidate acted.
struct Acts {
  int blocks = 0, acted = 0;
};

Acts ActsIn(const LaunchResult& result, std::uint32_t arm, int candidate) {
  Acts acts;
  for (const LiveBlock& block : result.live) {
    if (block.on != arm) continue;
    ++acts.blocks;
    acts.acted += static_cast<int>(block.acted >> candidate & 1);
  }
  return acts;
}

// Withdraws the speedup of a treatment that did not act as planned.
void HoldToActs(const LaunchResult& result, const LivePlan& live, const PlannedComparison& one, TrialRow& row) {
  const auto bits = [&](int arm) { return Bits(live.plan.arms[arm], live.schedule.treatments); };
  const Acts on = ActsIn(result, bits(one.with_others ? one.reference : one.arm), one.subject);
  const Acts off = ActsIn(result, bits(one.with_others ? one.arm : one.reference), one.subject);
  if (on.acted >= kActs * on.blocks && on.acted > 0 && off.acted == 0) return;
  row.speedup.reset();
  row.ci95.reset();
  row.p.reset();
  row.p_holm.reset();
  if (on.acted == 0) {
    const std::string why = WhyNotApplied(row.treatment, result.applied);
    row.verdict = TrialVerdict::kNotApplicable;
    row.reason = why.empty() ? fmt::format("it changed nothing in the {} blocks that it was on", on.blocks) : why;
    return;
  }
  row.verdict = TrialVerdict::kInconclusive;
  row.reason = off.acted > 0 ? fmt::format("it still acted in {} of {} blocks that it was off", off.acted, off.blocks)
                             : fmt::format("it acted in {} of {} blocks that it was on", on.acted, on.blocks);
}

// Orders those that were measured by their gain, the others by the bound that their findings give.
void PutInOrder(std::vector<Contender>& contenders, const std::vector<double>& gains_ms) {
  std::vector<std::pair<double, Contender>> ranked;
  for (std::size_t i = 0; i < contenders.size(); ++i) ranked.emplace_back(gains_ms[i], std::move(contenders[i]));
  std::ranges::stable_sort(ranked, std::greater{}, [](const auto& one) { return one.first; });
  for (std::size_t i = 0; i < contenders.size(); ++i) contenders[i] = std::move(ranked[i].second);
}

bool ClearlyLoses(const TrialRow& row) {
  return row.speedup && row.p_holm && *row.p_holm <= kSurelySlower && *row.speedup < 1 / (1 + kMuchSlower);
}

}  // namespace

bool CanGoLive(const Candidate& candidate) {
  return candidate.treatment->live && candidate.treatment->metric == Metric::kStepTime;
}

std::vector<Contender> LiveOnes(std::span<const Contender> contenders, std::vector<int>& indices) {
  std::vector<Contender> live;
  for (int i = 0; i < static_cast<int>(contenders.size()); ++i) {
    if (!CanGoLive(contenders[i].candidate) || !contenders[i].together()) continue;
    indices.push_back(i);
    live.push_back({.candidate = contenders[i].candidate});
    live.back().candidate.values.resize(1);
  }
  return live;
}

LivePlan PlanLive(std::span<const Candidate> candidates, const LiveSizes& sizes) {
  LivePlan live;
  if (candidates.empty() || candidates.size() > kMostLiveTreatments || sizes.step_ms <= 0) return live;
  live.plan = PlanArms(candidates, std::vector<bool>(candidates.size(), true), sizes.alone);
  for (const Candidate& one : candidates) {
    live.schedule.treatments.push_back(one.KeyAndValue());
  }
  live.schedule.arms = ArmsInUse(live.plan, live.schedule.treatments);
  live.schedule.seed = sizes.seed;
  live.schedule.seconds = sizes.seconds;
  live.settle = std::max(kSettle, sizes.run_ahead);
  const int measured = std::clamp(static_cast<int>(std::ceil(kBlockMs / sizes.step_ms)), kFewestSteps, kMostSteps);
  live.schedule.block_steps = live.settle + std::max(measured, 2 * sizes.run_ahead);
  live.round_s = static_cast<double>(live.schedule.arms.size()) * live.schedule.block_steps * sizes.step_ms / 1e3;
  live.rounds = std::min(kMostRounds, static_cast<int>((sizes.seconds - sizes.startup_s) / live.round_s));
  if (live.rounds < kFewestRounds || live.schedule.arms.size() > kMostLiveArms) live.rounds = 0;
  live.seconds = sizes.startup_s + live.rounds * live.round_s;
  live.plan.blocks = live.rounds;
  return live;
}

LaunchSpec LiveSpec(const ExperimentInput& input, const LivePlan& live) {
  const LaunchWindow window{PilotWindow(input.options, input.loader.run_ahead(), 0).warmup, live.steps()};
  LaunchSpec spec = SpecOf(input.options, input.clock, window, "live pairs");
  spec.live = live.schedule;
  // Its length is known: only a hanging program takes several times as long.
  spec.timeout_s = std::max(spec.timeout_s, 4 * live.seconds);
  return spec;
}

Observations ObserveLive(const LaunchResult& result, const LivePlan& live) {
  Observations observed;
  const std::size_t arms = live.schedule.arms.size();
  observed.blocks = static_cast<int>(result.live.size() / arms);
  for (std::size_t b = 0; b < observed.blocks * arms; ++b) {
    const int arm = ArmWith(live, result.live[b].on);
    if (arm < 0) continue;
    Observation row{static_cast<int>(b / arms), static_cast<int>(b % arms), arm, {}};
    row.result.ms_per_step = MeanOfPlain(result.live[b], live.settle);
    if (row.result.ms_per_step <= 0) row.result.status = {LaunchEnd::kNoSteps};
    observed.rows.push_back(std::move(row));
  }
  if (observed.blocks < live.rounds) {
    const double round_s = (result.wall_s - result.startup_s) / (observed.blocks + 1);
    const bool in_time = result.wall_s + round_s <= live.schedule.seconds;
    observed.ended_early = in_time
                               ? fmt::format("the program ended after {} of {} rounds", observed.blocks, live.rounds)
                               : fmt::format("the budget held {} of {} rounds: steps took longer than in the diagnosis",
                                             observed.blocks, live.rounds);
  }
  return observed;
}

std::vector<TrialRow> JudgeLive(const LaunchResult& result, const LivePlan& live, std::vector<Contender> contenders,
                                double margin) {
  for (Contender& one : contenders) one.state.applied = AppliedUnder(one.candidate.treatment->id, result.applied);
  std::vector<TrialRow> rows = JudgeFixes(live.plan, ObserveLive(result, live), contenders, margin);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (!rows[t].method.empty()) rows[t].method = "live";
    HoldToActs(result, live, live.plan.comparisons[t], rows[t]);
  }
  return rows;
}

void ScreenLive(const ExperimentInput& input, std::vector<Contender>& contenders, const FixPilots& pilots,
                LaunchSeries& series) {
  std::vector<int> indices;
  const std::vector<Contender> ones = LiveOnes(contenders, indices);
  const double spare_s = MayBeSpentBeforePairs(input, pilots, kPairsThatMatterMore) - series.spent_s();
  const LivePlan live = PlanLive(
      CandidatesIn(ones), {.step_ms = std::max(pilots.baseline.ms_per_step, pilots.all.ms_per_step),
                           .startup_s = pilots.all.startup_s,
                           .run_ahead = RunAhead(CandidatesIn(contenders), input.loader),
                           .seconds = std::min(kLiveShare * (input.options.budget_s - series.spent_s()), spare_s),
                           .seed = input.options.seed});
  if (ones.size() < 2 || live.rounds == 0 || series.stopped()) return;
  LaunchSpec spec = LiveSpec(input, live);
  // The others stay on, so that live pairs compare what launches will compare.
  for (int i = 0; i < static_cast<int>(contenders.size()); ++i) {
    const bool on = contenders[i].together() && std::ranges::find(indices, i) == indices.end();
    if (on) spec.treatment.push_back(contenders[i].candidate.KeyAndValue());
  }
  const LaunchResult result = series.Run(spec);
  if (!result.ok() || result.live.empty()) return;
  const std::vector<TrialRow> rows = JudgeLive(result, live, ones, input.options.margin);
  std::vector<double> gains_ms;
  for (const Contender& one : contenders) gains_ms.push_back(one.candidate.cost_ms);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const int i = indices[live.plan.comparisons[t].subject];
    if (!rows[t].speedup) continue;
    gains_ms[i] = (*rows[t].speedup - 1) * pilots.all.ms_per_step;
    const std::string text = fmt::format("{:.2f}x in live pairs of one launch", *rows[t].speedup);
    CandidateState& state = contenders[i].state;
    if (ClearlyLoses(rows[t])) {
      state.verdict = TrialVerdict::kDropped;
      state.reason = "clearly slower: " + text;
    } else {
      AddReason(state.note, text);
    }
  }
  PutInOrder(contenders, gains_ms);
}

}  // namespace loopscope
