#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "profiler/cli/command.h"
#include "profiler/cli/gate_options.h"
#include "profiler/cli/report_output.h"
#include "profiler/commands/session.h"
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
constexpr double kAlpha = 0.10;  // of a gate's stage
constexpr std::array kWanted = {0.01, 0.02, 0.05, 0.10};

double Detectable(double pair_sd, int pairs) {
  return std::expm1(DetectableEffect(pair_sd, pairs, pairs - 1.0, kAlpha));
}

// The fewest pairs that show a slowdown of `wanted`; kMostPairs + 1 when more than those are needed.
int PairsFor(double pair_sd, double wanted) {
  int pairs = kFewestPairs;
  while (pairs <= kMostPairs && Detectable(pair_sd, pairs) > wanted) ++pairs;
  return pairs;
}

void WriteWanted(double pair_sd, double block_s, Page& page) {
  for (const double wanted : kWanted) {
    const int pairs = PairsFor(pair_sd, wanted);
    const std::string what = fmt::format("  {:>3.0f} %", 100 * wanted);
    if (pairs > kMostPairs) {
      page.Entry(10, {what}, {fmt::format("more than {} pairs", kMostPairs)});
    } else {
      page.Entry(10, {what}, {fmt::format("{} pairs, about {}", pairs, HumanMs(1e3 * pairs * block_s))});
    }
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
  page.Entry(2, {""},
             {fmt::format("The 12 pairs of a gate's first stage show a slowdown of {} in 4 of 5 gates.",
                          HumanPct(100 * Detectable(pair_sd, 12)))});
  page.Heading("Pairs for a wanted sensitivity");
  WriteWanted(pair_sd, plan.plan.block_s, page);
  const bool enough = Detectable(pair_sd, 12) <= wanted;
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
  LaunchSeries series(launch, events, nullptr);
  auto plan = PlanPairs(input, series);
  if (!plan) return plan.error();
  const Observations observed =
      plan->Run(series, "pair", std::max(plan->plan.blocks, kFewestPairs), options.seed, options.budget_s);
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
