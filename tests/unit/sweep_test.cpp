#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "profiler/experiments/sweep/grid.h"
#include "profiler/experiments/sweep/procedure.h"
#include "tests/support/scripted_launcher.h"

namespace loopscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::vector<SweepAxis> Grid(const std::vector<std::string>& words) {
  auto axes = ParseGrid(words);
  EXPECT_TRUE(axes.ok());
  return *axes;
}

std::string Mistake(const std::vector<std::string>& words) {
  const auto axes = ParseGrid(words);
  EXPECT_FALSE(axes.ok());
  if (axes) return "";
  EXPECT_EQ(axes.error().exit_code, 2);
  return axes.error().Message();
}

SweepInput Input(const std::vector<std::string>& words, int blocks = 8, std::uint64_t seed = 1) {
  SweepInput input;
  input.command = {"train"};
  input.axes = Grid(words);
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

Outcome Swept(const SweepInput& input, ScriptedProgram& program, const ExperimentEvents& events = {}) {
  Outcome outcome;
  outcome.result = RunSweep(input, std::ref(program), events, outcome.report);
  return outcome;
}

// Two workers are best by far; pinning costs a little.
ScriptedProgram Loader(unsigned seed) {
  ScriptedProgram program(seed);
  program.treatments["loader.workers"].values = {{"0", 4.0}, {"1", 2.0}, {"2", 1.0}, {"4", 1.5}};
  program.treatments["loader.pin_memory"].values = {{"off", 1.0}, {"on", 1.25}};
  return program;
}

const std::vector<std::string> kLoaderGrid = {"loader.workers=0,1,2,4", "loader.pin_memory=0,1"};

TEST(SweepGrid, ParsesSettings) {
  const auto axes = Grid({"loader.workers=0, 2,4", "loader.pin_memory=0,1"});
  EXPECT_THAT(axes[0].values, ElementsAre("0", "2", "4"));
  EXPECT_THAT(axes[1].values, ElementsAre("off", "on")) << "a switch takes 0 and 1";
  const auto cells = CellsOf(axes);
  ASSERT_EQ(cells.size(), 6u);
  EXPECT_THAT(cells[1].values, ElementsAre("0", "on"));
  EXPECT_EQ(CellName(axes, cells[5]), "loader.workers=4, loader.pin_memory=on");
}

TEST(SweepGrid, MistakesAreNamed) {
  EXPECT_THAT(Mistake({}), HasSubstr("no grid named"));
  EXPECT_THAT(Mistake({"loader.workers"}), HasSubstr("is not of the form KEY=VALUE"));
  EXPECT_THAT(Mistake({"loader.wokers=1"}), HasSubstr("did you mean loader.workers?"));
  EXPECT_THAT(Mistake({"loader.workers="}), HasSubstr("has no values"));
  EXPECT_THAT(Mistake({"loader.workers=1,2,1"}), HasSubstr("holds 1 twice"));
  EXPECT_THAT(Mistake({"threads=1;2"}), HasSubstr("is not a value"));
  EXPECT_THAT(Mistake({"threads=1", "threads=2"}), HasSubstr("is named twice"));
  EXPECT_THAT(Mistake({"threads=1,2,3,4,5,6,7,8,9,10,11", "loader.workers=1,2,3,4,5,6,7,8,9,10"}),
              HasSubstr("at most 100"));
}

TEST(SweepGrid, NeighboursAreOneStepAway) {
  const auto axes = Grid({"loader.workers=4,0,2,1", "optimizer.impl=single,foreach,fused"});
  std::vector<bool> live(12, true);
  // workers=2, foreach: 1 and 4 beside it, and every other word.
  EXPECT_THAT(NeighboursOf(axes, 2 * 3 + 1, live), UnorderedElementsAre(3 * 3 + 1, 1, 2 * 3, 2 * 3 + 2));
  live[3 * 3 + 1] = false;  // workers=1 is out: 0 is next
  EXPECT_THAT(NeighboursOf(axes, 2 * 3 + 1, live), UnorderedElementsAre(3 + 1, 1, 2 * 3, 2 * 3 + 2));
  EXPECT_THAT(NeighboursOf(axes, 1, live), UnorderedElementsAre(2 * 3 + 1, 0, 2)) << "nothing lies above 4";
}

TEST(SweepGrid, PublishedFiguresStandBesideTheSameGrid) {
  SweepFacts sweep;
  sweep.axes = Grid({"loader.workers=0,3,10", "loader.pin_memory=0,1"});
  sweep.cells = CellsOf(sweep.axes);
  AddPublished(sweep);
  EXPECT_EQ(sweep.cells[0].published_s, 25.26);
  EXPECT_FALSE(sweep.cells[2].published_s) << "nobody gave 3 workers";
  EXPECT_EQ(sweep.cells[5].published_s, 6.49);
  EXPECT_FALSE(sweep.published.empty());
  SweepFacts other;
  other.axes = Grid({"loader.workers=0,10"});
  other.cells = CellsOf(other.axes);
  AddPublished(other);
  EXPECT_TRUE(other.published.empty() && other.notes.empty());
}

TEST(Sweep, FindsTheBestCellAndComparesItOnFreshLaunches) {
  ScriptedProgram program = Loader(3);
  const auto [report, result] = Swept(Input(kLoaderGrid), program);
  ASSERT_TRUE(result.ok());
  const SweepFacts& sweep = *report.sweep;
  ASSERT_TRUE(sweep.best);
  EXPECT_EQ(CellName(sweep.axes, sweep.cells[*sweep.best]), "loader.workers=2, loader.pin_memory=off");
  EXPECT_TRUE(sweep.stands_out) << sweep.verdict;
  EXPECT_EQ(sweep.verdict, "loader.workers=2, loader.pin_memory=off is faster than each of its neighbours");
  // 1 and 4 workers, pinned, and the program as it is.
  ASSERT_EQ(sweep.comparisons.size(), 4u);
  for (const SweepComparison& one : sweep.comparisons) {
    EXPECT_EQ(one.n, 8);
    EXPECT_EQ(one.method, "pooled");
    EXPECT_GE(*one.p_holm, *one.p);
  }
  EXPECT_NEAR(*sweep.comparisons[0].speedup / 2.0, 1, 0.1);
  EXPECT_NEAR(*sweep.cells[0].ratio / 4.0, 1, 0.1);
  EXPECT_TRUE(sweep.cells.back().values.empty()) << "no cell was the program's own";
  int grid = 0, fresh = 0;
  for (const LaunchSpec& spec : program.log) {
    grid += spec.label.starts_with("grid");
    fresh += spec.label.starts_with("fresh");
  }
  EXPECT_EQ(grid, 4 * 9);
  EXPECT_EQ(fresh, 8 * 5);
}

// Cells that are all alike: the share of sweeps that call any of them best.
TEST(Sweep, EqualCellsAreRarelyCalled) {
  int called = 0;
  const int sweeps = 300;
  for (int seed = 0; seed < sweeps; ++seed) {
    ScriptedProgram program(seed);
    program.drift = 0.002;
    const auto [report, result] = Swept(Input({"threads=1,2,3,4", "loader.workers=1,2"}, 6, seed), program);
    ASSERT_TRUE(result.ok());
    const SweepFacts& sweep = *report.sweep;
    called += std::ranges::any_of(sweep.comparisons, [](const auto& one) {
      return one.verdict == TrialVerdict::kFaster || one.verdict == TrialVerdict::kSlower;
    });
    EXPECT_EQ(sweep.stands_out, sweep.verdict.find("is faster than") != std::string::npos) << sweep.verdict;
  }
  EXPECT_LE(called, 24) << "5 % and three standard deviations";
}

TEST(Sweep, CellsThatCannotBeMeasuredAreShown) {
  ScriptedProgram program = Loader(5);
  program.treatments["loader.pin_memory"].not_applicable = "there is no accelerator to copy to";
  program.treatments["loader.workers"].values["4"] = 1;
  program.dies = [](const LaunchSpec& spec, int) { return spec.label.find("loader.workers=4") != std::string::npos; };
  const auto [report, result] = Swept(Input(kLoaderGrid), program);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(report.sweep->verdict, "no cell of the grid could be measured");
  EXPECT_FALSE(report.sweep->best);
  EXPECT_EQ(report.sweep->cells[0].verdict, CellVerdict::kNotApplicable);
  EXPECT_THAT(report.sweep->cells[0].reason, HasSubstr("no accelerator"));
  EXPECT_EQ(report.sweep->cells[6].verdict, CellVerdict::kFailed);
  EXPECT_THAT(report.sweep->cells[6].reason, HasSubstr("it went wrong"));
}

TEST(Sweep, ACellThatFailsInItsBlocksLeavesTheOthers) {
  ScriptedProgram program = Loader(6);
  program.dies = [](const LaunchSpec& spec, int) {
    return spec.label.starts_with("grid 2") && spec.label.find("loader.workers=2") != std::string::npos;
  };
  const auto [report, result] = Swept(Input({"loader.workers=0,1,2,4"}), program);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(report.sweep->cells[2].verdict, CellVerdict::kFailed);
  EXPECT_THAT(report.sweep->cells[2].reason, HasSubstr("in grid 2"));
  EXPECT_EQ(CellName(report.sweep->axes, report.sweep->cells[*report.sweep->best]), "loader.workers=4");
  ASSERT_EQ(report.sweep->comparisons.size(), 2u) << "1, the next below, and the program as it is";
  EXPECT_EQ(report.sweep->comparisons[0].cell, 1);
}

TEST(Sweep, StepsOfOtherSizesAreComparedPerSample) {
  ScriptedProgram program(7);
  auto& batch = program.treatments["batch.size"];
  batch.values = {{"64", 1.6}};
  batch.samples = 64;
  const auto [report, result] = Swept(Input({"batch.size=64"}), program);
  ASSERT_TRUE(result.ok());
  const SweepFacts& sweep = *report.sweep;
  EXPECT_EQ(sweep.metric, "sample-time");
  ASSERT_EQ(sweep.comparisons.size(), 1u) << "only the program as it is";
  EXPECT_NEAR(*sweep.comparisons[0].speedup, 2 / 1.6, 0.06);
}

TEST(Sweep, AFailingProgramIsExitFour) {
  ScriptedProgram program(1);
  program.dies = [](const LaunchSpec&, int) { return true; };
  const auto [report, result] = Swept(Input({"threads=1,2"}), program);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().exit_code, 4);
  EXPECT_FALSE(report.sweep);
}

TEST(Sweep, ALoaderThatNobodyMeasuresAloneIsSaid) {
  ScriptedProgram program(1);
  program.treatments["loader.only"].not_applicable = "no DataLoader was trained from";
  SweepInput input = Input({"loader.workers=0,1"});
  input.loader_only = true;
  const auto [report, result] = Swept(input, program);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().exit_code, 3);
  EXPECT_THAT(result.error().Message(), HasSubstr("no DataLoader was trained from"));
  // Where it can be, every launch asks for it.
  ScriptedProgram able = Loader(2);
  const auto [grid, done] = Swept(input, able);
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(grid.sweep->loader_only);
  for (const LaunchSpec& spec : able.log)
    EXPECT_THAT(spec.treatment, testing::Contains(testing::Pair("loader.only", "on")));
}

TEST(Sweep, TooSmallABudgetCallsNothing) {
  ScriptedProgram program = Loader(4);
  SweepInput input = Input(kLoaderGrid);
  input.options.budget_s = 90;
  program.startup_s = 4;
  const auto [report, result] = Swept(input, program);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(report.sweep->stands_out);
  EXPECT_THAT(report.sweep->notes, testing::Contains(HasSubstr("fewer than 4 fresh blocks")));
}

TEST(Sweep, ABudgetTooSmallForAllCellsLeavesTheLastOut) {
  for (double budget_s = 140; budget_s < 500; budget_s += 40) {
    ScriptedProgram program = Loader(12);
    program.ms_per_step = 20;
    program.startup_s = 2;
    SweepInput input = Input(kLoaderGrid);
    input.options.budget_s = budget_s;
    const auto [report, result] = Swept(input, program);
    ASSERT_TRUE(result.ok());
    const auto& cells = report.sweep->cells;
    const auto left_out = std::ranges::count(cells, CellVerdict::kLeftOut, &SweepCell::verdict);
    EXPECT_EQ(left_out > 0, cells[7].verdict == CellVerdict::kLeftOut) << "the last go first";
    EXPECT_TRUE(left_out == 0 || cells[7].reason.find("--budget") != std::string::npos);
    EXPECT_NE(cells[0].verdict, CellVerdict::kLeftOut) << budget_s;
    EXPECT_FALSE(report.sweep->comparisons.empty()) << budget_s << ": the quickest has its fresh blocks";
    double spent_s = 0;
    for (const LaunchSpec& spec : std::vector<LaunchSpec>(program.log)) spent_s += program(spec).wall_s;
    EXPECT_LE(spent_s, 1.1 * budget_s);
  }
}

TEST(Sweep, ResumesWhereItStopped) {
  const auto folder = std::filesystem::temp_directory_path() / ("sweep_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  SweepInput input = Input({"loader.workers=0,1,2,4"});
  input.journal = folder / "journal.jsonl";
  ScriptedProgram first = Loader(9);
  ExperimentEvents events;
  events.stop = [&] { return first.log.size() >= 20; };
  const auto [cut, cut_result] = Swept(input, first, events);
  ASSERT_TRUE(cut_result.ok());
  EXPECT_FALSE(cut.sweep->stands_out);
  input.options.resume = true;
  ScriptedProgram second = Loader(10);
  const auto [whole, whole_result] = Swept(input, second);
  ASSERT_TRUE(whole_result.ok());
  EXPECT_TRUE(whole.sweep->stands_out) << whole.sweep->verdict;
  EXPECT_EQ(second.log.size() + 19, 5u + 4 * 5 + 8 * 4) << "what was finished is not launched again";
  input.axes = Grid({"loader.workers=0,1"});
  EXPECT_FALSE(Swept(input, second).result.ok()) << "another plan";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace loopscope
