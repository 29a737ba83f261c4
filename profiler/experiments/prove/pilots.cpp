#include "profiler/experiments/prove/pilots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "profiler/core/printable.h"
#include "profiler/experiments/launch_results.h"
#include "profiler/experiments/prove/together.h"
#include "profiler/experiments/verdicts.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {
namespace {

// Launches vary by a few percent, on a busy machine by tens of percent, but hardly by this much.
constexpr double kSlowStart = 2;  // times a launch that compiles nothing
constexpr double kHopeless = 1.5, kProbablySlower = 1.15, kSlowerThanNone = 1.1;

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
        together_(input, contenders, series, run_),
        holds_epochs_(ChangesRunAhead(input.candidates)) {
    if (holds_epochs_) run_.HoldEpochs(input.steps_per_epoch);
  }

  Result<FixPilots> Run() {
    if (!Fits(0)) return WithoutTime();
    SetRivalsApart();
    const std::optional<LaunchResult> beside = LaunchFirst();
    // Without an epoch's end, the diagnosis does not know their length.
    const bool told =
        baseline_.ok() && holds_epochs_ && !input_.steps_per_epoch && run_.HoldEpochs(baseline_.steps_per_epoch);
    if (told) baseline_ = run_.Launch({.name = "baseline, whole epochs", .settings = {}});
    if (series_.stopped()) return Interrupted();
    if (!baseline_.ok()) return CommandFailed(ShellQuoted(input_.command), baseline_);
    if (!Fits(baseline_.wall_s)) return WithoutTime();
    together_.SetBaseline(baseline_);
    LaunchResult all = together_.LaunchAll(beside);
    for (int i = 0; i < size() && !series_.stopped(); ++i) {
      if (contenders_[i].together()) SetApplied(contenders_[i], all);
    }
    if (!series_.stopped()) {
      FixPilots screened{baseline_, all, run_};
      ScreenValues(input_, contenders_, together_, series_, screened);
      all = screened.all;
    }
    for (const int i : rivals_) {
      if (!series_.stopped()) TryInPlace(i, all);
    }
    DropCompiled(all);
    DropHopeless(all);
    if (series_.stopped()) return Interrupted();
    return FixPilots{baseline_, all, run_};
  }

 private:
  int size() const { return static_cast<int>(contenders_.size()); }

  // Whether the budget has time for a launch that takes so long.
  bool Fits(double launch_s) const { return series_.spent_s() + launch_s < input_.options.budget_s; }

  FixPilots WithoutTime() {
    for (Contender& one : contenders_) {
      one.state.verdict = TrialVerdict::kInconclusive;
      one.state.reason =
          fmt::format("the budget left no time to try it: {:.0f} s of {:.0f} s were spent before (--budget)",
                      series_.spent_s(), input_.options.budget_s);
    }
    return {baseline_, baseline_, run_};
  }

  bool Compiles(int i) const { return contenders_[i].candidate.treatment->compiles; }

  // The baseline, with ALL beside it if neither depends on the other's result and their lengths are similar.
  std::optional<LaunchResult> LaunchFirst() {
    const Arm baseline{.name = "baseline", .settings = {}};
    const std::vector<int> members = together_.Members();
    const bool waits = holds_epochs_ && !input_.steps_per_epoch;
    if (waits || members.empty() || Compiling() >= 0 || !series_.takes_turns()) {
      baseline_ = run_.Launch(baseline);
      return std::nullopt;
    }
    std::vector<LaunchResult> both = run_.LaunchBeside(std::array{baseline, together_.ArmOf(members, "ALL")});
    baseline_ = std::move(both[0]);
    return std::move(both[1]);
  }

  // A model is compiled only once: of the fixes that compile it, the last in treatments.def (the least demanding) runs
  // with the others, and the rest are tried in its place.
  void SetRivalsApart() {
    const auto row = [&](int i) { return std::ranges::find(AllTreatments(), contenders_[i].candidate.treatment); };
    for (const int i : together_.Members()) {
      if (Compiles(i)) rivals_.push_back(i);
    }
    if (!rivals_.empty()) rivals_.erase(std::ranges::max_element(rivals_, {}, row));
    for (const int i : rivals_) contenders_[i].state.in_all = false;
  }

  // The member of ALL that compiles, -1: none.
  int Compiling() const {
    const std::vector<int> members = together_.Members();
    const auto found = std::ranges::find_if(members, [&](int i) { return Compiles(i); });
    return found == members.end() ? -1 : *found;
  }

  void TryInPlace(int rival, LaunchResult& all) {
    Contender& tried = contenders_[rival];
    const int other = Compiling();
    const std::string setting = other < 0 ? "" : contenders_[other].candidate.Setting();
    const std::string in_place = other < 0 ? "" : " in place of " + setting;
    if (!HasTimeBeforePairs(input_, {baseline_, all, run_}, series_, 1)) {
      Drop(tried, fmt::format("a model is compiled once, and the budget left no time to try it{} (--budget, --only)",
                              in_place));
      return;
    }
    std::vector<int> members = together_.Members();
    std::erase(members, other);
    members.push_back(rival);
    const LaunchResult with = together_.Launch(members, fmt::format("ALL, {}{}", tried.candidate.Setting(), in_place));
    if (series_.stopped()) return;
    if (!with.ok()) return Fail(tried, with);
    SetApplied(tried, with);
    if (!tried.alive()) return;
    tried.state.in_all = other < 0 || Ms(with) < Ms(all);
    if (other >= 0) {
      Contender& slower = tried.state.in_all ? contenders_[other] : tried;
      Drop(slower, fmt::format("a model is compiled once, and with {} in its place all fixes took {:.4g} ms in one "
                               "launch, not {:.4g}",
                               tried.state.in_all ? tried.candidate.Setting() : setting, std::min(Ms(with), Ms(all)),
                               std::max(Ms(with), Ms(all))));
    }
    if (tried.state.in_all) all = with;
  }

  double Ms(const LaunchResult& result) const {
    return StepMetric(CandidatesIn(contenders_)) == Metric::kSampleTime ? result.ms_per_sample : result.ms_per_step;
  }

  // If launches that compile leave no budget for pairs, the others continue without.
  void DropCompiled(LaunchResult& all) {
    if (!all.ok() || series_.stopped()) return;
    if (all.wall_s < kSlowStart * baseline_.wall_s) return;
    if (series_.spent_s() <= MayBeSpentBeforePairs(input_, {baseline_, all, run_})) return;
    std::vector<int> others = together_.Members();
    std::erase_if(others, [&](int i) { return Compiles(i); });
    if (others.empty() || others.size() == together_.Members().size()) return;
    const LaunchResult without = together_.Launch(others, "ALL, nothing compiled");
    if (!without.ok() || all.wall_s < kSlowStart * without.wall_s) return;
    for (const int i : together_.Members()) {
      if (!Compiles(i)) continue;
      Drop(contenders_[i],
           fmt::format("a launch that compiles takes {:.0f} s, one without {:.0f}: the budget holds no pairs with it "
                       "(--budget, --only)",
                       all.wall_s, without.wall_s));
    }
    all = without;
  }

  // When all together are slower than none, a fix that slows the others down would hide what they bring: it is measured
  // alone. One that slows them down a lot would slow every further launch: drop it.
  void DropHopeless(LaunchResult& all) {
    for (int i = 0; i < size() && !series_.stopped(); ++i) {
      if (!all.ok() || Ms(all) <= kSlowerThanNone * Ms(baseline_) || !Fits(all.wall_s)) return;
      const Metric own = contenders_[i].candidate.treatment->metric;
      if (!contenders_[i].together() || (own != Metric::kStepTime && own != Metric::kSampleTime)) continue;
      std::vector<int> others = together_.Members();
      std::erase(others, i);
      if (others.empty()) return;
      const LaunchResult without =
          together_.Launch(others, fmt::format("ALL without {}", contenders_[i].candidate.treatment->id));
      if (!without.ok() || Ms(all) < kProbablySlower * Ms(without)) continue;
      const std::string why =
          fmt::format("the other fixes take {:.3g} times as long with it, in one launch each", Ms(all) / Ms(without));
      if (Ms(all) >= kHopeless * Ms(without)) {
        Drop(contenders_[i], why);
      } else {
        contenders_[i].state.in_all = false;
        AddReason(contenders_[i].state.note, why);
      }
      all = without;
    }
  }

  const ExperimentInput& input_;
  std::vector<Contender>& contenders_;
  LaunchSeries& series_;
  PilotRun run_;
  Together together_;
  std::vector<int> rivals_;
  bool holds_epochs_;  // candidates change how far the loader runs ahead
  LaunchResult baseline_;
};

}  // namespace

Result<FixPilots> RunPilots(const ExperimentInput& input, std::vector<Contender>& contenders, LaunchSeries& series) {
  return PilotPhase(input, contenders, series).Run();
}

}  // namespace loopscope
