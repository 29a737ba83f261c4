#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "profiler/cli/command.h"
#include "profiler/cli/gate_options.h"
#include "profiler/cli/report_output.h"
#include "profiler/commands/session.h"
#include "profiler/core/statistics/gate_decision.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/experiments/launch_series.h"
#include "profiler/experiments/pairs.h"
#include "profiler/system/terminal.h"
#include "reports/text/page.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

constexpr double kBudgetSeconds = 60;

constexpr int kMostPairs = 2000;
constexpr int kFewestPairs = 4;  // needed to estimate a spread
// A slowdown just above the limit may be found slightly less often.
constexpr double kFits = 1.1;
constexpr std::array kWanted = {0.01, 0.02, 0.05, 0.10};

std::string OfHundred(double share) {
  return fmt::format("{:.0f} of 100", 100 * share);
}

// A gate per sensitivity: its result for a program that is so much slower, and for an unchanged one.
void WriteWanted(double pair_sd, double block_s, Page& page) {
  for (const double wanted : kWanted) {
    const GateLimits limits = LimitsFor(1, wanted);
    const GatePower slower = PowerOf(pair_sd, wanted, limits), same = PowerOf(pair_sd, 0, limits);
    page.Entry(10, {fmt::format("  {:>3.0f} %", 100 * wanted)},
               {fmt::format("{} gates fail, after {:.0f} pairs on average (about {}); of an unchanged program {} pass, "
                            "after {:.0f}",
                            OfHundred(slower.fails), slower.pairs, HumanMs(1e3 * slower.pairs * block_s),
                            OfHundred(same.passes), same.pairs)});
  }
}

void WriteFound(const std::vector<double>& d, const PairPlan& plan, double wanted, Page& page) {
  const double pair_sd = std::sqrt(Variance(d));
  const auto pairs = static_cast<int>(d.size());
  page.Heading("What this machine can detect");
  page.Entry(2, {""},
             {fmt::format("{} pairs of the program against itself differ by {} (standard deviation of a pair), "
                          "{} measured steps in each launch.",
                          pairs, HumanPct(100 * pair_sd), plan.plan.window.steps)});
  const double detectable = DetectableSlowdown(pair_sd, LimitsFor(1, wanted));
  page.Entry(2, {""},
             {fmt::format("`gate --max-slowdown {:.3g}%` finds a slowdown of {} in 4 of 5 gates.", 100 * wanted,
                          HumanPct(100 * detectable))});
  page.Heading("Gates of other sensitivity, and a program that is just so much slower");
  WriteWanted(pair_sd, plan.plan.block_s, page);
  const bool enough = detectable <= kFits * wanted;
  page.Entry(2, {""},
             {enough ? fmt::format("`gate --max-slowdown {:.3g}%` fits this machine.", 100 * wanted)
                     : fmt::format("For `gate --max-slowdown {:.3g}%` it is too noisy: more steps per launch "
                                   "(--steps {}) or a quieter machine would help.",
                                   100 * wanted, 4 * plan.plan.window.steps)});
}

Result<int> AaCheckCommand(const Options& options) {
  auto opened = Session::Open(options, true);
  if (!opened) return opened.error();
  Session& session = **opened;
  PairsInput input;
  input.command_a = input.command_b = options.program;
  input.options = session.Experiment(kDefaultWarmup);
  input.options.blocks = kMostPairs;
  const Launcher launch = session.Launches([](LaunchSpec& spec) { spec.side = 0; });
  const ExperimentEvents events = session.Events();
  LaunchSeries series(launch, events, nullptr, input.options.bound_launches);
  auto plan = PlanPairs(input, series);
  if (!plan) return plan.error();
  const Observations observed =
      plan->Run(series, std::max(plan->plan.blocks, kFewestPairs), options.seed, options.budget_s);
  session.bar().Clear();
  const std::vector<double> d = observed.Differences(plan->plan.comparisons.front(), Metric::kStepTime);
  if (static_cast<int>(d.size()) < kFewestPairs) {
    return Error{
        fmt::format("{} pairs were measured; at least {} are needed to estimate noise", d.size(), kFewestPairs),
        observed.ended_early, "give it a longer --budget", kExitInconclusive};
  }
  Output output = StandardOutput(options.no_color);
  Page page(output);
  WriteFound(d, *plan, options.gate.max_slowdown, page);
  Print(output);
  return 0;
}

}  // namespace

extern const Command kAaCheckCommand{
    .id = "aa-check",
    .summary = "What this machine can detect: the program against itself.",
    .usage = "aa-check [options] -- CMD…",
    .example = "loopscope aa-check -- ./train",
    .takes = kTakesLaunching | kTakesExperiment | kTakesProgram,
    .set_defaults = [](Options& options) { options.budget_s = kBudgetSeconds; },
    .add = [](CLI::App& app,
              Options& options) { AddSensitivity(app, options, "the smallest slowdown to detect (5%)"); },
    .run = AaCheckCommand};

}  // namespace loopscope
