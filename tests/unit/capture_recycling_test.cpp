#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "probes/capture/file.h"
#include "probes/capture/records.h"
#include "profiler/importers/capture/file.h"
#include "profiler/importers/capture/tail.h"
#include "tests/support/sanitized.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;
using capture::WriteMarkAt;
using testing::HasSubstr;
using wire::MarkKind;

constexpr std::uint64_t kLimit = 8u << 20;
constexpr std::uint64_t kOpsInStep = 100, kNsPerOp = 10, kNsPerStep = kOpsInStep * kNsPerOp;

// A record that finds no chunk is dropped and counted, as when the helper does not get a processor for long. Here it is
// written again, so that the test does not depend on the machine's load. A false result is a refusal.
std::atomic<std::uint64_t> refused{0};
template <class Write>
auto WriteUntilTaken(const Write& write) {
  auto result = write();
  while (!result && capture::IsOpen()) {
    refused.fetch_add(1, std::memory_order_relaxed);
    usleep(200);
    result = write();
  }
  return result;
}

void WriteOp(std::uint64_t start_ns) {
  wire::OpRecord op{};
  op.head = capture::HeadOf<wire::OpRecord>(wire::RecordKind::kOp, 0);
  op.name = WriteUntilTaken([] { return capture::StringId("aten::relu"); });
  op.start_ns = start_ns;
  op.duration = kNsPerOp - 1;
  WriteUntilTaken([&] { return capture::Append(&op, sizeof op); });
}

bool WriteStepEnd(std::uint64_t end_ns, std::uint32_t clock, std::uint64_t number) {
  return WriteUntilTaken([&] { return capture::WriteStep(end_ns, clock, number, 0, {}); });
}

// Step `number` from 0: its operators, a short range and its end. Still some ten times faster than a training.
void WriteStep(std::uint64_t number) {
  constexpr std::uint64_t kStepsInChunk = 20;
  if (number % kStepsInChunk == 0) usleep(1500);
  for (std::uint64_t n = 0; n < kOpsInStep; ++n) WriteOp(number * kNsPerStep + n * kNsPerOp);
  const std::string name = "step " + std::to_string(number % 1000);
  const std::uint32_t id = WriteUntilTaken([&] { return capture::StringId(name); });
  const std::uint64_t start_ns = number * kNsPerStep;
  WriteUntilTaken([&] { return capture::WriteRange(wire::RangeCategory::kBackward, id, start_ns, start_ns + 10); });
  WriteStepEnd(start_ns + kNsPerStep, id, number);
}

// What a reader finds, by thread, in the order of the records.
struct Found {
  CaptureChunks chunks;
  std::map<std::uint32_t, std::vector<std::uint64_t>> steps, ops, ranges;  // samples of the steps; starts
  std::size_t strings = 0, metrics = 0, probes_off = 0;
};

Found ReadBack(const fs::path& path) {
  Result<MappedFile> file = MappedFile::Open(path);
  EXPECT_TRUE(file) << file.error().what;
  Result<CaptureChunks> chunks = ReadChunks(file->bytes(), path);
  EXPECT_TRUE(chunks) << chunks.error().what;
  Found found{std::move(*chunks), {}, {}};
  for (const ChunkView& chunk : found.chunks.chunks) {
    ForEachRecord(chunk, [&](wire::RecordHead head, const char* at) {
      if (head.kind == wire::RecordKind::kString) ++found.strings;
      if (head.kind == wire::RecordKind::kOp) found.ops[chunk.tid].push_back(StartOf(at));
      if (head.kind == wire::RecordKind::kRange) found.ranges[chunk.tid].push_back(StartOf(at));
      if (head.kind == wire::RecordKind::kStep) {
        found.steps[chunk.tid].push_back(RecordAt<wire::StepRecord>(at).samples);
      }
      if (head.kind != wire::RecordKind::kMark) return;
      if (head.sub == static_cast<std::uint8_t>(MarkKind::kMetric)) ++found.metrics;
      if (head.sub == static_cast<std::uint8_t>(MarkKind::kProbeOff)) ++found.probes_off;
    });
  }
  for (auto* all : {&found.steps, &found.ops, &found.ranges}) {
    for (auto& [tid, values] : *all)
      std::ranges::sort(values);  // a thread's chunks are put in order by their times later
  }
  return found;
}

void ExpectAllOnce(const std::vector<std::uint64_t>& values, std::uint64_t count) {
  ASSERT_EQ(values.size(), count);
  for (std::uint64_t n = 0; n < count; ++n) ASSERT_EQ(values[n], n);
}

class CaptureRecycling : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/capture_recycling_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    refused = 0;
    folder_ = folder;
    path_ = folder_ / "run.cap";
  }
  void TearDown() override {
    capture::Close(false);
    fs::remove_all(folder_);
  }
  fs::path folder_, path_;
};

TEST_F(CaptureRecycling, TheFirstAndTheNewestOperatorsStayAndEachStep) {
  constexpr std::uint64_t kSteps = 10'000, kKept = 50, kEvaluated = 200;
  ASSERT_EQ(capture::Open(path_.c_str(), {.limit_bytes = kLimit}), 0);
  for (std::uint64_t n = 0; n < kSteps; ++n) {
    WriteStep(n);
    if (n + 1 == kKept) capture::KeepOperators(false, kKept * kNsPerStep);
    if (n != kEvaluated) continue;
    WriteUntilTaken([&] {
      return capture::WriteRange(wire::RangeCategory::kEvaluation, 0, n * kNsPerStep + 1, n * kNsPerStep + 2);
    });
  }
  EXPECT_EQ(capture::OffReason(), nullptr);
  capture::Close(true);
  EXPECT_LE(fs::file_size(path_), kLimit);
  const Found found = ReadBack(path_);
  const wire::FileHeader& header = found.chunks.header;
  EXPECT_EQ(header.dropped, refused);
  EXPECT_EQ(found.chunks.damaged_chunks, 0u);
  EXPECT_EQ(found.chunks.torn_bytes, 0u);
  EXPECT_EQ(found.strings, 1002u);  // with the thread's name
  ASSERT_EQ(found.steps.size(), 1u);
  ExpectAllOnce(found.steps.begin()->second, kSteps);
  // Each operator outside of what was left out is there.
  EXPECT_EQ(header.left_out_from_ns, kKept * kNsPerStep);
  EXPECT_LT(header.left_out_until_ns, kSteps * kNsPerStep);
  EXPECT_GT(header.left_out_until_ns, kSteps / 2 * kNsPerStep);
  std::vector<std::uint64_t> expected;
  for (std::uint64_t at = 0; at < kSteps * kNsPerStep; at += kNsPerOp) {
    if (at < header.left_out_from_ns || at >= header.left_out_until_ns) expected.push_back(at);
  }
  EXPECT_EQ(found.ops.begin()->second, expected);
  EXPECT_GT(expected.size(), 100'000u);
  // Ranges go with them, but for those of steps that are no usual ones. A step's come after its operators: of the last
  // step that lost some of those they may still be there.
  const std::uint64_t last_ns = header.left_out_until_ns / kNsPerStep * kNsPerStep;
  std::vector<std::uint64_t> ranges;
  for (std::uint64_t n = 0; n < kSteps; ++n) {
    const std::uint64_t at = n * kNsPerStep;
    if (at != last_ns && (at < header.left_out_from_ns || at >= header.left_out_until_ns)) ranges.push_back(at);
    if (n == kEvaluated) ranges.push_back(at + 1);
  }
  std::vector<std::uint64_t> there = found.ranges.begin()->second;
  std::erase(there, last_ns);
  std::vector<std::uint64_t> odd;
  std::ranges::set_symmetric_difference(there, ranges, std::back_inserter(odd));
  EXPECT_THAT(odd, testing::IsEmpty()) << header.left_out_from_ns << " " << header.left_out_until_ns;
}

TEST_F(CaptureRecycling, AnyTimeMayBeKept) {
  constexpr std::uint64_t kSteps = 6000;
  ASSERT_EQ(capture::Open(path_.c_str(), {.limit_bytes = kLimit}), 0);
  capture::KeepOperators(false, 0);
  for (std::uint64_t n = 0; n < kSteps; ++n) {
    if (n % 1000 == 500) capture::KeepOperators(true, n * kNsPerStep);
    if (n % 1000 == 503) capture::KeepOperators(false, n * kNsPerStep);
    WriteStep(n);
  }
  capture::Close(true);
  const Found found = ReadBack(path_);
  EXPECT_GT(found.chunks.header.left_out_until_ns, 2000 * kNsPerStep);
  const std::vector<std::uint64_t>& ops = found.ops.begin()->second;
  for (std::uint64_t kept : {500, 1501, 2502}) {
    const auto begin = std::ranges::lower_bound(ops, kept * kNsPerStep);
    const auto end = std::ranges::lower_bound(ops, (kept + 1) * kNsPerStep);
    EXPECT_EQ(static_cast<std::uint64_t>(end - begin), kOpsInStep) << kept;
  }
  EXPECT_FALSE(std::ranges::binary_search(ops, 1000 * kNsPerStep));
}

TEST_F(CaptureRecycling, RecordsOfSeveralThreadsStayTheirs) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kSteps = 2000;
  ASSERT_EQ(capture::Open(path_.c_str(), {.limit_bytes = kLimit}), 0);
  capture::KeepOperators(false, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (std::uint64_t n = 0; n < kSteps; ++n) {
        WriteStep(n);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  capture::Close(true);
  const Found found = ReadBack(path_);
  EXPECT_GT(found.chunks.header.left_out_until_ns, 0u);
  ASSERT_EQ(found.steps.size(), static_cast<std::size_t>(kThreads));
  for (const auto& [tid, steps] : found.steps) ExpectAllOnce(steps, kSteps);
}

TEST_F(CaptureRecycling, KilledAtAnyInstantEachStepIsThereOnce) {
  if (test::kSanitized) GTEST_SKIP() << "the trial is of when the processor stores what";
  std::minstd_rand random(7);
  for (int trial = 0; trial < 10; ++trial) {
    fs::remove(path_);
    int first_step[2];
    ASSERT_EQ(pipe(first_step), 0);
    const pid_t child = fork();
    if (child == 0) {
      if (capture::Open(path_.c_str(), {.limit_bytes = kLimit}) != 0) _exit(1);
      capture::KeepOperators(false, 0);
      WriteStep(0);
      close(first_step[1]);
      for (std::uint64_t n = 1;; ++n) WriteStep(n);
    }
    close(first_step[1]);
    char nothing;
    EXPECT_EQ(read(first_step[0], &nothing, 1), 0);
    close(first_step[0]);
    usleep(static_cast<useconds_t>(60'000 + random() % 60'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const Found found = ReadBack(path_);
    EXPECT_EQ(found.chunks.damaged_chunks, 0u);
    ASSERT_EQ(found.steps.size(), 1u);
    ExpectAllOnce(found.steps.begin()->second, found.steps.begin()->second.size());
  }
}

TEST_F(CaptureRecycling, ProcessesThatComeAndGoLeaveTheirChunks) {
  if (test::kSanitized) GTEST_SKIP() << "the thread sanitizer ends a forked child that starts a thread";
  ASSERT_EQ(capture::Open(path_.c_str(), {.limit_bytes = kLimit}), 0);
  capture::KeepOperators(false, 0);
  constexpr std::uint64_t kChildren = 200;  // of a chunk or more each: more than fit
  std::uint64_t step = 0;
  for (; step < 3000; ++step) WriteStep(step);  // the file is full
  for (std::uint64_t n = 0; n < kChildren; ++n) {
    const pid_t child = fork();
    if (child == 0) {
      WriteMarkAt(1 + n, MarkKind::kMetric, "child", n);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    for (int i = 0; i < 20; ++i) WriteStep(step++);
    usleep(5000);
  }
  capture::Close(true);
  EXPECT_LE(fs::file_size(path_), kLimit);
  const Found found = ReadBack(path_);
  ASSERT_EQ(found.steps.size(), 1u);
  EXPECT_EQ(found.steps.begin()->second.size(), step);
  EXPECT_GE(found.metrics, kChildren * 9 / 10);
}

TEST_F(CaptureRecycling, WhoFollowsTheFileSeesEachStepOnce) {
  ASSERT_EQ(capture::Open(path_.c_str(), {.limit_bytes = kLimit}), 0);
  capture::KeepOperators(false, 0);
  CaptureTail tail(path_);
  std::vector<std::uint64_t> steps;
  for (std::uint64_t n = 0; n < 6000; ++n) {
    WriteStep(n);
    if (n % 500 != 499) continue;  // often enough for what the file holds
    for (const NewRecords& records : tail.Poll()) {
      ForEachRecord(records.view(), [&](wire::RecordHead head, const char* at) {
        if (head.kind == wire::RecordKind::kStep) steps.push_back(RecordAt<wire::StepRecord>(at).samples);
      });
    }
  }
  std::ranges::sort(steps);
  ExpectAllOnce(steps, 6000);
  EXPECT_TRUE(CaptureTail(folder_ / "none.cap").Poll().empty());
}

// Steps that are nothing but their record, as a long training leaves them.
TEST_F(CaptureRecycling, OfVeryManyStepsTheFirstAndTheNewestStay) {
  constexpr std::uint64_t kSteps = 1'000'000;
  ASSERT_EQ(capture::Open(path_.c_str(), {.limit_bytes = kLimit}), 0);
  const std::uint32_t name = WriteUntilTaken([] { return capture::StringId("step"); });
  const std::uint32_t other = WriteUntilTaken([] { return capture::StringId("probe"); });
  for (std::uint64_t n = 0; n < kSteps; ++n) {
    if (n % 2000 == 0) usleep(1500);
    WriteStepEnd((n + 1) * kNsPerStep, name, n);
    if (n % 100'000 != 0) continue;
    WriteUntilTaken([&] { return capture::WriteNamedMark(n * kNsPerStep, MarkKind::kProbeOff, other, n); });
    WriteUntilTaken([&] { return capture::StringId("string " + std::to_string(n)); });
  }
  EXPECT_EQ(capture::OffReason(), nullptr);
  capture::Close(true);
  EXPECT_LE(fs::file_size(path_), kLimit);
  const Found found = ReadBack(path_);
  const wire::FileHeader& header = found.chunks.header;
  EXPECT_EQ(found.chunks.damaged_chunks, 0u);
  EXPECT_EQ(found.strings, 13u);  // with the thread's name
  EXPECT_EQ(found.probes_off, 10u);
  const std::vector<std::uint64_t>& steps = found.steps.begin()->second;
  EXPECT_EQ(header.skipped_steps, kSteps - steps.size());
  EXPECT_GT(steps.size(), kLimit / 2 / sizeof(wire::StepRecord));
  std::vector<std::uint64_t> expected;
  for (std::uint64_t n = 0; n < kSteps; ++n) {
    const std::uint64_t at = (n + 1) * kNsPerStep;
    if (at < header.skipped_from_ns || at >= header.skipped_until_ns) expected.push_back(n);
  }
  EXPECT_EQ(steps, expected);
  EXPECT_GT(header.skipped_from_ns, 17'000 * kNsPerStep);
}

TEST_F(CaptureRecycling, DefinitionsAloneFillTheFileThenItEnds) {
  ASSERT_EQ(capture::Open(path_.c_str(), {.limit_bytes = kLimit}), 0);
  const std::string text(1000, 'x');
  std::uint64_t n = 0;
  for (; n < 100'000 && capture::IsOpen(); ++n) {
    if (n % 50 == 0) usleep(1500);
    WriteUntilTaken([&] { return capture::StringId(text + std::to_string(n)); });
  }
  EXPECT_THAT(capture::OffReason(), HasSubstr("size limit"));
  capture::Close(true);
  const Found found = ReadBack(path_);
  EXPECT_EQ(found.chunks.header.skipped_until_ns, 0u);
  EXPECT_GT(found.strings, kLimit / 2 / text.size());
}

}  // namespace
}  // namespace loopscope
