#include "profiler/experiments/prove/pilots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "profiler/core/printable.h"
#include "profiler/experiments/applied.h"
#include "profiler/experiments/same_work.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostValues = 4;  // screened per treatment
// Launches differ by a few percent, on a busy machine by some tens of percent, but hardly by this much.
constexpr double kSlowStart = 2;   // times a launch that compiles nothing
constexpr int kChecksAtLeast = 2;  // launches: the untreated program, and all fixes that keep every bit
constexpr double kHopeless = 1.5, kSlowerThanNone = 1.1;

PilotRun FirstRun(const ExperimentInput& input, LaunchSeries& series) {
  const bool boundary = std::ranges::any_of(input.candidates, JudgedByBoundary);
  const LaunchWindow window =
      PilotWindow(input.options, RunAhead(input.candidates, input.loader), boundary ? input.steps_per_epoch : 0);
  return {input.options, input.clock, window, series};
}

class PilotPhase {
 public:
  PilotPhase(const ExperimentInput& input, std::vector<Contender>& contenders, LaunchSeries& series)
      : input_(input),
        contenders_(contenders),
        series_(series),
        run_(FirstRun(input, series)),
        holds_epochs_(ChangesRunAhead(input.candidates)) {
    if (holds_epochs_) run_.HoldEpochs(input.steps_per_epoch);
  }

  Result<FixPilots> Run() {
    baseline_ = run_.Launch({.name = "baseline", .settings = {}});
    // A diagnosis that saw no epoch end does not know how long they are.
    const bool told =
        baseline_.ok() && holds_epochs_ && !input_.steps_per_epoch && run_.HoldEpochs(baseline_.steps_per_epoch);
    if (told) baseline_ = run_.Launch({.name = "baseline, whole epochs", .settings = {}});
    if (series_.stopped()) return Interrupted();
    if (!baseline_.ok()) return CommandFailed(ShellQuoted(input_.command), baseline_);
    LaunchResult all = LaunchTogether();
    for (int i = 0; i < size() && !series_.stopped(); ++i) {
      if (contenders_[i].together()) Judge(i, all);
    }
    for (int i = 0; i < size() && !series_.stopped(); ++i) {
      if (contenders_[i].together() && contenders_[i].candidate.values.size() > 1) Screen(i, all);
    }
    DropCompiled(all);
    DropHopeless(all);
    if (series_.stopped()) return Interrupted();
    return FixPilots{baseline_, all, run_};
  }

 private:
  int size() const { return static_cast<int>(contenders_.size()); }

  LaunchResult Launch(const std::vector<int>& members, const std::string& name) {
    return HeldTo(baseline_, run_.Launch({.name = name, .settings = SettingsOf(members, contenders_)}),
                  SameWorkOf(CandidatesIn(contenders_)));
  }

  std::vector<int> Members() const {
    std::vector<int> members;
    for (int i = 0; i < size(); ++i) {
      if (contenders_[i].together()) members.push_back(i);
    }
    return members;
  }

  // ALL, without those that make it fail.
  LaunchResult LaunchTogether() {
    for (int attempt = 1;; ++attempt) {
      const std::vector<int> members = Members();
      if (members.empty()) return baseline_;
      const std::string name = attempt == 1 ? "ALL" : fmt::format("ALL, attempt {}", attempt);
      LaunchResult all = Launch(members, name);
      if (all.ok() || series_.stopped()) return all;
      std::optional<int> culprit = Culprit(members, attempt);
      if (!culprit && !series_.stopped()) {
        // Everything short of the whole works: the last one is to blame, or none.
        all = Launch(members, name + ", repeated");
        if (all.ok()) return all;
        culprit = members.back();
      }
      if (series_.stopped()) return all;
      TakeOut(*culprit, all);
    }
  }

  // The last member of the shortest failing prefix, by bisection; none when only the whole fails.
  std::optional<int> Culprit(const std::vector<int>& members, int attempt) {
    std::size_t works = 0, fails = members.size();
    while (fails - works > 1 && !series_.stopped()) {
      const std::size_t half = (works + fails) / 2;
      const std::vector<int> prefix(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(half));
      const LaunchResult result = Launch(prefix, fmt::format("bisecting {}, first {}", attempt, half));
      (result.ok() ? works : fails) = half;
    }
    if (fails == members.size()) return std::nullopt;
    return members[fails - 1];
  }

  // A culprit that works alone is measured alone.
  void TakeOut(int i, const LaunchResult& all) {
    auto& [candidate, state] = contenders_[i];
    const LaunchResult alone = Launch({i}, candidate.Setting());
    if (series_.stopped()) return;
    if (!alone.ok()) {
      state.verdict = TrialVerdict::kFailed;
      state.reason = FailureOf(alone);
      return;
    }
    state.in_all = false;
    candidate.values.resize(1);
    state.note = "fails together with the others: " + FailureOf(all);
    Judge(i, alone);
  }

  void Judge(int i, const LaunchResult& result) {
    auto& [candidate, state] = contenders_[i];
    const std::string_view key = candidate.treatment->id;
    state.applied = AppliedUnder(key, result.applied);
    const std::string why = WhyNotApplied(key, result.applied);
    // With other values to try it is too early to say.
    if (why.empty() || candidate.values.size() > 1) return;
    state.verdict = FailedToApply(key, result.applied) ? TrialVerdict::kFailed : TrialVerdict::kNotApplicable;
    state.reason = why;
  }

  // One launch of ALL per value; the fastest goes into the blocks, and its launch is `all` from then on.
  void Screen(int i, LaunchResult& all) {
    auto& [candidate, state] = contenders_[i];
    std::vector<std::string> values = std::move(candidate.values);
    values.resize(std::min(values.size(), kMostValues));
    const std::string key(candidate.treatment->id);
    std::string best, why_not = WhyNotApplied(key, all.applied);
    std::vector<std::string> tried;
    LaunchResult fastest;
    for (std::size_t v = 0; v < values.size() && !series_.stopped(); ++v) {
      if (v > 0 && !best.empty() && !HasTimeFor(all)) {
        state.note = fmt::format("the budget left no time to try {}",
                                 fmt::join(values.begin() + static_cast<std::ptrdiff_t>(v), values.end(), ", "));
        break;
      }
      candidate.values = {values[v]};
      const LaunchResult result = v == 0 ? all : Launch(Members(), fmt::format("ALL, {}={}", key, values[v]));
      if (!result.ok() || !WhyNotApplied(key, result.applied).empty()) continue;
      tried.push_back(fmt::format("{}: {:.4g} ms", values[v], result.ms_per_step));
      if (!best.empty() && result.ms_per_step >= fastest.ms_per_step) continue;
      best = values[v];
      fastest = result;
      Judge(i, result);
    }
    candidate.values = {best.empty() ? values.front() : best};
    if (best.empty()) {
      state.verdict = TrialVerdict::kNotApplicable;
      state.reason = why_not;
    } else if (tried.size() > 1) {
      AddReason(state.note, fmt::format("the fastest of one launch each ({})", fmt::join(tried, ", ")));
    }
    if (!best.empty()) all = fastest;
  }

  // For another launch like `all`, and the launches after it that matter more.
  bool HasTimeFor(const LaunchResult& all) const {
    const double until_s = MayBeSpentBeforePairs(input_, {baseline_, all, run_});
    return series_.spent_s() + (1 + kChecksAtLeast) * all.wall_s <= until_s;
  }

  double Ms(const LaunchResult& result) const {
    return StepMetric(CandidatesIn(contenders_)) == Metric::kSampleTime ? result.ms_per_sample : result.ms_per_step;
  }

  // Where launches that compile leave the budget no pairs, the others go on without.
  void DropCompiled(LaunchResult& all) {
    if (!all.ok() || series_.stopped()) return;
    if (all.wall_s < kSlowStart * baseline_.wall_s) return;
    if (series_.spent_s() <= MayBeSpentBeforePairs(input_, {baseline_, all, run_})) return;
    std::vector<int> others = Members();
    std::erase_if(others, [&](int i) { return contenders_[i].candidate.treatment->compiles; });
    if (others.empty() || others.size() == Members().size()) return;
    const LaunchResult without = Launch(others, "ALL, nothing compiled");
    if (!without.ok() || all.wall_s < kSlowStart * without.wall_s) return;
    for (const int i : Members()) {
      CandidateState& state = contenders_[i].state;
      if (!contenders_[i].candidate.treatment->compiles) continue;
      state.verdict = TrialVerdict::kDropped;
      state.reason = fmt::format(
          "a launch that compiles takes {:.0f} s, one without {:.0f}: the budget holds no pairs with it (--budget, "
          "--only)",
          all.wall_s, without.wall_s);
    }
    all = without;
  }

  // When all together are slower than none, a fix that slows the others down this much would cost every further launch.
  void DropHopeless(LaunchResult& all) {
    for (int i = 0; i < size() && !series_.stopped(); ++i) {
      if (!all.ok() || Ms(all) <= kSlowerThanNone * Ms(baseline_)) return;
      const Metric own = contenders_[i].candidate.treatment->metric;
      if (!contenders_[i].together() || (own != Metric::kStepTime && own != Metric::kSampleTime)) continue;
      std::vector<int> others = Members();
      std::erase(others, i);
      if (others.empty()) return;
      const LaunchResult without =
          Launch(others, fmt::format("ALL without {}", contenders_[i].candidate.treatment->id));
      if (!without.ok() || Ms(all) < kHopeless * Ms(without)) continue;
      contenders_[i].state.verdict = TrialVerdict::kDropped;
      contenders_[i].state.reason =
          fmt::format("the other fixes take {:.3g} times as long with it, in one launch each", Ms(all) / Ms(without));
      all = without;
    }
  }

  const ExperimentInput& input_;
  std::vector<Contender>& contenders_;
  LaunchSeries& series_;
  PilotRun run_;
  bool holds_epochs_;  // candidates change how far the loader runs ahead
  LaunchResult baseline_;
};

}  // namespace

double MayBeSpentBeforePairs(const ExperimentInput& input, const FixPilots& pilots) {
  const double budget_s = input.options.budget_s;
  if (!input.options.until_decided || !pilots.all.ok()) return budget_s;
  std::vector<Arm> arms(2);
  Estimate(arms[0], pilots.baseline);
  Estimate(arms[1], pilots.all);
  (void)pilots.run.FinalWindowOf(arms, {.run_ahead = RunAhead(input.candidates, input.loader)});
  return budget_s - kFewestBlocks * (arms[0].wall_s + arms[1].wall_s);
}

Result<FixPilots> RunPilots(const ExperimentInput& input, std::vector<Contender>& contenders, LaunchSeries& series) {
  return PilotPhase(input, contenders, series).Run();
}

}  // namespace loopscope
