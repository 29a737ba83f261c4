#include "profiler/experiments/prove/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profiler/experiments/pairs.h"
#include "profiler/treatments/treatments.h"
#include "tests/support/scripted_launcher.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

Candidate Fix(const std::string& id, const std::string& value, double cost_ms = 1) {
  return {FindTreatment(id), {value}, {"rule-of-" + id}, cost_ms};
}

ExperimentInput Input(std::vector<Candidate> candidates, int blocks, std::uint64_t seed = 1) {
  ExperimentInput input;
  input.command = {"train"};
  input.candidates = std::move(candidates);
  input.options.blocks = blocks;
  input.options.seed = seed;
  input.options.budget_s = 1e6;
  input.options.min_window_s = 0.5;
  return input;
}

struct Outcome {
  Report report;
  Result<void> result;
};

Outcome Prove(const ExperimentInput& input, ScriptedProgram& program, const ExperimentEvents& events = {}) {
  Outcome outcome;
  outcome.result = RunExperiment(input, std::ref(program), events, outcome.report);
  return outcome;
}

const TrialRow* Find(const Report& report, const std::string& treatment, const std::string& context = "") {
  for (const TrialRow& row : report.trials) {
    if (row.treatment == treatment && (context.empty() || row.context == context)) return &row;
  }
  return nullptr;
}

// Adds up what the launches take; those that are `slow` take `factor` times as long as the program says.
template <class Slow>
Launcher Counting(ScriptedProgram& program, double& spent, double factor, Slow slow) {
  return [&program, &spent, factor, slow](const LaunchSpec& spec) {
    LaunchResult launch = program(spec);
    if (slow(spec.label)) launch.wall_s *= factor;
    spent += launch.wall_s;
    return launch;
  };
}

int LaunchesLabelled(const ScriptedProgram& program, const std::string& text) {
  return static_cast<int>(std::ranges::count_if(
      program.log, [&](const LaunchSpec& spec) { return spec.label.find(text) != spec.label.npos; }));
}

// A slow debug switch, two real gains, one loss and a treatment that does nothing.
ScriptedProgram TypicalProgram(unsigned seed) {
  ScriptedProgram program(seed);
  program.treatments["debug"] = {.factor = 1 / 4.0};
  program.treatments["amp"] = {.factor = 1 / 1.5, .loss = ScriptedLoss::kRounding};
  program.treatments["grad.set_to_none"] = {.factor = 1 / 1.3};
  program.treatments["cudnn.benchmark"] = {};
  return program;
}

std::vector<Candidate> TypicalFixes() {
  return {Fix("debug", "off", 50), Fix("amp", "bf16", 30), Fix("grad.set_to_none", "on", 5),
          Fix("cudnn.benchmark", "on", 1)};
}

TEST(Experiment, FindsRealEffectsBehindADominantOne) {
  for (const int blocks : {6, 12}) {
    ScriptedProgram program = TypicalProgram(3);
    const auto [report, result] = Prove(Input(TypicalFixes(), blocks), program);
    ASSERT_TRUE(result.ok());
    for (const auto& [id, truth] : {std::pair{"debug", 4.0}, {"amp", 1.5}, {"grad.set_to_none", 1.3}}) {
      const TrialRow* row = Find(report, id, "with-others");
      ASSERT_TRUE(row) << id;
      EXPECT_EQ(row->verdict, TrialVerdict::kFaster) << id << ": " << row->reason;
      EXPECT_NEAR(*row->speedup / truth, 1, 0.08) << id;
      EXPECT_LT((*row->ci95)[0], *row->speedup);
      EXPECT_GT((*row->ci95)[0], 1);
      EXPECT_EQ(row->n, blocks);
      EXPECT_EQ(row->method, blocks >= 10 ? "exact" : "pooled");
      EXPECT_LE(*row->p_holm, 0.05);
      EXPECT_GE(*row->p_holm, *row->p);
    }
    EXPECT_NE(Find(report, "cudnn.benchmark", "with-others")->verdict, TrialVerdict::kFaster);
    ASSERT_TRUE(report.combined);
    EXPECT_THAT(report.combined->treatments, ElementsAre("debug=off", "amp=bf16", "grad.set_to_none=on"));
    EXPECT_NEAR(*report.combined->speedup / (4 * 1.5 * 1.3), 1, 0.08);
    EXPECT_EQ(report.combined->n, blocks);
    EXPECT_NEAR(*report.noise.pair_sd_pct, blocks >= 10 ? 5.7 : 4.6, 2.0);
  }
}

TEST(Experiment, EveryBlockHoldsEveryArmInAnOrderOfItsOwn) {
  ScriptedProgram program = TypicalProgram(5);
  Prove(Input(TypicalFixes(), 12), program);
  std::set<std::string> orders;
  for (int block = 1; block <= 12; ++block) {
    std::string order;
    std::multiset<std::string> arms;
    for (const LaunchSpec& spec : program.log) {
      if (!spec.label.starts_with("block " + std::to_string(block) + " ")) continue;
      const std::string arm = spec.label.substr(spec.label.rfind(", ") + 2);
      arms.insert(arm);
      order += arm + ";";
    }
    EXPECT_THAT(arms, UnorderedElementsAre("baseline", "ALL", "ALL-debug", "ALL-amp", "ALL-grad.set_to_none",
                                           "ALL-cudnn.benchmark", "debug", "amp", "grad.set_to_none"));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 8u);
  // The window and the seed are the same in all of them.
  for (const LaunchSpec& spec : program.log) {
    if (!spec.label.starts_with("block")) continue;
    EXPECT_EQ(spec.steps, program.log.back().steps);
    EXPECT_EQ(spec.seed, 1u);
  }
}

TEST(Experiment, PlantedNoOpsAreNotCalled) {
  // Four treatments that do nothing, noise of 4 % and a machine that slows down: the share of experiments with any
  // call.
  for (const auto& [blocks, heavy] : {std::pair{4, false}, {6, true}, {10, false}}) {
    int false_calls = 0, rows = 0;
    const int experiments = 150;
    for (int seed = 0; seed < experiments; ++seed) {
      ScriptedProgram program(seed);
      program.heavy_tails = heavy;
      program.drift = 0.002;
      ExperimentInput input =
          Input({Fix("debug", "off"), Fix("amp", "bf16"), Fix("grad.set_to_none", "on"), Fix("cudnn.benchmark", "on")},
                blocks, seed);
      input.options.check_training = false;
      const auto [report, result] = Prove(input, program);
      ASSERT_TRUE(result.ok());
      const bool called = std::ranges::any_of(report.trials, [](const TrialRow& row) {
        return row.verdict == TrialVerdict::kFaster || row.verdict == TrialVerdict::kSlower ||
               row.verdict == TrialVerdict::kDropped;
      });
      false_calls += called;
      rows += static_cast<int>(report.trials.size());
    }
    EXPECT_EQ(rows, experiments * 7);
    EXPECT_LE(false_calls, 16) << blocks;  // 5 % of 150 is 7.5; three standard deviations more
  }
}

TEST(Experiment, NoOpIsEquivalentWhenNoiseIsSmall) {
  ScriptedProgram program(9);
  program.noise = 0.004;
  const auto [report, result] = Prove(Input({Fix("debug", "off"), Fix("cudnn.benchmark", "on")}, 12), program);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Find(report, "cudnn.benchmark")->verdict, TrialVerdict::kEquivalent);
  EXPECT_EQ(*Find(report, "cudnn.benchmark")->margin_pct, 2);
  EXPECT_FALSE(report.combined);
}

TEST(Experiment, LosersAreDroppedOrSlower) {
  ScriptedProgram program = TypicalProgram(4);
  program.treatments["cudnn.benchmark"] = {.factor = 1.6};
  const auto [report, result] = Prove(Input(TypicalFixes(), 12), program);
  ASSERT_TRUE(result.ok());
  const TrialRow* loser = Find(report, "cudnn.benchmark", "with-others");
  EXPECT_EQ(loser->verdict, TrialVerdict::kDropped) << loser->reason;
  EXPECT_THAT(loser->reason, HasSubstr("after 4 blocks"));
  EXPECT_EQ(LaunchesLabelled(program, ", ALL-cudnn.benchmark"), 4 + 1);  // and its pilot
  EXPECT_THAT(report.combined->treatments, testing::Not(testing::Contains("cudnn.benchmark=on")));

  ScriptedProgram mild = TypicalProgram(4);
  mild.treatments["cudnn.benchmark"] = {.factor = 1.08};
  mild.noise = 0.02;
  EXPECT_EQ(Find(Prove(Input(TypicalFixes(), 12), mild).report, "cudnn.benchmark", "with-others")->verdict,
            TrialVerdict::kSlower);
}

// Launches of blocks take longer than their pilots: the budget may be exceeded by a tenth, what was planned is
// measured.
TEST(Experiment, AMachineThatSlowsDownDoesNotCostTheRecommendedSet) {
  for (double budget = 200; budget <= 400; budget += 10) {
    for (const double slower : {1.0, 1.03, 1.06}) {
      ScriptedProgram program = TypicalProgram(6);
      ExperimentInput input = Input(TypicalFixes(), 12);
      input.options.budget_s = budget;
      double spent = 0;
      const Launcher slowing = Counting(
          program, spent, slower, [](const std::string& label) { return label.find("block") != std::string::npos; });
      Report report;
      ASSERT_TRUE(RunExperiment(input, slowing, {}, report).ok());
      EXPECT_LE(spent, 1.1 * budget) << slower;
      if (!testing::Value(report.plan, testing::Contains(HasSubstr("then at least 4 fresh blocks")))) continue;
      ASSERT_TRUE(report.combined) << budget << " " << slower;
      EXPECT_GE(report.combined->n, 4) << budget << " " << slower << ": " << report.combined->reason;
    }
  }
}

// Side by side, launches may take much longer than their pilots did alone. Where eight blocks were planned, four and
// four fresh ones fit all the same.
TEST(Experiment, BlocksMuchSlowerThanTheirPilotsLeaveTimeForTheRecommendedSet) {
  int plans = 0;
  for (double budget = 300; budget <= 800; budget += 10) {
    ScriptedProgram program = TypicalProgram(6);
    ExperimentInput input = Input(TypicalFixes(), 12);
    input.options.budget_s = budget;
    double spent = 0;
    const Launcher slow_blocks = Counting(
        program, spent, 1.7, [](const std::string& label) { return label.find("pilot") == std::string::npos; });
    Report report;
    ASSERT_TRUE(RunExperiment(input, slow_blocks, {}, report).ok());
    EXPECT_LE(spent, 1.1 * budget);
    const auto planned = std::ranges::find_if(
        report.plan, [](const std::string& line) { return line.find(" blocks, each in") != line.npos; });
    if (planned == report.plan.end() || std::stoi(*planned) < 8) continue;
    ++plans;
    EXPECT_GE(Find(report, "debug", "with-others")->n, 4) << budget;
    ASSERT_TRUE(report.combined) << budget;
    EXPECT_GE(report.combined->n, 4) << budget << ": " << report.combined->reason;
  }
  EXPECT_GT(plans, 10);
}

TEST(Experiment, BudgetIsKept) {
  for (const double budget : {60.0, 120.0, 300.0, 900.0}) {
    ScriptedProgram program = TypicalProgram(6);
    ExperimentInput input = Input(TypicalFixes(), 12);
    input.options.budget_s = budget;
    double spent = 0;
    const Launcher counting = Counting(program, spent, 1, [](const std::string&) { return false; });
    Report report;
    ASSERT_TRUE(RunExperiment(input, counting, {}, report).ok());
    EXPECT_LE(spent, budget * 1.03) << budget;
    const TrialRow* debug = Find(report, "debug", "with-others");
    ASSERT_TRUE(debug);
    if (budget >= 120) {
      EXPECT_GE(debug->n, 4) << budget;
    }
    if (budget >= 300) {
      EXPECT_GT(spent, budget * 0.4) << budget;
    }
    if (debug->n < 4) {
      EXPECT_EQ(debug->verdict, TrialVerdict::kInconclusive);
      EXPECT_THAT(report.plan, testing::Contains(HasSubstr("the budget holds fewer than 4 blocks")));
    } else {
      ASSERT_TRUE(report.combined) << budget;
      EXPECT_TRUE(report.combined->speedup) << budget << report.combined->reason;
    }
  }
}

Report AfterADiagnosisOf(double seconds, ScriptedProgram& program) {
  ExperimentInput input = Input(TypicalFixes(), 12);
  input.options.budget_s = 60;
  input.diagnosis_s = seconds;
  Outcome outcome = Prove(input, program);
  EXPECT_TRUE(outcome.result.ok());
  return std::move(outcome.report);
}

TEST(Experiment, ADiagnosisThatTookTheBudgetLeavesNoLaunch) {
  ScriptedProgram program = TypicalProgram(6);
  const Report report = AfterADiagnosisOf(75, program);
  EXPECT_TRUE(program.log.empty());
  ASSERT_EQ(report.trials.size(), TypicalFixes().size());
  for (const TrialRow& row : report.trials) {
    EXPECT_EQ(row.verdict, TrialVerdict::kInconclusive);
    EXPECT_EQ(row.reason, "the budget left no time to try it: 75 s of 60 s were spent before (--budget)");
  }
}

TEST(Experiment, ABudgetForOneLaunchAfterTheDiagnosisHoldsNoOther) {
  ScriptedProgram program = TypicalProgram(6);
  const Report report = AfterADiagnosisOf(59, program);
  EXPECT_EQ(program.log.size(), 1U);
  EXPECT_FALSE(report.combined);
}

TEST(Experiment, PlanIsShownBeforeTheBlocks) {
  ScriptedProgram program = TypicalProgram(2);
  std::vector<std::string> shown;
  std::size_t launches_when_shown = 0;
  double last_left = -1;
  ExperimentEvents events;
  events.plan = [&](const std::vector<std::string>& lines) {
    shown = lines;
    launches_when_shown = program.log.size();
  };
  events.progress = [&](const Progress& progress) {
    EXPECT_LE(progress.done, progress.total);
    last_left = progress.seconds_left;
  };
  const auto [report, result] = Prove(Input(TypicalFixes(), 6), program, events);
  EXPECT_EQ(report.plan, shown);
  EXPECT_THAT(shown, testing::Contains(HasSubstr("6 blocks, each in random order: baseline, ALL x2")));
  EXPECT_THAT(shown, testing::Contains(HasSubstr("about ")));
  for (std::size_t i = 0; i < launches_when_shown; ++i) EXPECT_FALSE(program.log[i].label.starts_with("block"));
  EXPECT_TRUE(program.log[launches_when_shown].label.starts_with("block 1 "));
  EXPECT_EQ(last_left, 0);
}

// Ten fixes on a program of 150 ms per step that can take 20 ms, in five minutes.
TEST(Experiment, TenFixesFitInFiveMinutes) {
  for (int seed = 0; seed < 10; ++seed) {
    ScriptedProgram program(seed);
    program.ms_per_step = 150;
    const char* ids[] = {"debug",
                         "loader.workers",
                         "amp",
                         "bias.before_norm",
                         "optimizer.impl",
                         "grad.set_to_none",
                         "loader.from_numpy",
                         "eval.no_grad",
                         "loss.detach",
                         "cudnn.benchmark"};
    std::vector<Candidate> fixes;
    for (const char* id : ids) fixes.push_back(Fix(id, "1", 10.0 - static_cast<double>(fixes.size())));
    fixes[1].values = {"2", "1"};
    program.treatments["debug"].factor = 0.33;
    program.treatments["loader.workers"].factor = 0.6;
    program.treatments["amp"] = {.factor = 0.75, .loss = ScriptedLoss::kRounding};
    program.treatments["optimizer.impl"] = {.factor = 0.85, .loss = ScriptedLoss::kRounding};
    ExperimentInput input = Input(fixes, 12);
    input.options.budget_s = 300;
    input.steps_per_epoch = 24;
    const auto [report, result] = Prove(input, program);
    ASSERT_TRUE(result.ok());
    EXPECT_GE(Find(report, "debug", "with-others")->n, 6) << testing::PrintToString(report.plan);
    ASSERT_TRUE(report.combined && report.combined->speedup);
    EXPECT_GE(report.combined->n, 4);
    EXPECT_GT((*report.combined->ci95)[0], 2);
  }
}

TEST(Experiment, LoadersAreMeasuredOverWholeEpochs) {
  for (const int told : {0, 24}) {  // by the diagnosis; else by the baseline's pilot
    ScriptedProgram program(8);
    program.treatments["loader.workers"] = {.factor = 0.7};
    ExperimentInput input = Input({Fix("loader.workers", "4"), Fix("amp", "bf16")}, 6);
    input.steps_per_epoch = told;
    Report report;
    const auto launch = [&](const LaunchSpec& spec) {
      LaunchResult result = program(spec);
      result.steps_per_epoch = 24;
      return result;
    };
    ASSERT_TRUE(RunExperiment(input, launch, {}, report).ok());
    EXPECT_EQ(LaunchesLabelled(program, "pilot, baseline"), told ? 1 : 2);
    for (const LaunchSpec& spec : program.log) {
      if (!spec.label.starts_with("block")) continue;
      EXPECT_TRUE(spec.whole_epochs);
      EXPECT_EQ(spec.steps, 24);
    }
  }
  ScriptedProgram program(8);
  ExperimentInput input = Input({Fix("amp", "bf16")}, 6);
  input.steps_per_epoch = 24;
  Prove(input, program);
  EXPECT_FALSE(program.log.back().whole_epochs) << "both arms' loaders are alike";
}

// Processes started for batches of microseconds: no further launch of a fix that is forty times as slow.
TEST(Experiment, AHopelessFixLeavesBeforeTheBlocks) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["loader.workers"] = {.factor = 40, .values = {{"2", 60}}};
  ExperimentInput input = Input(TypicalFixes(), 6);
  input.candidates.push_back({FindTreatment("loader.workers"), {"1", "2"}, {"input-starvation"}, 60});
  const Report report = Prove(input, program).report;
  const TrialRow* workers = Find(report, "loader.workers");
  ASSERT_TRUE(workers);
  EXPECT_EQ(workers->verdict, TrialVerdict::kDropped);
  EXPECT_THAT(workers->reason, HasSubstr("times as long"));
  ASSERT_TRUE(report.combined && report.combined->speedup);
  EXPECT_GT(*report.combined->speedup, 4);
  for (const LaunchSpec& spec : program.log) {
    const bool timed = spec.label.starts_with("block") || spec.label.starts_with("fresh");
    EXPECT_FALSE(timed &&
                 std::ranges::any_of(spec.treatment, [](const auto& one) { return one.first == "loader.workers"; }));
  }
}

// Each value of a later fix is tried beside the value that an earlier one was given.
TEST(Experiment, AFixThatSlowsTheOthersDownIsMeasuredAlone) {
  ScriptedProgram program = TypicalProgram(4);
  program.treatments["debug"] = {.factor = 0.97};
  program.treatments["amp"] = {.factor = 1.3, .loss = ScriptedLoss::kRounding};
  program.treatments["grad.set_to_none"] = {.factor = 0.95};
  program.noise = 0.01;
  const Report report = Prove(Input(TypicalFixes(), 12), program).report;
  const TrialRow* amp = Find(report, "amp");
  ASSERT_TRUE(amp);
  EXPECT_EQ(amp->context, "alone");
  EXPECT_EQ(amp->verdict, TrialVerdict::kDropped) << "clearly slower after four blocks";
  EXPECT_THAT(amp->reason, HasSubstr("times as long with it, in one launch each"));
  EXPECT_EQ(Find(report, "grad.set_to_none", "with-others")->verdict, TrialVerdict::kFaster);
  ASSERT_TRUE(report.combined && report.combined->speedup);
  EXPECT_GT(*report.combined->speedup, 1);
}

TEST(Experiment, ValuesAreScreenedBesideEachOther) {
  ScriptedProgram program(9);
  program.noise = 0.001;
  program.treatments["loader.workers"] = {.values = {{"2", 1.0}, {"1", 0.6}}};
  program.treatments["optimizer.impl"] = {.values = {{"fused", 0.8}, {"foreach", 0.9}}};
  ExperimentInput input = Input({}, 4);
  input.candidates.push_back({FindTreatment("loader.workers"), {"2", "1"}, {"a"}, 60});
  input.candidates.push_back({FindTreatment("optimizer.impl"), {"fused", "foreach"}, {"b"}, 6});
  const Report report = Prove(input, program).report;
  EXPECT_EQ(Find(report, "loader.workers")->value, "1");
  EXPECT_EQ(Find(report, "optimizer.impl")->value, "fused");
}

// A requested fix that is slow by itself is measured in blocks.
TEST(Experiment, TheOnlyFixIsMeasuredHoweverSlow) {
  ScriptedProgram program(8);
  program.treatments["amp"] = {.factor = 5, .loss = ScriptedLoss::kRounding};
  const Report report = Prove(Input({Fix("amp", "bf16")}, 6), program).report;
  EXPECT_THAT(Find(report, "amp")->reason, HasSubstr("clearly slower after 4 blocks"));
}

TEST(Experiment, OneFixNeedsTwoArms) {
  ScriptedProgram program(8);
  program.treatments["amp"] = {.factor = 0.7};
  const auto [report, result] = Prove(Input({Fix("amp", "bf16")}, 6), program);
  ASSERT_EQ(report.trials.size(), 1u);
  EXPECT_EQ(report.trials[0].context, "alone");
  EXPECT_EQ(report.trials[0].verdict, TrialVerdict::kFaster);
  EXPECT_EQ(LaunchesLabelled(program, "block "), 12);
}

TEST(Experiment, FixesThatDoNotApplyLeaveBeforeTheBlocks) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["cudnn.benchmark"].not_applicable = "the program has no convolution";
  const auto [report, result] = Prove(Input(TypicalFixes(), 4), program);
  const TrialRow* row = Find(report, "cudnn.benchmark");
  EXPECT_EQ(row->verdict, TrialVerdict::kNotApplicable);
  EXPECT_THAT(row->reason, HasSubstr("the program has no convolution"));
  EXPECT_FALSE(row->speedup);
  EXPECT_EQ(LaunchesLabelled(program, "ALL-cudnn.benchmark"), 0);
}

TEST(Experiment, FailingFixIsFoundByBisection) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["amp"].fails = true;
  const auto [report, result] = Prove(Input(TypicalFixes(), 4), program);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Find(report, "amp")->verdict, TrialVerdict::kFailed);
  EXPECT_EQ(Find(report, "amp")->reason, "exit 1: it went wrong");
  EXPECT_EQ(Find(report, "debug", "with-others")->verdict, TrialVerdict::kFaster);
}

TEST(Experiment, FixesThatFailOnlyTogetherAreMeasuredApart) {
  ScriptedProgram program = TypicalProgram(8);
  program.conflicts = {{"amp", "grad.set_to_none"}};
  const auto [report, result] = Prove(Input(TypicalFixes(), 6), program);
  ASSERT_TRUE(result.ok());
  const TrialRow* apart = Find(report, "grad.set_to_none");
  EXPECT_EQ(apart->context, "alone");
  EXPECT_EQ(apart->verdict, TrialVerdict::kFaster);
  EXPECT_THAT(apart->reason, HasSubstr("fails together with the others"));
  EXPECT_EQ(Find(report, "amp", "with-others")->verdict, TrialVerdict::kFaster);
  EXPECT_THAT(report.combined->treatments, ElementsAre("debug=off", "amp=bf16"));
}

TEST(Experiment, OneFlakyLaunchBlamesNoFix) {
  // Every launch once, which is repeated; and ALL twice, after which no part of it fails.
  const std::set<std::string> flaky[] = {{"pilot, ALL", "arm pilot, ALL-amp", "check, all exact fixes"},
                                         {"pilot, ALL", "pilot, ALL, again"}};
  for (const auto& labels : flaky) {
    ScriptedProgram program = TypicalProgram(8);
    int deaths = 0;
    program.dies = [&](const LaunchSpec& spec, int) { return labels.contains(spec.label) && ++deaths > 0; };
    const auto [report, result] = Prove(Input(TypicalFixes(), 6), program);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(deaths, static_cast<int>(labels.size()));
    for (const char* id : {"debug", "amp", "grad.set_to_none", "cudnn.benchmark"}) {
      const TrialRow* row = Find(report, id, "with-others");
      ASSERT_TRUE(row) << id;
      EXPECT_EQ(row->n, 6) << id;
      EXPECT_EQ(row->reason, "") << id;
    }
    EXPECT_EQ(LossText(Find(report, "debug")->loss), "bit-identical");
  }
}

TEST(Experiment, AutomaticWarmupIsTheLongestOfAllArms) {
  ScriptedProgram program(3);
  program.treatments["amp"] = {.factor = 0.7, .settled_after = 35};
  program.treatments["debug"] = {.factor = 0.5, .settled_after = 15};
  ExperimentInput input = Input({Fix("amp", "bf16"), Fix("debug", "off")}, 4);
  input.options.auto_warmup = true;
  ASSERT_TRUE(Prove(input, program).result);
  for (const LaunchSpec& spec : program.log) {
    if (spec.label.find("pilot") != spec.label.npos) {
      EXPECT_GE(spec.warmup + spec.steps, 60) << spec.label;
    }
    if (spec.label.starts_with("block")) {
      EXPECT_EQ(spec.warmup, 35) << spec.label;
    }
  }
  EXPECT_GT(LaunchesLabelled(program, "block"), 0);
}

TEST(Experiment, UntreatedProgramThatFailsIsTheUsersProblem) {
  ScriptedProgram program(1);
  program.dies = [](const LaunchSpec&, int) { return true; };
  const auto [report, result] = Prove(Input(TypicalFixes(), 4), program);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().exit_code, 4);
  EXPECT_THAT(result.error().Message(), HasSubstr("train: the training command failed (signal 9)"));
  EXPECT_THAT(result.error().next, HasSubstr("it went wrong"));
}

TEST(Experiment, OneFailureIsRepeatedAndTwoEndAnArm) {
  ScriptedProgram once = TypicalProgram(8);
  once.dies = [](const LaunchSpec& spec, int) {
    return spec.label.starts_with("block 2 ") && !spec.label.ends_with("again");
  };
  EXPECT_EQ(Find(Prove(Input(TypicalFixes(), 6), once).report, "amp", "with-others")->n, 6);

  ScriptedProgram twice = TypicalProgram(8);
  twice.dies = [](const LaunchSpec& spec, int) {
    return spec.label.starts_with("block 2 ") && spec.label.find("ALL-amp") != std::string::npos;
  };
  const auto [report, result] = Prove(Input(TypicalFixes(), 6), twice);
  EXPECT_EQ(Find(report, "amp", "with-others")->verdict, TrialVerdict::kFailed);
  EXPECT_THAT(Find(report, "amp", "with-others")->reason, HasSubstr("in block 2: signal 9"));
  EXPECT_EQ(Find(report, "debug", "with-others")->n, 6);
}

TEST(Experiment, UnequalWorkIsNotComparable) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["amp"].samples = 64;
  // Listed last, so that its samples are those of every arm it is part of.
  ExperimentInput input = Input({Fix("debug", "off", 9), Fix("amp", "bf16", 1)}, 4);
  const auto [report, result] = Prove(input, program);
  EXPECT_EQ(Find(report, "amp")->verdict, TrialVerdict::kFailed);
  EXPECT_THAT(Find(report, "amp")->reason, HasSubstr("not comparable: 64.0 samples per step instead of 32.0"));
  EXPECT_EQ(Find(report, "debug")->verdict, TrialVerdict::kFaster);
}

TEST(Experiment, EpochsMayDifferOnlyOnPurpose) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["amp"].boundaries = 1;
  const auto strict = Prove(Input({Fix("amp", "bf16", 1)}, 4), program);
  EXPECT_THAT(Find(strict.report, "amp")->reason, HasSubstr("plain steps in the window instead of"));
  program.treatments["sampler.distributed"] = {.factor = 0.5, .boundaries = 1};
  const auto shared = Prove(Input({Fix("sampler.distributed", "on", 1)}, 6), program);
  EXPECT_EQ(Find(shared.report, "sampler.distributed")->verdict, TrialVerdict::kFaster);
}

TEST(Experiment, OtherBatchSizesAreJudgedPerSample) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["batch.size"] = {.factor = 1.5, .samples = 64};
  // Listed last, so that its samples are those of every arm it is part of.
  const auto [report, result] = Prove(Input({Fix("debug", "off", 9), Fix("batch.size", "64", 1)}, 6), program);
  for (const auto& [id, truth] : {std::pair{"debug", 4.0}, {"batch.size", 2 / 1.5}}) {
    const TrialRow* row = Find(report, id, "with-others");
    ASSERT_TRUE(row) << id;
    EXPECT_EQ(row->metric, "sample-time") << "arms with other samples per step are compared with this one";
    EXPECT_EQ(row->verdict, TrialVerdict::kFaster) << row->reason;
    EXPECT_NEAR(*row->speedup / truth, 1, 0.08) << id;
  }
  EXPECT_THAT(LossText(Find(report, "batch.size")->loss), HasSubstr("changes training on purpose"));
}

TEST(Experiment, FastestValueIsScreened) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["loader.workers"] = {.values = {{"2", 0.8}, {"1", 0.5}}};
  Candidate workers{FindTreatment("loader.workers"), {"2", "1"}, {"input-starvation"}, 40};
  const auto [report, result] = Prove(Input({workers, Fix("debug", "off")}, 6), program);
  const TrialRow* row = Find(report, "loader.workers", "with-others");
  EXPECT_EQ(row->value, "1");
  EXPECT_THAT(row->reason, HasSubstr("the fastest of one launch each (2: "));
  EXPECT_EQ(row->verdict, TrialVerdict::kFaster);
  EXPECT_EQ(LossText(row->loss), "same samples");
}

TEST(Experiment, OtherTrainingIsNeverAWin) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["amp"] = {.factor = 0.3, .loss = ScriptedLoss::kFrozen};
  program.treatments["grad.set_to_none"].loss = ScriptedLoss::kRounding;
  const auto [report, result] = Prove(Input(TypicalFixes(), 6), program);
  EXPECT_EQ(Find(report, "amp")->verdict, TrialVerdict::kDifferentTraining);
  EXPECT_THAT(Find(report, "amp")->reason, HasSubstr("falls by"));
  EXPECT_EQ(Find(report, "grad.set_to_none")->verdict, TrialVerdict::kDifferentTraining);
  EXPECT_THAT(Find(report, "grad.set_to_none")->reason, HasSubstr("exact only if every parameter"));
  EXPECT_EQ(LossText(Find(report, "debug")->loss), "bit-identical");
  EXPECT_THAT(report.combined->treatments, ElementsAre("debug=off"));
}

TEST(Experiment, ProgramThatDoesNotRepeatItselfIsJudgedByItsSpread) {
  ScriptedProgram program = TypicalProgram(8);
  program.losses_repeat = false;
  program.treatments["amp"].loss = ScriptedLoss::kFrozen;
  const auto [report, result] = Prove(Input(TypicalFixes(), 4), program);
  EXPECT_EQ(Find(report, "amp")->verdict, TrialVerdict::kDifferentTraining);
  EXPECT_EQ(LossText(Find(report, "debug")->loss), "within the baseline's own spread");
  EXPECT_EQ(Find(report, "debug", "with-others")->verdict, TrialVerdict::kFaster);

  ExperimentInput poor = Input(TypicalFixes(), 4);
  poor.options.budget_s = 200;
  ScriptedProgram again = TypicalProgram(8);
  again.losses_repeat = false;
  EXPECT_THAT(LossText(Find(Prove(poor, again).report, "debug")->loss),
              HasSubstr("cannot tell: untreated losses differ"));
}

// A loader with a random transform, in a program that does not fix each sample's random numbers.
ScriptedProgram ProgramOfOtherDraws() {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["loader.workers"] = {.factor = 0.5};
  program.fixes_samples = false;
  program.follows_seed = true;
  return program;
}

std::vector<Candidate> WorkersAndDebug() {
  return {Fix("loader.workers", "4", 40), Fix("debug", "off", 10)};
}

TEST(Experiment, OtherDrawsAreJudgedAgainstOtherSeeds) {
  ScriptedProgram program = ProgramOfOtherDraws();
  const auto [report, result] = Prove(Input(WorkersAndDebug(), 4), program);
  EXPECT_EQ(LossText(Find(report, "loader.workers")->loss), "within the baseline's own spread");
  EXPECT_EQ(Find(report, "loader.workers")->verdict, TrialVerdict::kFaster);
  EXPECT_EQ(LossText(Find(report, "debug")->loss), "bit-identical");
  std::set<std::uint64_t> seeds;
  int untreated = 0;
  for (const LaunchSpec& spec : program.log) {
    if (spec.mode != LaunchMode::kCheck || spec.label.find(", seed ") == spec.label.npos) continue;
    EXPECT_FALSE(spec.hash_samples);
    EXPECT_TRUE(seeds.insert(*spec.seed).second) << spec.label;
    untreated += spec.label.starts_with("check, baseline");
  }
  EXPECT_EQ(untreated, 5);
  EXPECT_EQ(seeds.size(), 5u + 2);
  EXPECT_FALSE(seeds.contains(1));  // the one of the first untreated launch

  ScriptedProgram frozen = ProgramOfOtherDraws();
  frozen.treatments["loader.workers"].loss = ScriptedLoss::kFrozen;
  EXPECT_EQ(Find(Prove(Input(WorkersAndDebug(), 4), frozen).report, "loader.workers")->verdict,
            TrialVerdict::kDifferentTraining);
}

TEST(Experiment, OtherDrawsAreNotJudgedWithoutSeedsOrTime) {
  ScriptedProgram stubborn = ProgramOfOtherDraws();
  stubborn.follows_seed = false;
  EXPECT_THAT(LossText(Find(Prove(Input(WorkersAndDebug(), 4), stubborn).report, "loader.workers")->loss),
              HasSubstr("cannot tell: the same samples are drawn, but the program does not fix each sample's random "
                        "numbers, and takes no other seed"));
  ScriptedProgram slow = ProgramOfOtherDraws();
  ExperimentInput poor = Input(WorkersAndDebug(), 4);
  poor.options.budget_s = 100;
  EXPECT_THAT(LossText(Find(Prove(poor, slow).report, "loader.workers")->loss),
              HasSubstr("the budget does not hold 7 check launches"));
  ScriptedProgram unseeded = ProgramOfOtherDraws();
  ExperimentInput own = Input(WorkersAndDebug(), 4);
  own.options.seed_programs = false;
  EXPECT_THAT(LossText(Find(Prove(own, unseeded).report, "loader.workers")->loss), HasSubstr("cannot tell"));
  EXPECT_EQ(LaunchesLabelled(unseeded, ", seed "), 0);
}

TEST(Experiment, MemoryAndEpochTreatmentsAreJudgedByTheirOwnMetric) {
  ScriptedProgram program = TypicalProgram(8);
  program.treatments["loss.detach"] = {.peak_factor = 0.8};
  program.treatments["eval.no_grad"] = {.epoch_factor = 0.6};
  ExperimentInput input = Input({Fix("debug", "off"), Fix("loss.detach", "on"), Fix("eval.no_grad", "on")}, 6);
  input.steps_per_epoch = 300;
  const auto [report, result] = Prove(input, program);
  const TrialRow* detach = Find(report, "loss.detach", "with-others");
  EXPECT_EQ(detach->verdict, TrialVerdict::kUseful);
  EXPECT_EQ(detach->metric, "peak-memory");
  EXPECT_NEAR(*detach->peak_bytes_treated / *detach->peak_bytes_baseline, 0.8, 0.03);
  const TrialRow* evaluation = Find(report, "eval.no_grad", "with-others");
  EXPECT_EQ(evaluation->verdict, TrialVerdict::kFaster);
  EXPECT_EQ(evaluation->metric, "epoch-boundary");
  EXPECT_NEAR(*evaluation->speedup, 1 / 0.6, 0.1);
  EXPECT_EQ(program.log.back().steps, 300);  // an epoch boundary lies in every window
  EXPECT_THAT(report.combined->treatments, ElementsAre("debug=off", "loss.detach=on", "eval.no_grad=on"));

  ScriptedProgram without = TypicalProgram(8);
  without.treatments["loss.detach"] = {.peak_factor = 0.97};
  const auto small = Prove(Input({Fix("debug", "off"), Fix("loss.detach", "on")}, 6), without);
  EXPECT_NE(Find(small.report, "loss.detach", "with-others")->verdict, TrialVerdict::kUseful);
}

class ResumedExperiment : public testing::Test {
 protected:
  ResumedExperiment() {
    folder_ = std::filesystem::temp_directory_path() / ("loopscope-journal-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    input_ = Input(TypicalFixes(), 6);
    input_.journal = folder_ / "launches.jsonl";
  }
  ~ResumedExperiment() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  ExperimentInput input_;
};

TEST_F(ResumedExperiment, CompletesAJournalThatWasCut) {
  ScriptedProgram whole = TypicalProgram(8);
  const auto uninterrupted = Prove(input_, whole);
  ASSERT_TRUE(uninterrupted.result.ok());
  std::ifstream stream(input_.journal);
  const std::string journal((std::istreambuf_iterator<char>(stream)), {});
  // Cut in the middle of a line, about half-way.
  const std::size_t cut = journal.size() / 2;
  const auto finished = std::count(journal.begin(), journal.begin() + static_cast<std::ptrdiff_t>(cut), '\n') - 1;
  ASSERT_GT(finished, 10);
  std::ofstream(input_.journal, std::ios::trunc) << journal.substr(0, cut);
  input_.options.resume = true;
  ScriptedProgram rest = TypicalProgram(99);
  const auto resumed = Prove(input_, rest);
  ASSERT_TRUE(resumed.result.ok()) << resumed.result.error().Message();
  EXPECT_EQ(rest.log.size() + static_cast<std::size_t>(finished), whole.log.size());
  EXPECT_EQ(Find(resumed.report, "debug", "with-others")->n, 6);
  EXPECT_EQ(Find(resumed.report, "debug", "with-others")->verdict, TrialVerdict::kFaster);

  // Everything is finished now: nothing is launched, and the report is the same.
  ScriptedProgram none(1);
  const auto replayed = Prove(input_, none);
  EXPECT_TRUE(none.log.empty());
  EXPECT_EQ(*Find(replayed.report, "amp", "with-others")->speedup,
            *Find(resumed.report, "amp", "with-others")->speedup);
}

TEST_F(ResumedExperiment, AFailureIsTriedAgain) {
  ScriptedProgram broken(1);
  broken.dies = [](const LaunchSpec&, int) { return true; };
  ExperimentInput input = Input({Fix("debug", "off")}, 4);
  input.journal = input_.journal;
  ASSERT_FALSE(Prove(input, broken).result);
  ScriptedProgram mended(1);
  mended.treatments["debug"] = {.factor = 0.5};
  input.options.resume = true;
  const Outcome outcome = Prove(input, mended);
  ASSERT_TRUE(outcome.result);
  EXPECT_EQ(Find(outcome.report, "debug")->verdict, TrialVerdict::kFaster);
}

TEST_F(ResumedExperiment, AnotherPlanIsRefused) {
  ScriptedProgram program = TypicalProgram(8);
  ASSERT_TRUE(Prove(input_, program).result.ok());
  input_.options.resume = true;
  input_.options.blocks = 8;
  const auto refused = Prove(input_, program);
  ASSERT_FALSE(refused.result.ok());
  EXPECT_EQ(refused.result.error().exit_code, 2);
  EXPECT_THAT(refused.result.error().Message(), HasSubstr("belongs to another plan"));
  input_.journal = folder_ / "none.jsonl";
  EXPECT_THAT(Prove(input_, program).result.error().Message(), HasSubstr("holds no launches to resume"));
  input_.options.resume = false;
  input_.journal = folder_ / "missing" / "launches.jsonl";
  EXPECT_THAT(Prove(input_, program).result.error().Message(), HasSubstr("cannot be written"));
}

TEST_F(ResumedExperiment, InterruptionKeepsWholeBlocks) {
  ScriptedProgram program = TypicalProgram(8);
  ExperimentEvents events;
  events.stop = [&] { return LaunchesLabelled(program, "block 6 of 6, 3") > 0; };
  const auto stopped = Prove(input_, program, events);
  ASSERT_TRUE(stopped.result.ok());
  EXPECT_EQ(Find(stopped.report, "debug", "with-others")->n, 5);
  EXPECT_THAT(Find(stopped.report, "debug", "with-others")->reason, HasSubstr("interrupted after 5 of 6 blocks"));
  EXPECT_FALSE(stopped.report.combined);
  input_.options.resume = true;
  const std::size_t before = program.log.size();
  const auto resumed = Prove(input_, program);
  EXPECT_EQ(Find(resumed.report, "debug", "with-others")->n, 6);
  EXPECT_LT(program.log.size() - before, 30u);

  events.stop = [] { return true; };
  input_.options.resume = false;
  const auto at_once = Prove(input_, program, events);
  ASSERT_FALSE(at_once.result.ok());
  EXPECT_EQ(at_once.result.error().exit_code, 3);
}

TEST(Pairs, TwoCommandsAreCompared) {
  for (const auto& [factor, verdict] : {std::pair{0.8, TrialVerdict::kFaster}, {1.25, TrialVerdict::kSlower}}) {
    ScriptedProgram program(4);
    program.other_side_factor = factor;
    PairsInput input;
    input.command_a = {"a"};
    input.command_b = {"b", "--fast"};
    input.options.min_window_s = 0.5;
    Report report;
    ASSERT_TRUE(RunPairs(input, std::ref(program), {}, report).ok());
    ASSERT_EQ(report.trials.size(), 1u);
    EXPECT_EQ(report.trials[0].verdict, verdict);
    EXPECT_NEAR(*report.trials[0].speedup * factor, 1, 0.06);
    EXPECT_EQ(report.trials[0].n, 12);
    EXPECT_EQ(LaunchesLabelled(program, "pair "), 24);
  }
}

TEST(Pairs, LoadersThatRunAheadByOtherNumbersAreMeasuredOverWholeEpochs) {
  for (const int workers : {1, 16}) {
    ScriptedProgram program(4);
    PairsInput input;
    input.command_a = {"a"};
    input.command_b = {"b"};
    input.options.min_window_s = 0.5;
    Report report;
    const auto launch = [&](const LaunchSpec& spec) {
      LaunchResult result = program(spec);
      result.run_ahead = spec.side == 1 ? 2 * workers : 2;
      result.steps_per_epoch = 24;
      return result;
    };
    ASSERT_TRUE(RunPairs(input, launch, {}, report).ok());
    EXPECT_EQ(program.log.back().whole_epochs, workers == 16);
    EXPECT_EQ(program.log.back().steps, workers == 16 ? 24 : 20);
    EXPECT_EQ(program.log.back().warmup, workers == 16 ? 64 : 10) << "what was made before must be used up";
  }
}

TEST(Pairs, AnotherClassOfOptimizerIsTheSameClock) {
  ScriptedProgram program(4);
  program.other_side_factor = 0.8;
  program.other_side_clock = "optimizer:AdamW#1";
  PairsInput input;
  input.command_a = {"a"};
  input.command_b = {"b", "--adamw"};
  input.options.min_window_s = 0.5;
  Report report;
  const Result<void> result = RunPairs(input, std::ref(program), {}, report);
  ASSERT_TRUE(result.ok()) << result.error().Message();
  EXPECT_EQ(report.trials[0].verdict, TrialVerdict::kFaster);
  EXPECT_EQ(program.log[0].clock, "");
  for (std::size_t i = 1; i < program.log.size(); ++i) EXPECT_EQ(program.log[i].clock, "optimizer:SGD#1");
}

TEST(Pairs, AnotherClockIsOtherWork) {
  for (const char* clock : {"optimizer:SGD#2", "mark"}) {
    ScriptedProgram program(4);
    program.other_side_clock = clock;
    PairsInput input;
    input.command_a = {"a"};
    input.command_b = {"b"};
    Report report;
    const Result<void> result = RunPairs(input, std::ref(program), {}, report);
    ASSERT_FALSE(result.ok()) << clock;
    EXPECT_EQ(result.error().exit_code, 3);
    EXPECT_THAT(result.error().what, HasSubstr("does other work per step"));
  }
}

TEST(Pairs, FailingCommandIsNamed) {
  ScriptedProgram program(4);
  program.dies = [](const LaunchSpec& spec, int) { return spec.side == 1; };
  PairsInput input;
  input.command_a = {"a"};
  input.command_b = {"b", "--fast"};
  Report report;
  const Result<void> result = RunPairs(input, std::ref(program), {}, report);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().where, "b --fast");
  EXPECT_EQ(result.error().exit_code, 4);
}

}  // namespace
}  // namespace loopscope
