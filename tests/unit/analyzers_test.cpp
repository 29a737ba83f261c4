// What holds for all rules together: each has its text and its cases, and Diagnose() puts their findings in order.
#include "analyzers/analyzers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "analyzers/diagnose/diagnose.h"
#include "analyzers/diagnose/rule_texts.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/seam.h"
#include "tests/support/case_reader.h"
#include "tests/support/trace_builder.h"

namespace loopscope {
namespace {

using test::Case;
using test::ParseCases;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::filesystem::path kRepository = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();

std::string StemOf(std::string_view id) {
  std::string stem(id);
  std::replace(stem.begin(), stem.end(), '-', '_');
  return stem;
}

Timeline TimelineOf(std::string_view text) {
  auto cases = ParseCases(text, "inline");
  if (!cases) throw std::runtime_error(cases.error().Message());
  return Timeline::Build(std::move(cases->at(0).trace));
}

// Waits for its data, reads the loss, and zeroes its gradients.
constexpr std::string_view kFlawed = R"(
case flawed
  step x10
    range loader 10us at=/src/train.cpp:30:Train
    gap 5ms
    op aten::conv2d 5ms graph
    op aten::item 2us at=/src/train.cpp:41:Train
    range backward 5ms
    range zero-grad 500us at=/src/train.cpp:43:Train
      op aten::zero_ 500us
    range optimizer 1ms value=10
  expect clear
)";

TEST(Diagnose, SaysWhichRulesAreBlindWithoutAProbe) {
  constexpr std::string_view kWithoutOps = R"(
case blind
  step x10
    range loader 10ms at=train.py:30:train
    range backward 5ms
    range optimizer 1ms value=10
  expect clear
)";
  auto cases = ParseCases(kWithoutOps, "inline");
  ASSERT_TRUE(cases) << cases.error().Message();
  Trace& trace = cases->at(0).trace;
  trace.strings.emplace_back("LibTorch probe off: built for another torch");
  trace.marks.insert(trace.marks.begin(), {.time_ns = 0,
                                           .kind = MarkKind::kProbeOff,
                                           .name = static_cast<StringId>(trace.strings.size() - 1),
                                           .value = static_cast<std::uint64_t>(wire::ProbeId::kTorch)});
  Report report;
  Diagnose(
      Timeline::Build(std::move(trace)), [](const Finding&) { return std::string(); }, report);
  for (const RuleRow& row : report.rules) {
    const bool needs_no_ops = row.id == "input-starvation";
    EXPECT_EQ(row.verdict, needs_no_ops ? Verdict::kFound : Verdict::kCannotTell) << row.id;
    if (!needs_no_ops) {
      EXPECT_THAT(row.reason, HasSubstr("built for another torch")) << row.id;
    }
  }
}

TEST(Diagnose, RulesAboutTheGraphCannotTellWithoutIt) {
  constexpr std::string_view kWithNorm = R"(
case from_a_profiler
  step x10
    op aten::conv2d 5ms graph inputs="f32[8,3,4,4];f32[4,3,3,3]!;f32[4]!"
    op aten::batch_norm 1ms graph inputs="f32[8,4,4,4]!;f32[4]!;f32[4]!;f32[4];f32[4];true;0.1;1e-05;true"
    range backward 5ms
    range optimizer 1ms value=10
  expect clear
)";
  for (const std::string_view id : {"bias-before-norm", "graph-retained"}) {
    for (const bool capture : {true, false}) {
      auto cases = ParseCases(kWithNorm, "inline");
      ASSERT_TRUE(cases) << cases.error().Message();
      Trace trace = std::move(cases->at(0).trace);
      if (!capture) trace.run.source = "kineto";
      const std::vector<Finding> findings = Judge(*FindById(AllAnalyzers(), id), Timeline::Build(std::move(trace)));
      EXPECT_EQ(findings.empty(), capture) << id;
      if (capture || findings.empty()) continue;
      EXPECT_EQ(findings[0].verdict, Verdict::kCannotTell);
      EXPECT_THAT(findings[0].reason, HasSubstr("made another's input"));
    }
  }
}

TEST(Analyzers, EachHasItsFiles) {
  for (const Analyzer* analyzer : AllAnalyzers()) {
    const std::string stem = StemOf(analyzer->id);
    EXPECT_TRUE(std::filesystem::exists(kRepository / "analyzers" / (stem + ".cpp"))) << stem;
    EXPECT_TRUE(std::filesystem::exists(kRepository / "analyzers" / (stem + ".md"))) << stem;
    EXPECT_TRUE(analyzer->question.ends_with("?")) << analyzer->id;
    EXPECT_EQ(FindById(AllAnalyzers(), analyzer->id), analyzer);
  }
  EXPECT_EQ(FindById(AllAnalyzers(), "no-such-rule"), nullptr);
}

TEST(Analyzers, EachHasACaseThatFiresAndOneThatIsQuiet) {
  for (const Analyzer* analyzer : AllAnalyzers()) {
    const auto cases = test::ReadCases(kRepository / "tests/cases" / (StemOf(analyzer->id) + ".case"));
    ASSERT_TRUE(cases.ok()) << cases.error().Message();
    std::set<Verdict> verdicts;
    std::set<std::string> names;
    for (const Case& one : *cases) {
      verdicts.insert(one.expectation.verdict);
      EXPECT_TRUE(names.insert(one.name).second) << analyzer->id << " has two cases " << one.name;
    }
    EXPECT_TRUE(verdicts.contains(Verdict::kFound)) << analyzer->id << " has no case that fires";
    EXPECT_TRUE(verdicts.contains(Verdict::kClear)) << analyzer->id << " has no quiet case";
    EXPECT_TRUE(verdicts.contains(Verdict::kCannotTell) || verdicts.contains(Verdict::kNotApplicable))
        << analyzer->id << " never abstains";
  }
}

TEST(Analyzers, EachCaseFileAndTextHasAnAnalyzer) {
  std::set<std::string> stems;
  for (const Analyzer* analyzer : AllAnalyzers()) stems.insert(StemOf(analyzer->id));
  for (const auto* folder : {"tests/cases", "analyzers"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kRepository / folder)) {
      const std::string extension = entry.path().extension();
      const bool text = extension == ".md" && entry.path().stem() != "README";
      if (extension != ".case" && !text) continue;
      EXPECT_TRUE(stems.contains(entry.path().stem())) << entry.path();
    }
  }
}

// Rules that cannot apply to a C++ loop: an interpreter's lock, workers with copies of an iterable data set.
const std::set<std::string_view> kOfPython = {"better-form", "gil-contention", "repeated-records"};

TEST(RuleTexts, HaveTitleFixAndSource) {
  for (const Analyzer* analyzer : AllAnalyzers()) {
    const std::string text(RuleText(analyzer->id));
    EXPECT_TRUE(text.starts_with("# " + std::string(analyzer->id) + ": ")) << analyzer->id;
    EXPECT_THAT(RuleTitle(analyzer->id), Not(IsEmpty()));
    EXPECT_THAT(text, HasSubstr("\n## When it fires\n"));
    EXPECT_THAT(text, HasSubstr("\n## Source\n"));
    EXPECT_TRUE(kOfPython.contains(analyzer->id) || text.find("```cpp") != text.npos) << analyzer->id;
    EXPECT_THAT(text, HasSubstr("```python"));
    const std::string advice = RuleAdvice(analyzer->id);
    EXPECT_THAT(advice, Not(IsEmpty())) << analyzer->id;
    EXPECT_THAT(advice, Not(HasSubstr("\n"))) << analyzer->id;
    EXPECT_LE(advice.size(), 300u) << analyzer->id;
  }
  EXPECT_EQ(RuleText("no-such-rule"), "");
  EXPECT_EQ(RuleTitle("no-such-rule"), "");
  EXPECT_EQ(RuleAdvice("no-such-rule"), "");
}

TEST(Diagnose, OrdersFindingsBySeverityThenCost) {
  const Timeline timeline = TimelineOf(kFlawed);
  Report report;
  Diagnose(
      timeline, [](const Finding& finding) { return "cure." + finding.rule; }, report);
  std::vector<std::string> rules;
  for (const Finding& finding : report.findings) rules.push_back(finding.rule);
  EXPECT_THAT(rules, ElementsAre("input-starvation", "grads-zeroed", "host-sync"));
  EXPECT_EQ(report.findings[0].severity, Severity::kHigh);
  EXPECT_EQ(report.findings[0].treatment_id, "cure.input-starvation");
  EXPECT_EQ(report.findings[0].advice, RuleAdvice("input-starvation"));
  EXPECT_EQ(report.findings[2].cost_ms_per_step, 0);
}

TEST(Diagnose, GivesEveryRuleARow) {
  const Timeline timeline = TimelineOf(kFlawed);
  Report report;
  Diagnose(
      timeline, [](const Finding&) { return std::string(); }, report);
  ASSERT_EQ(report.rules.size(), AllAnalyzers().size());
  for (std::size_t i = 0; i < report.rules.size(); ++i) {
    EXPECT_EQ(report.rules[i].id, AllAnalyzers()[i]->id);
    const bool abstains =
        report.rules[i].verdict == Verdict::kCannotTell || report.rules[i].verdict == Verdict::kNotApplicable;
    EXPECT_EQ(abstains, !report.rules[i].reason.empty()) << report.rules[i].id;
  }
}

TEST(Diagnose, IdsHoldInAnotherCheckout) {
  auto cases = ParseCases(kFlawed, "inline");
  ASSERT_TRUE(cases.ok());
  Trace here = cases->at(0).trace, there = cases->at(0).trace;
  here.run.working_directory = "/src";
  there.run.working_directory = "/home/other";
  for (Stack& stack : there.stacks) {
    stack.frames[0].path = "/home/other/" + stack.frames[0].path.substr(std::string("/src/").size());
    stack.frames[0].line += 7;
  }
  const Analyzer& rule = *FindById(AllAnalyzers(), "input-starvation");
  const auto first = Judge(rule, Timeline::Build(std::move(here)));
  const auto second = Judge(rule, Timeline::Build(std::move(there)));
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(first[0].id.size(), 12u);
  EXPECT_EQ(first[0].id, second[0].id);
}

std::vector<Warning> WarningsOf(const char* facts) {
  auto cases = ParseCases(std::string("case one\n") + facts +
                              "  step x10\n    op aten::conv2d 9ms graph\n    range optimizer 1ms value=10\n"
                              "  expect clear\n",
                          "inline");
  EXPECT_TRUE(cases.ok());
  const Timeline timeline = Timeline::Build(std::move(cases->at(0).trace));
  Report report;
  Diagnose(
      timeline, [](const Finding&) { return std::string(); }, report);
  return report.quality.warnings;
}

TEST(Diagnose, OtherProgramsOnTheProcessorsAreSaid) {
  // Ready without a processor for a fifth of the time, of which others caused half.
  const auto kept = WarningsOf(
      "  fact processors.window_ns=100000000 processors.training_delay_ns=20000000\n"
      "  fact processors.own_ns=100000000 processors.all_ns=200000000\n");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_THAT(kept[0].text, HasSubstr("other programs kept the training thread from running for 10 % of the time"));
  // The training thread ran, but those that help it had to share.
  const auto crowded = WarningsOf(
      "  fact processors.window_ns=100000000 processors.training_delay_ns=1000000\n"
      "  fact processors.own_ns=140000000 processors.all_ns=190000000\n");
  ASSERT_EQ(crowded.size(), 1u);
  EXPECT_THAT(crowded[0].text, HasSubstr("other programs used 0.5 of the 2 processors"));
  // Alone, though it waits for its own threads.
  EXPECT_THAT(WarningsOf("  fact processors.window_ns=100000000 processors.training_delay_ns=30000000\n"
                         "  fact processors.own_ns=198000000 processors.all_ns=200000000\n"),
              IsEmpty());
}

std::map<std::string, Severity> SeveritiesOf(const char* steps) {
  const Timeline timeline = TimelineOf(std::string("case one\n") + steps + "  expect clear\n");
  Report report;
  Diagnose(
      timeline, [](const Finding&) { return std::string(); }, report);
  std::map<std::string, Severity> severities;
  for (const Finding& finding : report.findings) severities[finding.rule] = finding.severity;
  return severities;
}

TEST(Diagnose, TellsWhyAGpuIsIdleBeforeThatItIs) {
  const auto launches = SeveritiesOf(
      "  step x10\n    op aten::mul 50us x100 graph\n      launch mul 10us runs=5us\n"
      "    range backward 50us\n    range optimizer 50us value=10\n");
  EXPECT_EQ(launches.at("launch-bound"), Severity::kHigh);
  EXPECT_EQ(launches.at("gpu-starvation"), Severity::kInfo);
  // No rule knows why: few large kernels, and the host computes something in between.
  const auto unknown = SeveritiesOf(
      "  step x10\n    op aten::mul 1ms x5 graph\n      launch mul 10us runs=500us\n"
      "    range backward 50us\n    range optimizer 50us value=10\n");
  EXPECT_EQ(unknown.at("gpu-starvation"), Severity::kHigh);
}

TEST(Diagnose, TellsWhyRanksWaitForEachOtherBeforeThatTheyDo) {
  const std::string pass =
      "    op aten::linear 1ms graph\n    range backward 4ms at=train.py:43\n      bwd AddmmBackward0 1ms\n"
      "      op c10d::allreduce_ 10us inputs=\"(f32[250]);?;?;-;true;-1\"\n";
  const std::string other = "    thread gloo\n      gap 2ms\n      range user 3ms name=gloo:all_reduce\n";
  const std::string again = "      gap 2ms\n      range user 3ms name=gloo:all_reduce\n";
  const auto twice =
      SeveritiesOf(("  step x10\n" + pass + pass + "    range optimizer 1ms value=250\n" + other + again).c_str());
  EXPECT_EQ(twice.at("accumulation-allreduce"), Severity::kHigh);
  EXPECT_EQ(twice.at("exposed-communication"), Severity::kInfo);
  const auto once = SeveritiesOf(("  step x10\n" + pass + "    range optimizer 1ms value=250\n" + other).c_str());
  EXPECT_EQ(once.at("exposed-communication"), Severity::kHigh);
}

TEST(Diagnose, WithoutStepsNothingIsSaid) {
  const Timeline timeline = Timeline::Build(test::TraceBuilder().Take());
  Report report;
  Diagnose(
      timeline, [](const Finding&) { return std::string(); }, report);
  EXPECT_THAT(report.findings, IsEmpty());
  for (const RuleRow& row : report.rules) {
    EXPECT_EQ(row.verdict, Verdict::kCannotTell) << row.id;
    EXPECT_EQ(row.reason, timeline.why_no_steps());
  }
}

TEST(CallSites, PutTheCostliestKnownPlaceFirst) {
  CallSites sites;
  const Where cheap{"a.cpp", 1, "A"}, dear{"b.cpp", 2, "B"};
  for (int i = 0; i < 5; ++i) sites.Add(&cheap, 1);
  sites.Add(&dear, 20);
  sites.Add(nullptr, 100);
  const auto ordered = sites.Ordered();
  ASSERT_EQ(ordered.size(), 3u);
  EXPECT_EQ(ordered[0].where, dear);
  EXPECT_EQ(ordered[1].count, 5u);
  EXPECT_FALSE(ordered[2].where.has_value());
  const auto evidence = sites.Describe([](const CallSites::Site&) { return "seen"; }, 1);
  ASSERT_EQ(evidence.size(), 2u);
  EXPECT_EQ(evidence[1].text, "2 more places: seen");
  EXPECT_EQ(evidence[1].count, 6u);
}

TEST(CallSites, FoldTheUnknownIntoTheOnlyKnownPlace) {
  CallSites one, two;
  const Where a{"a.cpp", 1, "A"}, b{"b.cpp", 2, "B"};
  for (CallSites* sites : {&one, &two}) {
    sites->Add(&a, 1);
    sites->Add(nullptr, 3);
  }
  two.Add(&b, 1);
  one.FoldUnknown();
  two.FoldUnknown();
  ASSERT_EQ(one.Ordered().size(), 1u);
  EXPECT_EQ(one.Ordered()[0].where, a);
  EXPECT_EQ(one.Ordered()[0].count, 2u);
  EXPECT_EQ(one.ms(), 4);
  EXPECT_EQ(two.Ordered().size(), 3u);
}

// Each line is wrong in one way, and the message names it.
TEST(CaseReader, NamesTheLineThatIsWrong) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {"step\n", "f.case:1: a case begins"},
      {"case a\n  step\n    op x 1ms\n", "f.case:1: case 'a' expects nothing"},
      {"case a\n  step\n    op x\n  expect clear\n", "f.case:3: 'op' has no length"},
      {"case a\n  step\n    op x 1ms\n      op y 2ms\n  expect clear\n", "f.case:3: what is inside lasts longer"},
      {"case a\n  step\n    op x 1ms from=y\n  expect clear\n", "f.case:1: no op makes the node 'y'"},
      {"case a\n  step\n    op x 1ms grap\n  expect clear\n", "f.case:3: unknown attribute 'grap'"},
      {"case a\n  step\n    range loade 1ms\n  expect clear\n", "f.case:3: unknown category 'loade'"},
      {"case a\n  step\n    gap 3\n  expect clear\n", "f.case:3: unknown attribute '3'"},
      {"case a\n  fact x\n  expect fond\n", "f.case:3: expect found, clear"},
      {"case a\n  expect found cost>=x\n", "f.case:2: 'x' is no number"},
      {"case a\n  expect found severity=bad\n", "f.case:2: unknown severity 'bad'"},
      {"case a\n  step\n    gap 1ms\n  warmup\n    gap 1ms\n  expect clear\n", "f.case:4: a warm-up step after"},
  };
  for (const auto& [text, message] : wrong) {
    const auto cases = ParseCases(text, "f.case");
    ASSERT_FALSE(cases.ok()) << text;
    EXPECT_THAT(cases.error().Message(), HasSubstr(message)) << text;
  }
}

TEST(CaseReader, LaysStepsOutInTime) {
  auto cases = ParseCases(
      "case a\n  warmup\n    gap 1ms\n  step x2\n    op x 1ms node=n\n      op y 400us\n    thread w\n      op z 3ms\n"
      "  expect clear\n",
      "f.case");
  ASSERT_TRUE(cases.ok()) << cases.error().Message();
  const Trace& trace = cases->at(0).trace;
  ASSERT_EQ(trace.threads.size(), 2u);
  const auto& events = trace.threads[0].events;
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[1].start_ns, events[0].start_ns);
  EXPECT_EQ(events[1].duration_ns(), 400'000);
  EXPECT_EQ(events[2].start_ns, events[0].end_ns);
  EXPECT_NE(events[2].sequence, events[0].sequence);
  // The other thread is still busy when the second step begins.
  EXPECT_EQ(trace.threads[1].events[1].start_ns, trace.threads[1].events[0].end_ns);
}

// A mismatch must be detected, or no case could fail.
TEST(Mismatch, NoticesEachBound) {
  Finding finding;
  finding.title = "waits 3 ms";
  finding.cost_ms_per_step = 3;
  finding.cost_pct = 10;
  finding.severity = Severity::kMedium;
  finding.advice = "wait less";
  finding.evidence.push_back({"often", 4, Where{"a.cpp", 5, "F"}});
  const auto against = [&](std::string_view expectation) {
    const auto cases = ParseCases("case a\n  expect " + std::string(expectation) + "\n", "f.case");
    EXPECT_TRUE(cases.ok()) << expectation;
    return test::Mismatch(cases->at(0).expectation, {finding});
  };
  EXPECT_EQ(against("found cost>=3 cost<=3 pct>=10 pct<=10 severity=medium at=a.cpp:5 evidence=1 count=4 text=often"),
            "");
  for (const char* wrong : {"clear", "cannot-tell", "found cost>=3.1", "found cost<=2.9", "found pct>=11",
                            "found pct<=9", "found severity=high", "found at=a.cpp:6", "found at=-", "found evidence=2",
                            "found count=3", "found text=rarely"}) {
    EXPECT_THAT(against(wrong), Not(IsEmpty())) << wrong;
  }
}

TEST(Evidence, OfATraceWithoutShapesSaysHowToRecordThem) {
  for (const auto& [source, hint] :
       {std::pair{"kineto", "record_shapes=True"}, {"nsys", "emit_nvtx(record_shapes"}, {"capture", "detail window"}}) {
    Trace trace;
    trace.run.source = source;
    EXPECT_THAT(WhyNoDetail(Timeline::Build(std::move(trace))), HasSubstr(hint));
  }
}

// The finding on a loop of `file` whose workers take so long for each batch.
Finding WithWorkers(std::string_view rule, std::string_view file, std::string_view name, std::int64_t batch_ns) {
  const auto cases = test::ReadCases(kRepository / "tests/cases" / file);
  if (!cases) throw std::runtime_error(cases.error().Message());
  Trace trace = std::ranges::find(*cases, name, &Case::name)->trace;
  const auto thread = static_cast<std::uint32_t>(trace.threads.size());
  trace.stacks.push_back({.frames = {{"data.py", 7, "__getitem__"}}});
  trace.strings.emplace_back("worker");
  const Mark last = trace.marks.back();
  trace.marks.push_back({.time_ns = last.time_ns,
                         .kind = MarkKind::kFollowBegin,
                         .name = static_cast<StringId>(trace.strings.size() - 1),
                         .thread = thread});
  const auto stack = static_cast<std::uint32_t>(trace.stacks.size() - 1);
  Thread& worker = trace.threads.emplace_back();
  worker.pid = worker.tid = 99;
  worker.lines = {{.start_ns = 0, .end_ns = batch_ns, .stack = stack, .own_share = 1}};
  const auto findings = Judge(*FindById(AllAnalyzers(), rule), Timeline::Build(std::move(trace)));
  return findings.empty() ? Finding::Clear("") : findings.front();
}

Finding Starvation(std::string_view name, std::int64_t batch_ns) {
  return WithWorkers("input-starvation", "input_starvation.case", name, batch_ns);
}

std::optional<Where> FirstPlaceOfStarvation(std::string_view name, std::int64_t batch_ns) {
  return Starvation(name, batch_ns).evidence.front().where;
}

// Without workers the loop itself makes the batch, and is handed none.
TEST(Analyzers, HandingOverABatchThatTakesLongerThanMakingItCostsTheDifference) {
  constexpr std::string_view kOne = "waits_longer_than_it_trains";  // 12 ms
  const Finding quick = Starvation(kOne, 2'000'000), slow = Starvation(kOne, 8'000'000);
  ASSERT_TRUE(quick.expected_gain_ms);
  EXPECT_NEAR(*quick.expected_gain_ms, 10, 0.1);
  EXPECT_FALSE(slow.expected_gain_ms);
  EXPECT_TRUE(slow.only_bounded());
}

TEST(Analyzers, TheLoopsLineIsThePlaceWhereWorkersAreReady) {
  constexpr std::string_view kTwo = "waits_for_its_workers", kOne = "waits_longer_than_it_trains";
  EXPECT_EQ(FirstPlaceOfStarvation(kTwo, 60'000'000)->path, "data.py") << "every 30 ms a batch";
  EXPECT_EQ(FirstPlaceOfStarvation(kTwo, 4'000'000)->path, "train.cpp")
      << "every 2 ms: handing them over takes the time";
  EXPECT_EQ(FirstPlaceOfStarvation(kOne, 15'000'000)->path, "data.py") << "the loop itself needs 8 ms for one";
  EXPECT_EQ(FirstPlaceOfStarvation(kOne, 9'000'000)->path, "train.cpp");
}

TEST(Analyzers, AnEpochsFirstBatchIsWaitedForWhileAWorkerMakesIt) {
  const auto start = [](std::string_view name, std::int64_t batch_ns) {
    return WithWorkers("slow-epoch-start", "slow_epoch_start.case", name, batch_ns);
  };
  EXPECT_EQ(start("a_short_start", 1'000'000).verdict, Verdict::kFound) << "7 ms of 8 are not the batch's";
  EXPECT_EQ(start("a_short_start", 7'500'000).verdict, Verdict::kClear)
      << "7 % of the epoch, nearly all of it inherent";
  const Finding long_batches = start("a_slow_sampler", 90'000'000);
  EXPECT_EQ(long_batches.verdict, Verdict::kFound);
  EXPECT_THAT(long_batches.advice, HasSubstr("nothing ready"));
  EXPECT_THAT(start("a_slow_sampler", 20'000'000).advice, Not(HasSubstr("nothing ready")));
}

}  // namespace
}  // namespace loopscope
