#include "profiler/experiments/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

constexpr int kFewestFixes = 3;   // fixes that a short budget measures individually; a shorter one measures one
constexpr int kWantedBlocks = 6;  // fewer blocks show little: drop alone arms and repeats first
constexpr double kTurnMs = 40;
constexpr double kFreshReserve = 1.2;  // launches vary, and the fresh blocks come last

bool Costs(const ExperimentPlan& plan, double& block_s, double& fresh_s) {
  block_s = 0;
  for (const Arm& arm : plan.arms) block_s += arm.repeats * arm.wall_s;
  fresh_s = plan.wants_fresh ? plan.arms[kBaselineArm].wall_s + plan.arms[kAllArm].wall_s : 0;
  return block_s > 0;
}

double PilotSeconds(const ExperimentPlan& plan) {
  double seconds = 0;
  for (const Arm& arm : plan.arms) seconds += arm.to_pilot && arm.repeats > 0 ? arm.wall_s : 0;
  return seconds;
}

int BlocksThatFit(const ExperimentPlan& plan, const ExperimentOptions& options, double seconds_left,
                  bool with_fresh = true) {
  double block_s = 0, fresh_s = 0;
  if (!Costs(plan, block_s, fresh_s)) return options.blocks;
  const double reserved_s = PilotSeconds(plan) + (with_fresh ? kFreshReserve * kFewestBlocks * fresh_s : 0);
  const double fitting = (seconds_left - reserved_s) / block_s;
  return std::clamp(static_cast<int>(std::floor(fitting)), 0, options.blocks);
}

// Drops the least costly fix measured alone first; a fix without another context stays.
bool GiveUpOneAlone(ExperimentPlan& plan) {
  for (auto one = plan.comparisons.rbegin(); one != plan.comparisons.rend(); ++one) {
    const bool twice = std::ranges::count(plan.comparisons, one->subject, &PlannedComparison::subject) > 1;
    const auto users = std::ranges::count(plan.comparisons, one->arm, &PlannedComparison::arm);
    if (one->with_others || !twice || users > 1 || one->arm <= kAllArm) continue;
    const int arm = one->arm;
    plan.comparisons.erase(std::next(one).base());
    plan.arms.erase(plan.arms.begin() + arm);
    for (PlannedComparison& other : plan.comparisons) other.arm -= other.arm > arm;
    return true;
  }
  return false;
}

// Keeps the baseline only if something is still compared with it.
void KeepBaseline(ExperimentPlan& plan) {
  if (!plan.set_known) return;
  const bool needed = std::ranges::any_of(
      plan.comparisons, [](const PlannedComparison& one) { return one.reference == kBaselineArm && one.open(); });
  plan.arms[kBaselineArm].repeats = needed ? 1 : 0;
}

// Ends the running comparisons that `of` selects.
template <class Of>
void EndForBudget(ExperimentPlan& plan, Of of) {
  const int before = plan.subjects_without_comparison();
  for (PlannedComparison& one : plan.comparisons) {
    if (!one.open() || !of(one)) continue;
    const bool other = std::ranges::any_of(plan.comparisons, [&](const PlannedComparison& also) {
      return also.subject == one.subject && also.open() && !of(also);
    });
    const char* what = other ? "this comparison" : one.with_others ? "it: it was only applied with the others" : "it";
    one.verdict = TrialVerdict::kInconclusive;
    one.reason = fmt::format("the budget left no blocks for {} (--budget, --only)", what);
  }
  for (int arm = kAllArm + 1; arm < static_cast<int>(plan.arms.size()); ++arm) {
    const bool needed = std::ranges::any_of(plan.comparisons,
                                            [&](const PlannedComparison& one) { return one.arm == arm && one.open(); });
    if (!needed) plan.arms[arm].repeats = 0;
  }
  plan.left_out += plan.subjects_without_comparison() - before;
  KeepBaseline(plan);
}

// With two fixes, ALL without one is also the other one alone.
bool ServesACostlierFix(const ExperimentPlan& plan, const PlannedComparison& one) {
  return std::ranges::any_of(plan.comparisons, [&](const PlannedComparison& also) {
    return also.arm == one.arm && also.subject < one.subject && also.with_others && also.open();
  });
}

// Drop the last arm's baseline comparison; keep the one against ALL.
bool LeaveOutBaseline(ExperimentPlan& plan) {
  const auto against = [](const PlannedComparison& one) {
    return one.open() && one.arm > kAllArm && one.reference == kBaselineArm;
  };
  const auto open = std::ranges::count_if(plan.comparisons, &PlannedComparison::open);
  const auto ended = std::ranges::count_if(plan.comparisons, against);
  if (!plan.set_known || ended == 0 || ended == open) return false;
  EndForBudget(plan, against);
  return true;
}

// The least costly fix that still has an arm of its own.
bool LeaveOutOne(ExperimentPlan& plan, int fewest) {
  const auto open = std::ranges::count_if(plan.comparisons, &PlannedComparison::open);
  if (open <= fewest) return false;
  for (auto one = plan.comparisons.rbegin(); one != plan.comparisons.rend(); ++one) {
    if (!one->open() || one->arm <= kAllArm || ServesACostlierFix(plan, *one)) continue;
    const auto of_arm = [arm = one->arm](const PlannedComparison& also) { return also.open() && also.arm == arm; };
    if (std::ranges::count_if(plan.comparisons, of_arm) == open) break;
    EndForBudget(plan, of_arm);
    return true;
  }
  return LeaveOutBaseline(plan);
}

// Down to `fewest`; returns false and changes nothing if even then the fewest blocks do not fit.
bool LeaveOut(ExperimentPlan& plan, const ExperimentOptions& options, double seconds_left, int fewest,
              bool with_fresh) {
  ExperimentPlan fewer = plan;
  while (BlocksThatFit(fewer, options, seconds_left, with_fresh) < kFewestBlocks) {
    if (!LeaveOutOne(fewer, fewest)) return false;
  }
  plan = std::move(fewer);
  return true;
}

int ReferenceRepeats(const ExperimentPlan& plan) {
  const auto sharing = std::ranges::count_if(
      plan.comparisons, [](const PlannedComparison& one) { return one.reference == kAllArm && one.open(); });
  return std::max(1, static_cast<int>(std::lround(std::sqrt(static_cast<double>(sharing)))));
}

std::string Minutes(double seconds) {
  const int whole = static_cast<int>(std::ceil(seconds));
  return whole < 100 ? fmt::format("{} s", whole) : fmt::format("{} min {} s", whole / 60, whole % 60);
}

// With too little time, verdicts have priority over the recommended set.
void MakeDo(ExperimentPlan& plan, const ExperimentOptions& options, double seconds_left) {
  if (options.blocks < kFewestBlocks) {
    plan.shortage = fmt::format("fewer than {} blocks: nothing will be called faster or slower", kFewestBlocks);
    return;
  }
  const double missing = kFewestBlocks * plan.block_s + PilotSeconds(plan) - seconds_left;
  if (missing <= 0) {
    plan.blocks = kFewestBlocks;
    plan.fresh_blocks = 0;
    plan.shortage = "the budget holds no fresh blocks: the recommended set will not be measured as a whole (--budget)";
    return;
  }
  plan.shortage = fmt::format(
      "the budget holds fewer than {} blocks, so that nothing can be called faster or slower: {} more are needed "
      "(--budget)",
      kFewestBlocks, Minutes(missing + kFreshReserve * kFewestBlocks * plan.fresh_block_s));
}

}  // namespace

int ExperimentPlan::subjects_without_comparison() const {
  std::set<int> all, open;
  for (const PlannedComparison& one : comparisons) {
    all.insert(one.subject);
    if (one.open()) open.insert(one.subject);
  }
  return static_cast<int>(all.size() - open.size());
}

bool ExperimentPlan::any_open() const {
  return std::ranges::any_of(comparisons, &PlannedComparison::open);
}

int ExperimentPlan::launches_per_block() const {
  int launches = 0;
  for (const Arm& arm : arms) launches += arm.repeats;
  return launches;
}

void ExperimentPlan::EndComparisons(int arm, TrialVerdict verdict, const std::string& reason) {
  for (PlannedComparison& one : comparisons) {
    if (one.arm != arm || !one.open()) continue;
    one.verdict = verdict;
    one.reason = reason;
  }
  arms[arm].repeats = 0;
}

std::vector<std::string> ExperimentPlan::Describe(double spent_s) const {
  std::vector<std::string> settings, names;
  for (const auto& [key, value] : arms[kAllArm].settings) settings.push_back(key + "=" + value);
  for (const Arm& arm : arms) {
    if (arm.repeats > 0) names.push_back(arm.repeats > 1 ? fmt::format("{} x{}", arm.name, arm.repeats) : arm.name);
  }
  std::vector<std::string> lines;
  if (!settings.empty() && !set_known) lines.push_back(fmt::format("ALL = {}", fmt::join(settings, "; ")));
  const std::string count =
      blocks == 0 ? "as many blocks as fit" : fmt::format("{} block{}", blocks, blocks == 1 ? "" : "s");
  lines.push_back(fmt::format("{}{}, each in random order: {}", by_bets ? "until it is decided, at most " : "", count,
                              fmt::join(names, ", ")));
  lines.push_back("each launch: " + DescribeWindow(window));
  if (side_by_side) lines.push_back(DescribeTurns(*this));
  if (fresh_blocks > 0) {
    lines.push_back(
        fmt::format("then at least {} fresh blocks of the recommended set against the baseline", fresh_blocks));
  }
  if (blocks > 0) {
    lines.push_back(fmt::format("about {} for {} launches ({} already spent)", Minutes(seconds()),
                                blocks * launches_per_block() + 2 * fresh_blocks, Minutes(spent_s)));
  }
  if (left_out > 0) {
    lines.push_back(fmt::format(
        "{} of the fixes, the least costly, will not be measured by themselves (--budget, --only)", left_out));
  }
  if (!shortage.empty()) lines.push_back(shortage);
  return lines;
}

ExperimentOptions WithWarmup(ExperimentOptions options, std::span<const Arm> arms) {
  if (!options.auto_warmup) return options;
  options.auto_warmup = false;
  for (const Arm& arm : arms) options.warmup = std::max(options.warmup, arm.settled_after);
  return options;
}

int TurnSteps(const ExperimentPlan& plan) {
  const double fastest_ms = FastestMs(plan.arms);
  if (fastest_ms == 0) return plan.window.steps;
  return std::clamp(static_cast<int>(std::ceil(kTurnMs / fastest_ms)), 1, std::max(plan.window.steps, 1));
}

std::string DescribeTurns(const ExperimentPlan& plan) {
  const int turn = TurnSteps(plan);
  return fmt::format("a block's programs are started together and measured in turns of {} step{}, each alone", turn,
                     turn == 1 ? "" : "s");
}

void ShapePlan(ExperimentPlan& plan, const ExperimentOptions& options, double seconds_left) {
  const auto set_repeats = [&] {
    KeepBaseline(plan);
    if (plan.arms[kAllArm].repeats == 0) return;  // nothing works together
    // The exact form compares one launch with one.
    plan.arms[kAllArm].repeats = 1;
    const bool pooled = BlocksThatFit(plan, options, seconds_left) < kExactBlocks;
    if (pooled) plan.arms[kAllArm].repeats = ReferenceRepeats(plan);
  };
  const int wanted = std::min(kWantedBlocks, options.blocks);
  set_repeats();
  while (BlocksThatFit(plan, options, seconds_left) < wanted) {
    if (options.alone < 0 && GiveUpOneAlone(plan)) {
      set_repeats();
    } else if (plan.arms[kAllArm].repeats > 1) {
      --plan.arms[kAllArm].repeats;
    } else {
      break;
    }
  }
  if (options.blocks >= kFewestBlocks) {
    const auto fits = [&](int fewest, bool with_fresh) {
      return LeaveOut(plan, options, seconds_left, fewest, with_fresh);
    };
    fits(kFewestFixes, true) || fits(kFewestFixes, false) || fits(1, true) || fits(1, false);
  }
  plan.blocks = BlocksThatFit(plan, options, seconds_left);
  plan.shortage.clear();
  Costs(plan, plan.block_s, plan.fresh_block_s);
  plan.fresh_blocks = plan.wants_fresh ? std::min(kFewestBlocks, plan.blocks) : 0;
  if (plan.blocks < kFewestBlocks) MakeDo(plan, options, seconds_left);
}

}  // namespace loopscope
