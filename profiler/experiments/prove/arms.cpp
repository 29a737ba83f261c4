#include "profiler/experiments/prove/arms.h"

#include <algorithm>
#include <string>

namespace loopscope {
namespace {

constexpr int kAloneArms = 3;  // measured alone unless asked otherwise

int IndexOfArm(ExperimentPlan& plan, std::string name, Settings settings) {
  const auto same = std::ranges::find(plan.arms, settings, &Arm::settings);
  if (same != plan.arms.end()) return static_cast<int>(same - plan.arms.begin());
  plan.arms.push_back({.name = std::move(name), .settings = std::move(settings)});
  return static_cast<int>(plan.arms.size()) - 1;
}

Settings Without(Settings settings, const Settings::value_type& one) {
  std::erase(settings, one);
  return settings;
}

}  // namespace

ExperimentPlan PlanArms(std::span<const Candidate> candidates, const std::vector<bool>& in_all, int alone) {
  ExperimentPlan plan;
  Settings all;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (in_all[i]) all.push_back(candidates[i].KeyAndValue());
  }
  plan.arms.push_back({.name = "baseline", .settings = {}});
  plan.arms.push_back({.name = "ALL", .settings = all, .repeats = all.empty() ? 0 : 1});
  const int wanted = alone < 0 ? kAloneArms : alone;
  int costliest = 0;
  for (int i = 0; i < static_cast<int>(candidates.size()); ++i) {
    const auto own = candidates[i].KeyAndValue();
    const auto compare = [&](bool with_others, int arm) {
      plan.comparisons.push_back({.subject = i,
                                  .with_others = with_others,
                                  .arm = arm,
                                  .reference = with_others ? kAllArm : kBaselineArm,
                                  .metric = candidates[i].treatment->metric});
    };
    if (in_all[i] && all.size() > 1) compare(true, IndexOfArm(plan, "ALL-" + own.first, Without(all, own)));
    // A single fix, or one that fails with the others, is measured alone.
    const bool only_alone = !in_all[i] || all.size() == 1;
    if (only_alone || costliest++ < wanted) compare(false, IndexOfArm(plan, own.first, {own}));
  }
  return plan;
}

}  // namespace loopscope
