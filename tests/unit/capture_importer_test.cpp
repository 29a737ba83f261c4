#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/capture/run_files.h"
#include "profiler/importers/importers.h"
#include "tests/support/capture_builder.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;
using test::CaptureBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::MarkKind;

class CaptureImporter : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              ("capture_importer_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Result<Trace> Read(const CaptureBuilder& capture, const std::string& name = "train-100.cap") {
    capture.Save(folder_ / name);
    return ReadAnyTrace(folder_ / name);
  }

  fs::path folder_;
};

std::vector<std::string> NamesOf(const Trace& trace, std::size_t thread) {
  std::vector<std::string> names;
  for (const Event& event : trace.threads[thread].events) names.emplace_back(trace.text(event.name));
  return names;
}

void AddSteps(CaptureBuilder& capture, int steps, std::uint64_t from_ns = 1'000'000) {
  for (int i = 0; i < steps; ++i) {
    const std::uint64_t at = from_ns + 1000 * static_cast<std::uint64_t>(i);
    capture.Range(wire::RangeCategory::kLoader, "RandomSampler", at, at + 10, 32);
    capture.Op("aten::conv2d", at + 100, at + 400, wire::kOpGraph);
    capture.Range(wire::RangeCategory::kBackward, "backward", at + 400, at + 800);
    capture.Range(wire::RangeCategory::kOptimizer, "SGD", at + 850, at + 950, 12);
    capture.Mark(MarkKind::kStepEnd, "optimizer:SGD#1", at + 960, 32);
  }
}

TEST_F(CaptureImporter, ReadsWhatAStepsRecordSays) {
  CaptureBuilder capture;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const bool recorded = i != 4;
    const unsigned bits =
        wire::kStepSummed | (i == 1 ? wire::kStepWarmUp : 0u) | (recorded ? wire::kStepOperators : 0u);
    capture.Step("optimizer:SGD#1", i * 1'000'000, 32, static_cast<std::uint8_t>(bits), {kNan, 2e5, 3e5, -1, 4e30f});
  }
  capture.Step("optimizer:SGD#1", UINT64_MAX, 32);
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace) << trace.error().Message();
  ASSERT_EQ(trace->steps.size(), 5u) << "a time that cannot be is left out";
  EXPECT_EQ(trace->steps[2].end_ns, 3'000'000);
  EXPECT_EQ(trace->steps[2].samples, 32u);
  EXPECT_EQ(trace->text(trace->steps[2].clock), "optimizer:SGD#1");
  EXPECT_THAT(trace->steps[2].sums_ns, ElementsAre(0, 2e5f, 3e5f, 0, 0, 0, 0, 0)) << "what no time can be is none";
  const Timeline timeline = Timeline::Build(*trace);
  ASSERT_EQ(timeline.steps().size(), 4u) << "the first one's start is not known";
  EXPECT_EQ(timeline.clock(), "optimizer:SGD#1");
  EXPECT_FALSE(timeline.steps()[2].operators);
  EXPECT_EQ(timeline.steps()[2].parts_ns[static_cast<std::size_t>(Part::kForward)], 200'000);
  EXPECT_EQ(timeline.steps()[2].parts_ns[static_cast<std::size_t>(Part::kBackward)], 300'000);
  EXPECT_EQ(timeline.steps()[2].parts_ns[static_cast<std::size_t>(Part::kOther)], 500'000);
  EXPECT_EQ(timeline.steps()[1].parts_ns[static_cast<std::size_t>(Part::kForward)], 0) << "there, ranges say it";
}

TEST_F(CaptureImporter, OrdersEventsByStartParentsFirst) {
  CaptureBuilder capture;
  capture.Op("t", 120, 130);
  capture.Op("addmm", 140, 180, wire::kOpGraph, 7);
  capture.Detail("f32[2,3];f32[3,4]", 0, 6);
  capture.Op("linear", 100, 200, wire::kOpOutermost, 6);
  capture.Op("relu", 210, 220);
  capture.Range(wire::RangeCategory::kUser, "forward", 90, 300, 5'000'000'000);
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace) << trace.error().Message();
  EXPECT_THAT(NamesOf(*trace, 0), ElementsAre("forward", "linear", "t", "addmm", "relu"));
  const std::vector<Event>& events = trace->threads[0].events;
  EXPECT_EQ(events[0].value, 0xffffffffu) << "clamped";
  EXPECT_EQ(events[1].end_ns, 200);
  EXPECT_EQ(events[1].sequence, 6u);
  EXPECT_EQ(events[2].sequence, kNone);
  EXPECT_TRUE(events[3].flags & wire::kOpGraph);
  ASSERT_LT(events[3].detail, trace->details.size());
  EXPECT_EQ(trace->text(trace->details[events[3].detail].inputs), "f32[2,3];f32[3,4]");
  EXPECT_EQ(trace->details[events[3].detail].producer, 6u);
  EXPECT_EQ(trace->quality.events, 5u);
  EXPECT_TRUE(trace->quality.clean_end);
  EXPECT_THAT(trace->quality.warnings, IsEmpty());
}

TEST_F(CaptureImporter, OpsTellWhatMadeTheirInputs) {
  CaptureBuilder capture;
  AddSteps(capture, 3);
  capture.Op("sum", 10, 12);
  capture.Detail("f32[2];f32[2];f32[2]", 0, 6, {7, 9});
  capture.Op("none", 20, 22);
  capture.Detail("f32[2]", 0);
  capture.On(100, 101);
  capture.Op("list", 14, 16);
  capture.Detail("?;1", 0, wire::kNoSequence, {3, 4, 5, wire::kNoSequence});
  capture.On(200, 200);  // another process
  capture.Op("other", 18, 19);
  capture.Detail("f32[2];f32[2]", 0, 1, {2, wire::kNoSequence});
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace) << trace.error().Message();
  const Timeline timeline = Timeline::Build(*trace);
  std::map<std::string_view, std::vector<std::uint32_t>> made;
  for (std::uint32_t thread = 0; thread < timeline.trace().threads.size(); ++thread) {
    for (std::uint32_t i = 0; i < timeline.trace().threads[thread].events.size(); ++i) {
      made[timeline.name({thread, i})] = timeline.input_producers({thread, i});
    }
  }
  EXPECT_THAT(made["sum"], ElementsAre(6, 7, 9));
  EXPECT_THAT(made["none"], IsEmpty());
  EXPECT_THAT(made["list"], ElementsAre(3, 4, 5));
  EXPECT_THAT(made["other"], ElementsAre(1, 2));
}

TEST_F(CaptureImporter, MarksFactsAppliedAndThreads) {
  CaptureBuilder capture;
  capture.Mark(MarkKind::kThreadName, "main", 10);
  AddSteps(capture, 3);
  capture.On(100, 101);
  capture.Op("aten::copy_", 5, 3'000'000'000'005, wire::kOpLongDuration);
  capture.Fact("loader.workers", "0");
  capture.Fact("loader.workers", "2");
  capture.Applied("threads", "OpenMP", "2", "1");
  capture.Write(wire::MarkRecord{{static_cast<wire::RecordKind>(200), 0, 0}, 1, 2, 3});  // of a later minor version
  capture.On(200, 200);                                                                  // a forked child
  capture.Op("aten::add", 50, 60);
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace) << trace.error().Message();
  ASSERT_EQ(trace->threads.size(), 3u);
  EXPECT_EQ(trace->threads[0].name, "main");
  EXPECT_EQ(trace->threads[2].pid, 200u);
  EXPECT_EQ(trace->threads[1].events[0].duration_ns(), 3'000'000'000'000 / 1024 * 1024);
  EXPECT_EQ(trace->facts.at("loader.workers"), "2");
  ASSERT_EQ(trace->applied.size(), 1u);
  EXPECT_EQ(trace->applied[0].old_value, "2");
  EXPECT_EQ(trace->marks.size(), 4u);
  EXPECT_EQ(trace->marks[1].value, 32u);
  EXPECT_EQ(Timeline::Build(*trace).steps().size(), 3u);
}

TEST_F(CaptureImporter, KnobsOfAnyNumberAndLength) {
  CaptureBuilder capture;
  AddSteps(capture, 3);
  const std::string long_key(1000, 'k');
  capture.Knob(long_key);
  for (int i = 0; i < 300; ++i) capture.Knob(fmt::format("knob.{}", i));
  capture.Knob("knob.0");  // of another process
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace) << trace.error().Message();
  EXPECT_EQ(trace->knobs.size(), 301u);
  EXPECT_TRUE(trace->knobs.contains(long_key));
  EXPECT_TRUE(trace->knobs.contains("knob.299"));
}

TEST_F(CaptureImporter, AnOlderCaptureHasItsKnobsInAFact) {
  for (const char* written : {"", "amp", "amp,loader.workers"}) {
    CaptureBuilder capture;
    AddSteps(capture, 3);
    capture.Fact("program.knobs", written);
    const Result<Trace> trace = Read(capture);
    ASSERT_TRUE(trace) << trace.error().Message();
    EXPECT_EQ(fmt::format("{}", fmt::join(trace->knobs, ",")), written);
    EXPECT_FALSE(trace->facts.contains("program.knobs"));
  }
}

TEST_F(CaptureImporter, AnOlderCaptureWithoutOperatorsHadNoProbeOfTorch) {
  const auto probe_off = [&](std::uint16_t minor, bool ops) {
    CaptureBuilder capture;
    capture.header.minor = minor;
    capture.Mark(MarkKind::kProbeOff, "LibTorch probe off: built for another torch", 10);
    capture.Range(wire::RangeCategory::kLoader, "RandomSampler", 20, 30, 32);
    if (ops) capture.Op("aten::add", 40, 50);
    return static_cast<wire::ProbeId>(Read(capture)->marks.at(0).value);
  };
  EXPECT_EQ(probe_off(5, false), wire::ProbeId::kTorch);
  EXPECT_EQ(probe_off(5, true), wire::ProbeId::kNone);
  EXPECT_EQ(probe_off(6, false), wire::ProbeId::kNone) << "the mark says so itself";
}

TEST_F(CaptureImporter, TensorsNameTheThreadThatMadeThem) {
  CaptureBuilder capture;
  AddSteps(capture, 3);
  capture.TensorPeak(1'001'500, 900);
  capture.TensorPeak(1'000'500, 800);
  capture.Tensor(100, 1'000'100, 1'000'200, 0, 101);
  capture.Tensor(200, 1'000'110, 1'000'210, 1'002'000, 100);
  capture.Tensor(50, 1'000'120, 1'000'220, 1'002'000, 999);
  capture.On(100, 101);
  capture.Op("aten::stack", 5, 10);
  capture.On(200, 100);  // another process' thread of the same number
  capture.Op("aten::add", 1, 2);
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace) << trace.error().Message();
  ASSERT_EQ(trace->tensor_peaks.size(), 2u);
  EXPECT_EQ(trace->tensor_peaks[0].time_ns, 1'000'500);
  EXPECT_EQ(trace->tensor_peaks[0].bytes, 800u);
  ASSERT_EQ(trace->idle_tensors.size(), 3u);
  const IdleTensor& largest = trace->idle_tensors[0];
  EXPECT_EQ(largest.bytes, 200u);
  EXPECT_EQ(largest.allocated_ns, 1'000'110);
  EXPECT_EQ(largest.used_ns, 1'000'210);
  EXPECT_EQ(largest.freed_ns, 1'002'000);
  ASSERT_LT(largest.thread, trace->threads.size());
  EXPECT_EQ(trace->threads[largest.thread].pid, 100u);
  EXPECT_EQ(trace->threads[largest.thread].tid, 100u);
  EXPECT_EQ(trace->threads[trace->idle_tensors[1].thread].tid, 101u);
  EXPECT_EQ(trace->idle_tensors[1].freed_ns, 0);
  EXPECT_EQ(trace->idle_tensors[2].thread, kNone) << "nothing of that thread was recorded";
}

TEST_F(CaptureImporter, TensorsWithImpossibleTimesAreLeftOut) {
  CaptureBuilder capture;
  AddSteps(capture, 3);
  capture.TensorPeak(~0ull, 900);
  capture.Tensor(100, 10, ~0ull, 0, 100);
  capture.Tensor(100, 10, 20, ~0ull, 100);
  capture.Write(wire::MarkRecord{{wire::RecordKind::kTensor, 0, 0}, 1, 2, 3});  // too short for one
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace) << trace.error().Message();
  EXPECT_THAT(trace->tensor_peaks, IsEmpty());
  EXPECT_THAT(trace->idle_tensors, IsEmpty());
  EXPECT_THAT(trace->quality.warnings, ElementsAre(HasSubstr("3 records had impossible times")));
}

TEST_F(CaptureImporter, StringsMayBeDefinedByAnotherThreadLater) {
  CaptureBuilder capture;
  capture.Write(wire::OpRecord{{wire::RecordKind::kOp, 0, 0}, 77, 100, 10, wire::kNoSequence, 0, 0, 0});
  capture.Write(wire::OpRecord{{wire::RecordKind::kOp, 0, 0}, 4'000'000'000, 200, 10, wire::kNoSequence, 0, 0, 0});
  capture.On(100, 101);
  capture.DefineString(77, "aten::late");
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace);
  EXPECT_THAT(NamesOf(*trace, 0), ElementsAre("aten::late", ""));
}

TEST_F(CaptureImporter, ManyChunksAndThreadsComeOutAsTheyWentIn) {
  CaptureBuilder capture;
  std::mt19937 random(4);
  std::vector<std::uint64_t> clock(3, 1000);
  for (int i = 0; i < 3000; ++i) {
    const std::uint32_t thread = random() % 3;
    capture.On(100, 100 + thread);
    std::uint64_t& now = clock[thread];
    const std::uint64_t start = now;
    for (int child = static_cast<int>(random() % 3); child > 0; --child, now += 5)
      capture.Op("child", now + 1, now + 4);
    capture.Op("parent", start, now += 6);
  }
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace);
  const Timeline timeline = Timeline::Build(*trace);
  for (std::uint32_t t = 0; t < 3; ++t) {
    const std::vector<Event>& events = trace->threads[t].events;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      EXPECT_GT(events[i].start_ns, i > 0 ? events[i - 1].start_ns : -1);
      EXPECT_EQ(timeline.parent({t, i}) == kNone, trace->text(events[i].name) == "parent");
    }
  }
}

TEST_F(CaptureImporter, TimesThatCannotBeAreRepaired) {
  CaptureBuilder capture;
  capture.Range(wire::RangeCategory::kUser, "backwards", 500, 400);
  capture.Op("fine", 600, 700);
  capture.Op("beyond", ~0ull - 5, ~0ull);
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace);
  EXPECT_THAT(NamesOf(*trace, 0), ElementsAre("backwards", "fine"));
  EXPECT_EQ(trace->threads[0].events[0].duration_ns(), 0);
  EXPECT_THAT(trace->quality.warnings, ElementsAre(HasSubstr("2 records had impossible times")));
}

TEST_F(CaptureImporter, EventsOutOfOrderAreSorted) {
  CaptureBuilder capture;
  capture.Op("parent", 5, 20);
  capture.Op("child", 12, 15);
  capture.Op("async", 10, 100, wire::kOpAsync);
  capture.Op("early", 1, 2);
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace);
  EXPECT_THAT(NamesOf(*trace, 0), ElementsAre("early", "parent", "async", "child"));
  const Timeline timeline = Timeline::Build(*trace);
  EXPECT_EQ(timeline.parent({0, 3}), 1u) << "what is asynchronous is nobody's parent";
}

TEST_F(CaptureImporter, ATornEndIsUsedAndSaid) {
  CaptureBuilder capture;
  capture.header.clean_end = 0;
  capture.header.start_mono_ns = 1'000'000;
  capture.header.dropped = 7;
  AddSteps(capture, 4, 2'500'000'000);
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace);
  EXPECT_FALSE(trace->quality.clean_end);
  EXPECT_EQ(trace->quality.dropped, 7u);
  EXPECT_THAT(trace->quality.warnings, ElementsAre(HasSubstr("did not end in order: what was written up to 2.5 s"),
                                                   HasSubstr("7 records were lost")));
  EXPECT_EQ(Timeline::Build(*trace).steps().size(), 4u);
}

TEST_F(CaptureImporter, ACutFileIsUsedAndSaid) {
  CaptureBuilder capture;
  AddSteps(capture, 60);
  const std::string bytes = capture.Bytes();
  CaptureBuilder::SaveBytes(folder_ / "x.cap", std::string_view(bytes).substr(0, bytes.size() - 5000));
  const Result<Trace> trace = ReadAnyTrace(folder_ / "x.cap");
  ASSERT_TRUE(trace);
  EXPECT_FALSE(trace->quality.clean_end);
  EXPECT_THAT(trace->quality.warnings, ElementsAre(HasSubstr("cut off: 5000 bytes are missing")));
  const std::size_t steps = Timeline::Build(*trace).steps().size();
  EXPECT_GT(steps, 10u);
  EXPECT_LT(steps, 60u);
}

TEST_F(CaptureImporter, ADamagedChunkIsLeftOut) {
  CaptureBuilder capture;
  capture.Op("first", 1, 2);
  capture.Close();
  capture.Op("second", 3, 4);
  capture.Close();
  std::string bytes = capture.Bytes();
  bytes[wire::kHeaderBytes + sizeof(wire::ChunkHeader) + 20] ^= 1;
  CaptureBuilder::SaveBytes(folder_ / "x.cap", bytes);
  const Result<Trace> trace = ReadAnyTrace(folder_ / "x.cap");
  ASSERT_TRUE(trace);
  EXPECT_THAT(NamesOf(*trace, 0), ElementsAre("second"));
  EXPECT_GT(trace->quality.torn_bytes, 0u);
  EXPECT_THAT(trace->quality.warnings, ElementsAre(HasSubstr("1 damaged chunk")));
}

TEST_F(CaptureImporter, ANewerMajorIsRefusedByItsVersion) {
  CaptureBuilder capture;
  capture.header.major = 2;
  capture.header.minor = 3;
  const Result<Trace> trace = Read(capture);
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().Message(), HasSubstr("train-100.cap: is a capture of version 2.3"));
  EXPECT_EQ(trace.error().exit_code, 2);
}

TEST_F(CaptureImporter, NewerMinorAndUnknownChunksAreRead) {
  CaptureBuilder capture;
  capture.header.minor = 9;
  capture.Op("known", 1, 2);
  std::string bytes = capture.Bytes();
  bytes += std::string(bytes, wire::kHeaderBytes);
  bytes[wire::kHeaderBytes + wire::kMinChunkBytes + 4] = 77;  // the second chunk's type
  CaptureBuilder::SaveBytes(folder_ / "x.cap", bytes);
  const Result<Trace> trace = ReadAnyTrace(folder_ / "x.cap");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->quality.events, 1u);
  EXPECT_THAT(trace->quality.warnings, IsEmpty());
}

TEST_F(CaptureImporter, WhatIsNoCaptureIsSaid) {
  EXPECT_THAT(ReadAnyTrace(folder_ / "absent").error().Message(), HasSubstr("absent: cannot be read"));
  EXPECT_THAT(ReadAnyTrace(folder_).error().Message(), HasSubstr("holds no trace"));
  CaptureBuilder::SaveBytes(folder_ / "text", "hello");
  EXPECT_THAT(ReadAnyTrace(folder_ / "text").error().Message(), HasSubstr("is not a trace format Loopscope knows"));
  CaptureBuilder::SaveBytes(folder_ / "short.cap", "LOOPSCAP1234");
  EXPECT_THAT(ReadAnyTrace(folder_ / "short.cap").error().Message(), HasSubstr("is cut off: 12 bytes"));
  CaptureBuilder capture(8);
  EXPECT_THAT(Read(capture).error().Message(), HasSubstr("damaged header"));
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  ASSERT_TRUE(WriteRunJson(folder_ / kRunJsonName, RunInfo{}));
  EXPECT_THAT(ReadAnyTrace(folder_).error().Message(), HasSubstr("holds no capture"));
}

TEST_F(CaptureImporter, AFolderIsOneRun) {
  CaptureBuilder worker, training;
  worker.On(300, 300);
  worker.Op("aten::copy_", 1, 2);
  worker.Fact("threads", "8");
  worker.header.clean_end = 0;  // ended by its parent
  AddSteps(training, 5);
  training.Fact("threads", "2");
  worker.Save(folder_ / "a.cap");
  training.Save(folder_ / "b.cap");
  CaptureBuilder::SaveBytes(folder_ / "c.cap", "no capture");
  RunInfo run;
  run.command = {"./train", "--lr", "0.1"};
  run.cores = 2;
  ASSERT_TRUE(WriteRunJson(folder_ / kRunJsonName, run));
  const Result<Trace> trace = ReadAnyTrace(folder_);
  ASSERT_TRUE(trace) << trace.error().Message();
  EXPECT_EQ(trace->run.command, run.command);
  EXPECT_EQ(trace->threads.size(), 2u);
  EXPECT_TRUE(trace->quality.clean_end);
  EXPECT_EQ(trace->facts.at("threads"), "2");
  EXPECT_THAT(trace->quality.warnings, ElementsAre(HasSubstr("c.cap")));
  const Timeline timeline = Timeline::Build(*trace);
  EXPECT_EQ(timeline.training_thread(), 0u);
  EXPECT_EQ(timeline.steps().size(), 5u);
  EXPECT_THAT(NamesOf(*trace, 1), ElementsAre("aten::copy_"));
}

TEST_F(CaptureImporter, TextFramesAreTheUsersPlaces) {
  CaptureBuilder capture;
  const std::uint64_t own = capture.String("/home/ann/train.py:12:step") | wire::kFrameIsText;
  const std::uint64_t torch = capture.String("/v/site-packages/torch/nn/modules.py:3:f") | wire::kFrameIsText;
  const std::uint32_t stack = capture.Stack({torch, own, 0x1234});
  capture.Op("aten::item", 10, 20);
  capture.Detail("f32[]", stack);
  capture.Range(wire::RangeCategory::kLoader, "next", 30, 40, 0, stack);
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->stacks.size(), 1u);
  EXPECT_THAT(trace->stacks[0].frames, ElementsAre(Where{"/home/ann/train.py", 12, "step"}));
  EXPECT_EQ(trace->range_stacks.at(1), 0u);
  EXPECT_EQ(trace->threads[0].events[1].detail, kNone);
}

TEST_F(CaptureImporter, AProgramBuiltAnewIsSaid) {
  CaptureBuilder capture;
  const std::string program = (folder_ / "train").string();
  CaptureBuilder::SaveBytes(program, "not the program that ran");
  capture.Module(program, 0x1000, 0x9000, 0);
  capture.Stack({0x1234});
  capture.header.start_real_ns = 1'000'000'000;
  const Result<Trace> trace = Read(capture);
  ASSERT_TRUE(trace);
  EXPECT_THAT(trace->quality.warnings,
              testing::Contains(program + " was changed after the run: lines named in it may be wrong"));
  capture.header.start_real_ns = ~0ull;
  EXPECT_THAT(Read(capture)->quality.warnings, testing::Not(testing::Contains(HasSubstr("was changed"))));
}

TEST_F(CaptureImporter, RunJsonRoundTrip) {
  RunInfo run;
  run.command = {"./train", "naïve \xff"};
  run.started = "2024-05-01T10:00:00Z";
  run.working_directory = "/home/ann";
  run.cpu = "EPYC";
  run.cores = 2;
  run.cpu_features = {"avx512_bf16"};
  run.versions = {{"torch", "2.11.0"}};
  run.environment = {{"OMP_NUM_THREADS", "2"}};
  run.treatment = "amp=bf16";
  run.exit_status = 137;
  run.rank = 1;
  run.ranks = 4;
  const fs::path path = folder_ / kRunJsonName;
  ASSERT_TRUE(WriteRunJson(path, run));
  const Result<RunInfo> read = ReadRunJson(path);
  ASSERT_TRUE(read) << read.error().Message();
  EXPECT_EQ(read->command, (std::vector<std::string>{"./train", "naïve \xef\xbf\xbd"}));
  EXPECT_EQ(read->started, run.started);
  EXPECT_EQ(read->working_directory, run.working_directory);
  EXPECT_EQ(read->cpu, run.cpu);
  EXPECT_EQ(read->cores, 2);
  EXPECT_EQ(read->cpu_features, run.cpu_features);
  EXPECT_EQ(read->versions, run.versions);
  EXPECT_EQ(read->environment, run.environment);
  EXPECT_EQ(read->treatment, run.treatment);
  EXPECT_EQ(read->exit_status, 137);
  EXPECT_EQ(read->rank, 1);
  EXPECT_EQ(read->ranks, 4);
  EXPECT_FALSE(WriteRunJson(folder_ / "no" / "where.json", run));
  CaptureBuilder::SaveBytes(path, "{\"schema\": \"loopscope.run/2\"}");
  EXPECT_THAT(ReadRunJson(path).error().Message(), HasSubstr("loopscope.run/2"));
  CaptureBuilder::SaveBytes(path, "{\"cores\": \"many\"}");
  EXPECT_EQ(ReadRunJson(path)->cores, 0) << "what is of the wrong type is left out";
  CaptureBuilder::SaveBytes(path, "[");
  EXPECT_THAT(ReadRunJson(path).error().Message(), HasSubstr("not a JSON object"));
}

}  // namespace
}  // namespace loopscope
