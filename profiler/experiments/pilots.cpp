#include "profiler/experiments/pilots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "probes/wire.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostValues = 4;  // screened per treatment
// Launches differ by some percent, on a busy machine by some tens: hardly by so much.
constexpr double kHopeless = 1.5, kSlowerThanNone = 1.1;

class PilotPhase {
 public:
  PilotPhase(const ExperimentInput& input, std::vector<Candidate>& candidates, std::vector<CandidateState>& states,
             LaunchSeries& series)
      : input_(input), candidates_(candidates), states_(states), series_(series) {
    const bool boundary = std::ranges::any_of(candidates, JudgedByBoundary);
    window_ = PilotWindow(input.options, Ahead(input, candidates), boundary ? input.steps_per_epoch : 0);
    if (ChangesRunAhead(candidates)) SetEpoch(input.steps_per_epoch);
  }

  Result<Pilots> Run() {
    baseline_ = series_.Insist(SpecOf(input_.options, input_.clock, window_, "pilot, baseline"));
    // A diagnosis that saw no epoch end does not tell how long they are.
    const bool told = baseline_.ok() && !epoch_ && ChangesRunAhead(candidates_) && SetEpoch(baseline_.steps_per_epoch);
    if (told)
      baseline_ = series_.Insist(SpecOf(input_.options, input_.clock, window_, "pilot, baseline, whole epochs"));
    if (series_.stopped()) return Interrupted();
    if (!baseline_.ok()) return CommandFailed(fmt::format("{}", fmt::join(input_.command, " ")), baseline_);
    LaunchResult all = LaunchTogether();
    for (int i = 0; i < size() && !series_.stopped(); ++i) {
      if (Together(i)) Judge(i, all);
    }
    for (int i = 0; i < size() && !series_.stopped(); ++i) {
      if (Together(i) && candidates_[i].values.size() > 1) Screen(i, all);
    }
    DropHopeless(all);
    if (series_.stopped()) return Interrupted();
    return Pilots{baseline_, all, window_, epoch_};
  }

 private:
  int size() const { return static_cast<int>(candidates_.size()); }
  // Whether the window changes by it.
  bool SetEpoch(int steps) {
    epoch_ = steps;
    const int least = PilotWindow(input_.options, 0, 0).steps;
    window_ = WholeEpochs(window_, least, input_.options, steps);
    return window_.whole_epochs;
  }

  bool Together(int i) const { return states_[i].alive() && states_[i].in_all; }

  LaunchResult Launch(const std::vector<int>& members, const std::string& name) {
    LaunchSpec spec = SpecOf(input_.options, input_.clock, window_, "pilot, " + name);
    spec.treatment = SettingsOf({.name = name, .members = members}, candidates_);
    return HeldTo(baseline_, series_.Insist(spec), SameWorkOf(candidates_));
  }

  std::vector<int> Members() const {
    std::vector<int> members;
    for (int i = 0; i < size(); ++i) {
      if (Together(i)) members.push_back(i);
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
        // Less than the whole works: the last one is to blame, or nobody.
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
    CandidateState& state = states_[i];
    const LaunchResult alone = Launch({i}, candidates_[i].Setting());
    if (series_.stopped()) return;
    if (!alone.ok()) {
      state.verdict = "failed";
      state.reason = FailureOf(alone);
      return;
    }
    state.in_all = false;
    candidates_[i].values.resize(1);
    state.note = "fails together with the others: " + FailureOf(all);
    Judge(i, alone);
  }

  bool Judge(int i, const LaunchResult& result) {
    const std::string_view key = candidates_[i].treatment->id;
    const std::string why = WhyNotApplied(key, result.applied);
    CandidateState& state = states_[i];
    state.applied.clear();
    for (const Applied& one : result.applied) {
      if (one.key == key) state.applied.push_back(one);
    }
    const bool raised =
        std::ranges::any_of(state.applied, [](const Applied& one) { return (one.flags & wire::kAppliedFailed) != 0; });
    // With other values to try it is too early to say.
    if (!why.empty() && candidates_[i].values.size() < 2) {
      state.verdict = raised ? "failed" : "not-applicable";
      state.reason = why;
    }
    return why.empty();
  }

  // One launch of ALL per value; the fastest goes into the blocks, and its launch is `all` from then on.
  void Screen(int i, LaunchResult& all) {
    std::vector<std::string> values = std::move(candidates_[i].values);
    values.resize(std::min(values.size(), kMostValues));
    const std::string key(candidates_[i].treatment->id);
    std::string best, why_not = WhyNotApplied(key, all.applied);
    std::vector<std::string> tried;
    LaunchResult fastest;
    for (std::size_t v = 0; v < values.size() && !series_.stopped(); ++v) {
      candidates_[i].values = {values[v]};
      const LaunchResult result = v == 0 ? all : Launch(Members(), fmt::format("ALL, {}={}", key, values[v]));
      if (!result.ok() || !WhyNotApplied(key, result.applied).empty()) continue;
      tried.push_back(fmt::format("{}: {:.4g} ms", values[v], result.ms_per_step));
      if (!best.empty() && result.ms_per_step >= fastest.ms_per_step) continue;
      best = values[v];
      fastest = result;
      Judge(i, result);
    }
    candidates_[i].values = {best.empty() ? values.front() : best};
    if (best.empty()) {
      states_[i].verdict = "not-applicable";
      states_[i].reason = why_not;
    } else if (tried.size() > 1) {
      states_[i].note = fmt::format("the fastest of one launch each ({})", fmt::join(tried, ", "));
    }
    if (!best.empty()) all = fastest;
  }

  double Ms(const LaunchResult& result) const {
    return StepMetric(candidates_) == Metric::kSampleTime ? result.ms_per_sample : result.ms_per_step;
  }

  // Where all together are slower than none, one that slows the others down so much would cost every further launch.
  void DropHopeless(LaunchResult& all) {
    for (int i = 0; i < size() && !series_.stopped(); ++i) {
      if (!all.ok() || Ms(all) <= kSlowerThanNone * Ms(baseline_)) return;
      const Metric own = candidates_[i].treatment->metric;
      if (!Together(i) || (own != Metric::kStepTime && own != Metric::kSampleTime)) continue;
      std::vector<int> others = Members();
      std::erase(others, i);
      if (others.empty()) return;
      const LaunchResult without = Launch(others, fmt::format("ALL without {}", candidates_[i].treatment->id));
      if (!without.ok() || Ms(all) < kHopeless * Ms(without)) continue;
      states_[i].verdict = "dropped";
      states_[i].reason =
          fmt::format("the other fixes take {:.3g} times as long with it, in one launch each", Ms(all) / Ms(without));
      all = without;
    }
  }

  const ExperimentInput& input_;
  std::vector<Candidate>& candidates_;
  std::vector<CandidateState>& states_;
  LaunchSeries& series_;
  Window window_;
  int epoch_ = 0;  // steps, where candidates change how far the loader runs ahead; else 0
  LaunchResult baseline_;
};

}  // namespace

std::string WhyNotApplied(std::string_view key, const std::vector<Applied>& applied) {
  std::string why = "nothing in the program took it up";
  for (const Applied& one : applied) {
    if (one.key != key) continue;
    if (one.flags & (wire::kAppliedNotApplicable | wire::kAppliedFailed)) {
      why = one.new_value.empty() ? "it does not apply here" : one.new_value;
    } else if (one.flags & wire::kAppliedLost) {
      why = fmt::format("the program sets it back to {}", one.new_value);
    } else if (one.old_value == one.new_value) {
      why = fmt::format("it is {} already", one.new_value);
    } else {
      return "";
    }
  }
  return why;
}

int Ahead(const ExperimentInput& input, std::span<const Candidate> candidates) {
  LoaderDepth untreated = input.loader;
  const int prefetch = std::max(1, untreated.prefetch);
  if (untreated.workers == 0) untreated.workers = (input.run_ahead + prefetch - 1) / prefetch;
  return std::max(input.run_ahead, RunAhead(candidates, untreated));
}

Result<Pilots> RunPilots(const ExperimentInput& input, std::vector<Candidate>& candidates,
                         std::vector<CandidateState>& states, LaunchSeries& series) {
  return PilotPhase(input, candidates, states, series).Run();
}

Error CommandFailed(const std::string& command, const LaunchResult& result) {
  const bool no_steps = result.status == "no steps";
  return {.what = no_steps ? "the training command never finished the steps that were asked for"
                           : fmt::format("the training command failed ({})", result.status),
          .where = command,
          .next = result.tail.empty() ? "try `loopscope run` with it first" : result.tail,
          .exit_code = 4};
}

Error Interrupted() {
  return {"interrupted before anything was measured", "", "--resume goes on with the launches that are finished", 3};
}

}  // namespace loopscope
