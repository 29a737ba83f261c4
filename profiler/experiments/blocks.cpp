#include "profiler/experiments/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "profiler/core/statistics/shuffle.h"
#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

double Value(const LaunchResult& result, Metric metric) {
  switch (metric) {
    case Metric::kStepTime:
      return result.ms_per_step;
    case Metric::kEpochBoundary:
      return result.epoch_ms.value_or(0);
    case Metric::kPeakMemory:
      return result.peak_bytes;
    case Metric::kSampleTime:
      return result.ms_per_sample;
    case Metric::kTimeToTarget:
      break;
  }
  return 0;
}

std::vector<int> RandomOrder(const std::vector<Arm>& arms, std::mt19937_64& random) {
  std::vector<int> order;
  for (int a = 0; a < static_cast<int>(arms.size()); ++a) order.insert(order.end(), arms[a].repeats, a);
  Shuffle(order, random);
  return order;
}

class BlockPhase {
 public:
  BlockPhase(const ExperimentOptions& options, const BlockRun& run, ExperimentPlan& plan, LaunchSeries& series)
      : options_(options), run_(run), plan_(plan), series_(series), random_(run.seed), baseline_(run.baseline) {}

  Observations Run() {
    while (observed_.blocks < run_.blocks && observed_.ended_early.empty() && plan_.any_open()) {
      if (series_.spent_s() + BlockSeconds() + KeptBackSeconds() > run_.end_s) {
        observed_.ended_early = fmt::format("the budget held {} of {} {}s", observed_.blocks, run_.blocks, run_.unit);
        break;
      }
      RunOne();
      if (run_.enough && run_.enough(observed_)) break;
      if (run_.drop_losers && observed_.blocks == kFewestBlocks && run_.blocks > kFewestBlocks) DropLosers();
    }
    return std::move(observed_);
  }

 private:
  double BlockSeconds() const {
    double seconds = 0;
    for (const Arm& arm : plan_.arms) seconds += arm.repeats * arm.wall_s;
    return seconds;
  }

  // Estimated from the arms' last launches: beside others they take longer than their pilots. With too few blocks for a
  // verdict nothing is recommended, so no fresh blocks are needed.
  double KeptBackSeconds() const {
    if (run_.kept_back == 0 || observed_.blocks < kFewestBlocks) return 0;
    return run_.kept_back * (plan_.arms[kBaselineArm].wall_s + plan_.arms[kAllArm].wall_s);
  }

  void RunOne() {
    const std::vector<int> order = RandomOrder(plan_.arms, random_);
    const int all = run_.enough ? std::clamp(run_.expected, observed_.blocks + 1, run_.blocks) : run_.blocks;
    const int left = all - observed_.blocks;
    series_.Expect(left * static_cast<int>(order.size()), left * BlockSeconds());
    std::vector<Observation> rows;
    const bool completed = series_.takes_turns() && order.size() > 1 ? Together(order, rows) : InTurn(order, rows);
    if (!completed) {
      observed_.ended_early = fmt::format("interrupted after {} of {} blocks", observed_.blocks, run_.blocks);
      return;
    }
    HoldToBaseline(rows);
    const bool whole = observed_.ended_early.empty();
    for (Observation& row : rows) {
      if (whole || !row.result.ok()) observed_.rows.push_back(std::move(row));
    }
    observed_.blocks += whole;
  }

  // One launch after another. False when the user interrupted.
  bool InTurn(const std::vector<int>& order, std::vector<Observation>& rows) {
    for (int place = 0; place < static_cast<int>(order.size()) && observed_.ended_early.empty(); ++place) {
      // The arm failed earlier in this block.
      if (plan_.arms[order[place]].repeats == 0) continue;
      LaunchResult result = series_.Insist(SpecFor(order[place], place));
      if (series_.stopped()) return false;
      Take(order[place], place, std::move(result), rows);
    }
    return true;
  }

  bool Together(const std::vector<int>& order, std::vector<Observation>& rows) {
    std::vector<LaunchSpec> specs;
    for (int place = 0; place < static_cast<int>(order.size()); ++place) {
      specs.push_back(SpecFor(order[place], place));
      specs.back().turn_steps = TurnSteps(plan_);
    }
    std::vector<LaunchResult> results = series_.RunTogether(specs);
    if (series_.stopped()) return false;
    for (int place = 0; place < static_cast<int>(order.size()); ++place) {
      Take(order[place], place, std::move(results[place]), rows);
    }
    return true;
  }

  LaunchSpec SpecFor(int index, int place) const {
    const Arm& arm = plan_.arms[index];
    const std::string label =
        fmt::format("{} {} of {}, {}, {}", run_.name, observed_.blocks + 1, run_.blocks, place + 1, arm.name);
    return WithArm(SpecOf(options_, plan_.clock, plan_.window, label), arm);
  }

  void Take(int arm, int place, LaunchResult result, std::vector<Observation>& rows) {
    if (result.ok()) plan_.arms[arm].wall_s = result.wall_s;
    if (!result.ok()) Leave(arm, FailureOf(result));
    rows.push_back({observed_.blocks, place, arm, std::move(result)});
  }

  // The baseline's first launch with this window defines the work; ALL's if the baseline is not launched.
  void HoldToBaseline(std::vector<Observation>& rows) {
    if (!baseline_) {
      const int reference = plan_.arms[kBaselineArm].repeats > 0 ? kBaselineArm : kAllArm;
      const auto first =
          std::ranges::find_if(rows, [&](const Observation& row) { return row.arm == reference && row.result.ok(); });
      if (first == rows.end()) return;
      baseline_ = first->result;
    }
    for (Observation& row : rows) {
      const bool was_ok = row.result.ok();
      row.result = HeldTo(*baseline_, std::move(row.result), run_.same_work);
      if (was_ok && !row.result.ok()) Leave(row.arm, row.result.status.Text());
    }
  }

  void Leave(int arm, const std::string& why) {
    const std::string when = fmt::format("in {} {}: {}", run_.name, observed_.blocks + 1, why);
    if (arm < run_.essentials) {
      observed_.ended_early = fmt::format("{} failed {}", plan_.arms[arm].name, when);
      return;
    }
    plan_.EndComparisons(arm, TrialVerdict::kFailed, when);
  }

  // Arms with the same reference share a spread; all of them are judged together.
  void DropLosers() {
    std::vector<PlannedComparison*> open;
    std::vector<double> p, gains;
    for (const int reference : {kBaselineArm, kAllArm}) {
      std::vector<std::vector<double>> d;
      for (PlannedComparison& one : plan_.comparisons) {
        const bool by_time = one.metric == Metric::kStepTime || one.metric == Metric::kSampleTime;
        if (!one.open() || one.reference != reference || !by_time) continue;
        open.push_back(&one);
        d.push_back(observed_.Differences(one, run_.same_work.step_metric));
        gains.push_back((one.with_others ? 1 : -1) * Mean(d.back()));
      }
      for (const Effect& effect : CompareWithReference(d, 0)) p.push_back(effect.p);
    }
    const std::vector<double> adjusted = Holm(p);
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool loses = adjusted[i] <= kSurelySlower && gains[i] < -std::log1p(kMuchSlower);
      if (loses) Drop(*open[i], std::exp(gains[i]));
    }
  }

  void Drop(PlannedComparison& one, double speedup) {
    one.verdict = TrialVerdict::kDropped;
    one.reason = fmt::format("clearly slower after {} blocks ({:.2f}x)", kFewestBlocks, speedup);
    const bool needed =
        one.arm == kAllArm || std::ranges::any_of(plan_.comparisons, [&](const PlannedComparison& other) {
          return other.arm == one.arm && other.open();
        });
    if (!needed) plan_.arms[one.arm].repeats = 0;
  }

  const ExperimentOptions& options_;
  const BlockRun& run_;
  ExperimentPlan& plan_;
  LaunchSeries& series_;
  std::mt19937_64 random_;
  Observations observed_;
  std::optional<LaunchResult> baseline_;
};

}  // namespace

std::optional<double> Observations::LogMean(int block, int arm, Metric metric) const {
  double sum = 0;
  int count = 0;
  for (const Observation& row : rows) {
    if (row.block != block || row.arm != arm || !row.result.ok()) continue;
    const double value = Value(row.result, metric);
    if (!(value > 0)) return std::nullopt;
    sum += std::log(value);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::vector<double> Observations::Differences(const PlannedComparison& one, Metric metric) const {
  std::vector<double> d;
  for (int block = 0; block < blocks; ++block) {
    const std::optional<double> arm = LogMean(block, one.arm, metric);
    const std::optional<double> reference = LogMean(block, one.reference, metric);
    if (arm && reference) d.push_back(*arm - *reference);
  }
  return d;
}

bool Observations::Tried(int arm) const {
  return std::ranges::find(rows, arm, &Observation::arm) != rows.end();
}

std::vector<double> Observations::Values(int arm, double LaunchResult::*member) const {
  std::vector<double> values;
  for (const Observation& row : rows) {
    if (row.arm == arm && row.result.ok() && row.result.*member > 0) values.push_back(row.result.*member);
  }
  return values;
}

Observations RunBlocks(const ExperimentOptions& options, const BlockRun& run, ExperimentPlan& plan,
                       LaunchSeries& series) {
  return BlockPhase(options, run, plan, series).Run();
}

}  // namespace loopscope
