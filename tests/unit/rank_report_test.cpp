#include "profiler/diagnosis/rank_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profiler/core/file_text.h"
#include "profiler/diagnosis/rank_inputs.h"
#include "profiler/diagnosis/report_from.h"
#include "profiler/diagnosis/summaries.h"
#include "reports/json/report_json.h"
#include "tests/support/capture_builder.h"
#include "tests/support/nsys_builder.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;
using test::CaptureBuilder;
using test::NsysBuilder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RankSummary Summary(const std::string& input, int rank = -1, int ranks = 1) {
  RankSummary summary;
  summary.input = input;
  summary.run.rank = rank;
  summary.run.ranks = ranks;
  summary.run.command = {"python", "train.py"};
  summary.steps = 10;
  summary.mean_step_ms = 10;
  summary.own_step_ms.assign(10, 9.0f);
  return summary;
}

std::vector<int> Numbers(const RankSelection& selection) {
  std::vector<int> numbers;
  for (const RankSummary& one : selection.ranks) numbers.push_back(one.run.rank);
  return numbers;
}

std::vector<std::string> Inputs(const RankSelection& selection) {
  std::vector<std::string> inputs;
  for (const RankSummary& one : selection.ranks) inputs.push_back(one.input);
  return inputs;
}

TEST(SelectRanks, NumbersComeFromTheTracesFirst) {
  const RankSelection selection = SelectRanks({Summary("rank7.json", 1, 2), Summary("rank8.json", 0, 2)});
  EXPECT_THAT(Numbers(selection), ElementsAre(0, 1));
  EXPECT_THAT(Inputs(selection), ElementsAre("rank8.json", "rank7.json"));
  EXPECT_THAT(selection.warnings, IsEmpty());
}

TEST(SelectRanks, ProcessesThatTrainOneAfterAnotherAreNone) {
  std::vector<RankSummary> folds;
  for (const std::int64_t start : {50, 10, 90, 15}) {
    RankSummary fold = Summary(std::to_string(start) + ".cap");
    fold.run.source = "capture";
    fold.trained = {start, start + 30};
    folds.push_back(fold);
  }
  const RankSelection beside = SelectRanks(folds);
  EXPECT_THAT(Inputs(beside), ElementsAre("10.cap", "15.cap"));
  EXPECT_THAT(beside.warnings, Contains(HasSubstr("2 more processes trained after this one")));
  for (RankSummary& fold : folds) fold.run.ranks = 4;
  for (int n = 0; n < 4; ++n) folds[n].run.rank = n;
  EXPECT_THAT(Numbers(SelectRanks(folds)), ElementsAre(0, 1, 2, 3));
}

TEST(SelectRanks, TheMachineIsTheTracesOrInItsName) {
  RankSummary said = Summary("out/node3_47.1719.pt.trace.json", 0, 6);
  said.run.node = "node1";
  const RankSelection selection =
      SelectRanks({said, Summary("out/node_3_4711.1719390000.pt.trace.json.gz", 1, 6), Summary("out/rank2.json", 2, 6),
                   Summary("out/17.1719.pt.trace.json", 3, 6), Summary("out/_17.1719.pt.trace.json", 4, 6),
                   Summary(".pt.trace.json", 5, 6)});
  std::vector<std::string> nodes;
  for (const RankSummary& one : selection.ranks) nodes.push_back(one.run.node);
  EXPECT_THAT(nodes, ElementsAre("node1", "node_3", "", "", "", ""));
}

TEST(SelectRanks, ThenFromNames) {
  const RankSelection selection =
      SelectRanks({Summary("d/a_rank1of3.json"), Summary("d/a_rank-0of3.json"), Summary("d/rank_2/trace.json")});
  EXPECT_THAT(Numbers(selection), ElementsAre(0, 1, 2));
  EXPECT_EQ(selection.ranks[2].input, "d/rank_2/trace.json");
  EXPECT_THAT(selection.warnings, IsEmpty());
}

TEST(SelectRanks, ThenFromDevicesElseTheyAreCounted) {
  RankSummary first = Summary("a.sqlite, pid 1"), second = Summary("a.sqlite, pid 2");
  first.devices.resize(1);
  first.devices[0].ordinal = 1;
  second.devices.resize(1);
  EXPECT_THAT(Inputs(SelectRanks({first, second})), ElementsAre("a.sqlite, pid 2", "a.sqlite, pid 1"));
  second.devices[0].ordinal = 1;
  const RankSelection counted = SelectRanks({first, second});
  EXPECT_THAT(Numbers(counted), ElementsAre(0, 1));
  EXPECT_THAT(counted.warnings, ElementsAre(HasSubstr("do not say which rank")));
}

TEST(SelectRanks, MissingOnesAreNamed) {
  const RankSelection selection = SelectRanks({Summary("a", 0, 6), Summary("b", 3, 6)});
  EXPECT_THAT(selection.warnings, ElementsAre("4 of 6 ranks are missing: 1, 2, 4, 5"));
  EXPECT_THAT(SelectRanks({Summary("a", 0, 2000000), Summary("b", 1, 2000000)}).warnings,
              ElementsAre("1999998 of 2000000 ranks are missing: 2, 3, 4, 5, 6, 7, 8, 9 …"));
  EXPECT_THAT(SelectRanks({Summary("a", 1, 2)}).warnings, ElementsAre("1 of 2 ranks is missing: 0"));
}

TEST(SelectRanks, RanksThatDisagreeOnTheStepsAreNamed) {
  RankSummary first = Summary("a", 0, 2), second = Summary("b", 1, 2);
  first.all_steps = 50, second.all_steps = 46;
  EXPECT_THAT(SelectRanks({first, second}).warnings, IsEmpty());
  second.all_steps = 25;
  EXPECT_THAT(SelectRanks({first, second}).warnings,
              ElementsAre("the ranks disagree on the number of steps: rank 0 took 50, rank 1 took 25"));
}

TEST(SelectRanks, AnotherRunIsLeftOutAndNamed) {
  std::vector<RankSummary> all = {Summary("a", 0, 4), Summary("b", 1, 4), Summary("c", 2, 4), Summary("d", 3, 4)};
  all[0].run.command = {"python", "train.py", "--rank=0", "--port", "29500"};
  for (int i = 1; i < 4; ++i) all[i].run.command = {"python", "train.py", "--rank=12", "--port", "5"};
  EXPECT_THAT(SelectRanks(all).warnings, IsEmpty()) << "numbers may differ";
  all[1].run.command[1] = "other.py";
  EXPECT_THAT(SelectRanks(all).warnings, Contains("b is left out as of another run: it ran another program"));
  all[1].run.command[1] = "train.py";
  all[2].run.ranks = 8;
  EXPECT_THAT(SelectRanks(all).warnings, Contains("c is left out as of another run: its run has 8 ranks, not 4"));
  all[2].run.ranks = 4;
  for (RankSummary& one : all) one.run.started = "2026-05-01T10:00:00Z";
  all[3].run.started = "2026-05-01T10:09:00Z";
  EXPECT_THAT(SelectRanks(all).warnings, IsEmpty());
  all[3].run.started = "2026-05-01T12:00:00Z";
  const RankSelection selection = SelectRanks(all);
  EXPECT_THAT(Inputs(selection), ElementsAre("a", "b", "c"));
  EXPECT_THAT(selection.warnings,
              ElementsAre("d is left out as of another run: it started 120 minutes after the others",
                          "1 of 4 ranks is missing: 3"));
}

TEST(SelectRanks, WhatTrainedNothingBesideRanksIsNoRank) {
  RankSummary launcher = Summary("torchrun.cap");
  launcher.steps = 0;
  EXPECT_THAT(Inputs(SelectRanks({launcher, Summary("a", 0, 2), Summary("b", 1, 2)})), ElementsAre("a", "b"));
  RankSummary worker = launcher;
  worker.input = "worker.cap";
  EXPECT_EQ(SelectRanks({launcher, worker}).ranks.size(), 2u) << "nothing trained: all stay";
}

class RankFolder : public testing::Test {
 protected:
  RankFolder() {
    std::string pattern = fs::temp_directory_path() / "loopscope-ranks-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~RankFolder() override { fs::remove_all(folder_); }

  // Twelve steps: `own_ms` of forward and backward, then an all-reduce up to 20 ms.
  void AddNsys(const std::string& name, double own_ms) const {
    NsysBuilder nsys(folder_ / name);
    for (std::int64_t step = 0; step < 12; ++step) {
      const std::int64_t at = 1'000'000'000 + step * 20'000'000;
      const std::int64_t own = at + static_cast<std::int64_t>(own_ms * 1e6);
      nsys.Range(9, 9, "step " + std::to_string(step), at, at + 20'000'000);
      nsys.Range(9, 9, "backward", at, own);
      nsys.Kernel(9, 0, 7, "gemm", at, own);
      nsys.Kernel(9, 0, 8, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", own, at + 20'000'000);
    }
    nsys.Close();
  }

  // A step of 10 ms: an op, then gloo's all-reduce on a thread of its own until the end of the backward pass. With
  // `in_hook` it is waited for in a hook on a gradient, which first takes 1 ms for an op of its own.
  void AddGlooCapture(const std::string& name, int rank, std::uint64_t op_ns, bool in_hook = false) const {
    CaptureBuilder capture;
    capture.Fact("rank", std::to_string(rank));
    capture.Fact("ranks", "2");
    for (std::uint64_t step = 0; step < 40; ++step) {
      const std::uint64_t at = 1'000'000 + 10'000'000 * step;
      capture.On(100, 100);
      capture.Op("aten::linear", at, at + op_ns, wire::kOpGraph | wire::kOpOutermost, static_cast<std::uint32_t>(step));
      capture.Range(wire::RangeCategory::kBackward, "backward", at + op_ns, at + 8'000'000);
      if (in_hook) {
        capture.Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", at + op_ns, at + 8'000'000,
                   wire::kOpOutermost, 0);
        capture.Op("torch::autograd::AccumulateGrad", at + op_ns, at + op_ns + 200'000, 0, 0);
        capture.Op("aten::div_", at + op_ns + 500'000, at + op_ns + 1'500'000, 0, 0);
      }
      capture.Mark(wire::MarkKind::kStepEnd, "optimizer:SGD#1", at + 9'999'999, 32);
      capture.On(100, 200);
      capture.Range(wire::RangeCategory::kUser, "gloo:all_reduce", at + op_ns - 500'000, at + 8'000'000);
    }
    capture.Save(folder_ / name);
  }

  void AddCapture(const std::string& name, int steps, int rank, int ranks) const {
    CaptureBuilder capture;
    if (rank >= 0) {
      capture.Fact("rank", std::to_string(rank));
      capture.Fact("ranks", std::to_string(ranks));
    }
    capture.Op("aten::linear", 500, 700, wire::kOpGraph, 1);
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t at = 1'000'000 + 10'000'000ull * static_cast<std::uint64_t>(step);
      capture.Range(wire::RangeCategory::kBackward, "backward", at, at + 4'000'000);
      capture.Mark(wire::MarkKind::kStepEnd, "optimizer:SGD#1", at + 9'000'000, 32);
    }
    fs::create_directories((folder_ / name).parent_path());
    capture.Save(folder_ / name);
  }

  Report Read() const {
    Result<Report> report = ReportFrom(folder_);
    EXPECT_TRUE(report) << (report ? "" : report.error().Message());
    return report ? std::move(*report) : Report{};
  }

  fs::path folder_;
};

TEST_F(RankFolder, TracesOfRanksBecomeOneReport) {
  AddNsys("rank0.sqlite", 12);
  AddNsys("rank1.sqlite", 18);
  AddNsys("rank2.sqlite", 11);
  std::ofstream(folder_ / "notes.txt") << "not a trace";
  const Report report = Read();
  ASSERT_EQ(report.per_rank.size(), 3u);
  EXPECT_EQ(report.run.ranks, 3);
  EXPECT_EQ(report.run.rank, 1) << "the rank that the others wait for is shown";
  EXPECT_TRUE(report.per_rank[1].shown);
  EXPECT_NEAR(*report.per_rank[0].mean_ms, 20, 1e-6);
  EXPECT_NEAR(*report.per_rank[0].own_ms, 12, 1e-4);
  EXPECT_NEAR(*report.per_rank[0].communication_exposed_ms, 8, 1e-4);
  EXPECT_NEAR(*report.per_rank[2].busy_pct, 100, 1e-6);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].rule, "straggler");
  // Rank 0's kernels run 6 ms longer than rank 1's, rank 2's 7 ms.
  EXPECT_NEAR(report.findings[0].cost_ms_per_step, 6.5, 0.01);
  EXPECT_THAT(report.findings[0].title, HasSubstr("for rank 1"));
}

TEST_F(RankFolder, TheSameWhateverWasReadFirst) {
  for (int rank = 0; rank < 6; ++rank) AddNsys("rank" + std::to_string(rank) + ".sqlite", 10);
  for (int round = 0; round < 3; ++round) {
    const Report report = Read();
    EXPECT_EQ(report.run.rank, 0);
    EXPECT_EQ(report.per_rank.size(), 6u);
  }
}

TEST_F(RankFolder, WhatCannotBeReadIsNamedAndTheRestIsUsed) {
  AddNsys("rank0.sqlite", 12);
  AddNsys("rank1.sqlite", 12);
  std::ofstream(folder_ / "rank2.sqlite", std::ios::binary) << std::string("SQLite format 3\0", 16) << "torn";
  std::ofstream(folder_ / "rank3.nsys-rep") << "report";
  const Report report = Read();
  EXPECT_EQ(report.per_rank.size(), 2u);
  EXPECT_THAT(report.quality.warnings, Contains(HasSubstr("rank2.sqlite: is a damaged SQLite database")));
  EXPECT_THAT(report.quality.warnings, Contains(HasSubstr("rank3.nsys-rep: is a report of Nsight Systems")));
}

TEST_F(RankFolder, FilesThatAreNoTracesArePassedOver) {
  AddNsys("rank0.sqlite", 12);
  AddNsys("rank1.sqlite", 12);
  std::ofstream(folder_ / "settings.json") << R"({"lr": 0.1, "traces": ["a", "b"]})";
  std::ofstream(folder_ / "metrics.jsonl") << "{\"step\": 1}\n{\"step\": 2}\n";
  std::ofstream(folder_ / "train.log") << "[INFO] step 1\n";
  EXPECT_THAT(Read().quality.warnings, testing::Not(Contains(HasSubstr(folder_.filename().string()))));
}

TEST_F(RankFolder, WithoutATraceIsSaidOfTheFolder) {
  std::ofstream(folder_ / "settings.json") << R"({"lr": 0.1})";
  const Result<Report> report = ReportFrom(folder_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().what, "holds no trace");
  EXPECT_EQ(report.error().where, folder_.string());
}

TEST_F(RankFolder, NothingReadableIsAnError) {
  std::ofstream(folder_ / "a.nsys-rep") << "report";
  std::ofstream(folder_ / "b.nsys-rep") << "report";
  const Result<Report> report = ReportFrom(folder_);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().Message(), HasSubstr("nsys export --type sqlite"));
}

TEST_F(RankFolder, CapturesOfALauncherAndItsRanks) {
  AddCapture("torchrun-1.cap", 0, -1, 0);
  AddCapture("python-2.cap", 12, 1, 2);
  AddCapture("python-3.cap", 12, 0, 2);
  const Report report = Read();
  ASSERT_EQ(report.per_rank.size(), 2u);
  EXPECT_THAT(report.per_rank[0].input, HasSubstr("python-3.cap"));
  EXPECT_NEAR(*report.per_rank[0].mean_ms, 10, 1e-6);
  EXPECT_FALSE(report.per_rank[0].communication_exposed_ms) << "none was recorded";
  EXPECT_EQ(report.run.ranks, 2);
}

TEST_F(RankFolder, AHookThatWaitsForGlooDoesNotWork) {
  AddGlooCapture("python-2.cap", 0, 3'000'000, /*in_hook=*/true);
  AddGlooCapture("python-3.cap", 1, 7'000'000);
  const Report report = Read();
  ASSERT_EQ(report.per_rank.size(), 2u);
  EXPECT_NEAR(*report.per_rank[0].communication_exposed_ms, 4, 1e-3) << "all of 5 ms but the hook's own operator";
}

TEST_F(RankFolder, GlooTellsTheLateRankOnACpu) {
  AddGlooCapture("python-2.cap", 0, 3'000'000);
  AddGlooCapture("python-3.cap", 1, 7'000'000);
  const Report report = Read();
  ASSERT_EQ(report.per_rank.size(), 2u);
  EXPECT_NEAR(*report.per_rank[0].communication_exposed_ms, 5, 1e-3) << "what runs under an operator is not exposed";
  EXPECT_NEAR(*report.per_rank[1].own_ms, 9, 1e-3);
  const auto found = std::ranges::find(report.findings, "straggler", &Finding::rule);
  ASSERT_NE(found, report.findings.end());
  EXPECT_THAT(found->title, HasSubstr("for rank 1"));
  EXPECT_NEAR(found->cost_ms_per_step, 4, 1e-3);
}

TEST_F(RankFolder, OneRankBesideItsWorkersStaysOneReport) {
  AddCapture("python-1.cap", 12, -1, 0);
  AddCapture("worker-2.cap", 0, -1, 0);
  const Report report = Read();
  EXPECT_THAT(report.per_rank, IsEmpty());
  EXPECT_NEAR(*report.steps.mean_ms, 10, 1e-6);
  EXPECT_EQ(report.timeline->trace().threads.size(), 2u) << "the worker is a thread beside it";
}

TEST_F(RankFolder, RunFoldersOfRanksInOneFolder) {
  AddCapture("rank0/a.cap", 12, 0, 3);
  AddCapture("rank2/a.cap", 12, 2, 3);
  const Report report = Read();
  EXPECT_EQ(report.per_rank.size(), 2u);
  EXPECT_THAT(report.quality.warnings, Contains("1 of 3 ranks is missing: 1"));
}

TEST_F(RankFolder, ProcessesOfOneExportAreRanks) {
  NsysBuilder nsys(folder_ / "both.sqlite");
  for (std::int64_t pid : {5, 6}) {
    for (std::int64_t step = 0; step < 12; ++step) {
      nsys.Range(pid, 9, "step", step * 1'000'000, step * 1'000'000 + 900'000);
      nsys.Kernel(pid, pid - 5, 7, "gemm", step * 1'000'000, step * 1'000'000 + 500'000);
    }
  }
  const Result<Report> report = ReportFrom(nsys.Close());
  ASSERT_TRUE(report) << report.error().Message();
  ASSERT_EQ(report->per_rank.size(), 2u);
  EXPECT_THAT(report->per_rank[1].input, HasSubstr("both.sqlite, pid 6"));
  EXPECT_THAT(report->quality.warnings, testing::Not(Contains(HasSubstr("is shown"))));
}

class RanksOfTraces : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  fs::path folder_ = fs::path(testing::TempDir()) / ("traces_" + std::to_string(getpid()));
};

// Steps of 10 ms with an allreduce of 80 MB between two ranks that begins `late_ms` into the backward pass and ends at
// 8 ms: on the rank that comes last it takes as long as the transfer.
std::string RankTrace(int rank, double late_ms) {
  std::string events;
  for (int step = 0; step < 8; ++step) {
    const double at = 1000 + 10'000.0 * step;
    const auto add = [&](const char* category, const char* name, double start_ms, double length_ms,
                         const std::string& args, const char* ids = R"("pid": 7, "tid": 7)") {
      events += fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", {}, "ts": {}, "dur": {}, "args": {{{}}}}},)",
                            category, name, ids, at + 1000 * start_ms, 1000 * length_ms, args);
    };
    const char* const device = R"("pid": 0, "tid": 7)";
    const std::string call = fmt::format(R"("correlation": {})", 10 * step + 1);
    const std::string other = fmt::format(R"("correlation": {})", 10 * step + 2);
    add("user_annotation", fmt::format("ProfilerStep#{}", step + 3).c_str(), 0, 10, "");
    add("user_annotation", "backward", 1, 7.5, "");
    add("cuda_runtime", "cudaLaunchKernel", 0.1, 0.01, other);
    add("kernel", "gemm", 0.2, late_ms - 0.2, R"("device": 0, "stream": 7, )" + other, device);
    add("cuda_runtime", "cudaLaunchKernelExC", 1.1, 0.01, call);
    add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", late_ms, 8 - late_ms,
        R"("device": 0, "stream": 20, "Collective name": "allreduce", "In msg nelems": 20000000,
           "Out msg nelems": 20000000, "Group size": 2, "dtype": "Float", "Process Group Name": "0",
           "Process Group Description": "default_pg", )" +
            call,
        device);
  }
  return fmt::format(R"({{"distributedInfo": {{"rank": {}, "world_size": 2}}, "traceEvents": [{} {{"ph": "M"}}]}})",
                     rank, events);
}

TEST_F(RanksOfTraces, CollectivesHaveTheirBandwidthAndTheirWaiting) {
  Write("rank0.json", RankTrace(0, 3));
  Write("rank1.json", RankTrace(1, 6));
  const auto report = ReportFrom(folder_);
  ASSERT_TRUE(report.ok()) << report.error().Message();
  ASSERT_EQ(report->collectives.size(), 1u);
  const CollectiveRow& row = report->collectives[0];
  EXPECT_EQ(row.group, "0 (default_pg)");
  EXPECT_EQ(row.operation, "allreduce");
  EXPECT_EQ(row.phase, "backward");
  EXPECT_EQ(row.ranks, 2);
  EXPECT_DOUBLE_EQ(row.count, 1);
  EXPECT_NEAR(*row.mbytes, 80, 1e-6);
  EXPECT_NEAR(*row.bus_gbytes_per_s, 40, 1e-6);  // 80 MB in the 2 ms of rank 1, times 2 (n - 1) / n
  EXPECT_NEAR(*row.skew_ms, 1.5, 1e-6);          // 3 ms on one of two ranks
  const auto straggler = std::ranges::find(report->findings, "straggler", &Finding::rule);
  ASSERT_NE(straggler, report->findings.end());
  EXPECT_THAT(straggler->title, HasSubstr("for rank 1"));
  EXPECT_TRUE(std::ranges::any_of(straggler->evidence, [](const Evidence& one) {
    return one.text == "ranks wait most in allreduce of group 0 (default_pg) in backward";
  }));
}

TEST_F(RanksOfTraces, OneRanksBandwidthIncludesItsWaiting) {
  Write("rank0.json", RankTrace(0, 3));
  const auto report = ReportFrom(folder_ / "rank0.json");
  ASSERT_TRUE(report.ok()) << report.error().Message();
  ASSERT_EQ(report->collectives.size(), 1u);
  EXPECT_NEAR(*report->collectives[0].bus_gbytes_per_s, 16, 1e-6);  // 80 MB in 5 ms
  EXPECT_NEAR(report->collectives[0].exposed_ms, 5, 1e-6);
  EXPECT_FALSE(report->collectives[0].skew_ms);
  const auto exposed = std::ranges::find(report->findings, "exposed-communication", &Finding::rule);
  ASSERT_NE(exposed, report->findings.end());
  EXPECT_THAT(exposed->evidence.at(1).text, HasSubstr("allreduce of group 0 (default_pg) in backward: 5.0"));
}

TEST_F(RanksOfTraces, ADumpOfEachRankTellsWhoNeverCame) {
  const auto dump = [](int collectives, bool last_ended) {
    std::string entries;
    for (int i = 1; i <= collectives; ++i) {
      entries += fmt::format(
          R"({}{{"profiling_name": "nccl:all_reduce", "process_group": ["0", "default_pg"], "collective_seq_id": {},
              "time_created_ns": 1795737817000000000, "state": "{}"}})",
          i > 1 ? "," : "", i, i < collectives || last_ended ? "completed" : "started");
    }
    return R"({"pg_config": {"0": {"ranks": "[0, 1]"}}, "entries": [)" + entries + "]}";
  };
  Write("nccl_trace_rank_0", dump(6, false));
  Write("nccl_trace_rank_1", dump(5, true));
  const auto report = ReportFrom(folder_);
  ASSERT_TRUE(report.ok()) << report.error().Message();
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_THAT(report->findings[0].title, HasSubstr("rank 1 never entered all_reduce #6"));
  EXPECT_EQ(report->per_rank.size(), 2u);
}

std::string JsonOf(const Report& report) {
  return ReportTree(report).dump(2);
}

class RankSummaries : public RankFolder {
 protected:
  // Writes a file of summaries for each trace in the folder, and returns their folder.
  fs::path Summarize() const {
    const fs::path to = folder_ / "summaries";
    fs::create_directory(to);
    for (const Input& input : RankInputs(folder_)) {
      const Summaries one = SummariesOf({input.path});
      EXPECT_EQ(one.ranks, 1) << input.path;
      std::ofstream(to / (input.path.filename().string() + ".summary")) << one.lines;
    }
    return to;
  }

  static Report Reduced(const std::vector<std::string>& inputs) {
    Result<Report> report = ReportOfSummaries(inputs);
    EXPECT_TRUE(report) << (report ? "" : report.error().Message());
    return report ? std::move(*report) : Report{};
  }
};

TEST_F(RankSummaries, GiveTheReportOfTheirTraces) {
  AddNsys("rank0.sqlite", 12);
  AddNsys("rank1.sqlite", 18);
  AddNsys("rank2.sqlite", 11);
  const Report whole = Read();
  ASSERT_EQ(whole.per_rank.size(), 3u);
  EXPECT_EQ(JsonOf(Reduced({Summarize()})), JsonOf(whole));
  const Summaries at_once = SummariesOf({folder_});
  EXPECT_EQ(at_once.ranks, 3);
  std::ofstream(folder_ / "all.summary") << at_once.lines;
  EXPECT_EQ(JsonOf(Reduced({folder_ / "all.summary"})), JsonOf(whole));
  const Result<Report> by_name = ReportFrom(folder_ / "all.summary");
  ASSERT_TRUE(by_name) << "known without --reduce too";
  EXPECT_EQ(JsonOf(*by_name), JsonOf(whole));
}

TEST_F(RankSummaries, GiveTheReportOfTheirCaptures) {
  AddGlooCapture("python-2.cap", 0, 3'000'000, /*in_hook=*/true);
  AddGlooCapture("python-3.cap", 1, 7'000'000);
  EXPECT_EQ(JsonOf(Reduced({Summarize()})), JsonOf(Read()));
}

TEST_F(RankSummaries, OneRankGivesItsOwnReport) {
  AddCapture("python-1.cap", 12, -1, 0);
  AddCapture("worker-2.cap", 0, -1, 0);
  const Summaries one = SummariesOf({folder_});
  EXPECT_EQ(one.ranks, 1);
  std::ofstream(folder_ / "one.summary") << one.lines;
  const Report report = Reduced({folder_ / "one.summary"});
  EXPECT_THAT(report.per_rank, IsEmpty());
  EXPECT_NEAR(*report.steps.mean_ms, 10, 1e-6);
}

TEST_F(RankSummaries, WhatIsDamagedIsNamedAndTheRestIsUsed) {
  for (int rank = 0; rank < 4; ++rank) AddNsys("rank" + std::to_string(rank) + ".sqlite", 10);
  const fs::path folder = Summarize();
  const auto text = [&](int rank) { return folder / fmt::format("rank{}.sqlite.summary", rank); };
  fs::resize_file(text(0), fs::file_size(text(0)) - 1);
  std::string newer = FileText(text(1));
  newer.replace(newer.find("summary/1"), 9, "summary/7");
  std::ofstream(text(1)) << newer;
  std::ofstream(folder / "notes.txt") << "left aside";
  const Report report = Reduced({folder});
  EXPECT_EQ(report.per_rank.size(), 2u);
  EXPECT_THAT(report.quality.warnings, Contains(HasSubstr("rank0.sqlite.summary: is cut short after 0 ranks")));
  EXPECT_THAT(report.quality.warnings, Contains(HasSubstr("loopscope.summary/7 is newer than loopscope.summary/1")));
  EXPECT_THAT(report.quality.warnings, testing::Not(Contains(HasSubstr("notes.txt"))));
}

TEST_F(RankSummaries, WithoutAnyThereIsAnError) {
  std::ofstream(folder_ / "a.json") << "{}";
  EXPECT_THAT(ReportOfSummaries({folder_}).error().Message(), HasSubstr("holds no summaries"));
  EXPECT_THAT(ReportOfSummaries({folder_ / "a.json"}).error().Message(), HasSubstr("not a file of ranks' summaries"));
  EXPECT_THAT(ReportOfSummaries({folder_ / "none"}).error().Message(), HasSubstr("no such file or folder"));
}

TEST_F(RankSummaries, ASummaryTwiceCountsOnce) {
  AddNsys("rank0.sqlite", 12);
  AddNsys("rank1.sqlite", 18);
  const fs::path folder = Summarize();
  const Report report = Reduced({folder, folder / "rank1.sqlite.summary"});
  EXPECT_EQ(report.per_rank.size(), 2u);
  EXPECT_THAT(report.quality.warnings, Contains(HasSubstr("rank1.sqlite is there twice")));
}

}  // namespace
}  // namespace loopscope
