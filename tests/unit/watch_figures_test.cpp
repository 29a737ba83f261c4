#include "profiler/commands/watch_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace loopscope {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kMs = 1'000'000;

template <class Record>
void Append(Record record, wire::RecordKind kind, std::uint8_t sub, NewRecords& into) {
  record.head = {kind, sub, sizeof record / 8};
  into.bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
}

void Mark(wire::MarkKind kind, std::uint64_t at_ns, NewRecords& into, std::uint64_t value = 0) {
  Append(wire::MarkRecord{{}, 0, at_ns, value}, wire::RecordKind::kMark, static_cast<std::uint8_t>(kind), into);
}

void Range(wire::RangeCategory category, std::uint64_t at_ns, std::uint64_t length_ns, NewRecords& into) {
  Append(wire::RangeRecord{{}, 0, at_ns, length_ns, 0, 0, 0}, wire::RecordKind::kRange,
         static_cast<std::uint8_t>(category), into);
}

void Step(std::uint64_t end_ns, NewRecords& into) {
  Append(wire::StepRecord{{}, 0, end_ns, 0, {}}, wire::RecordKind::kStep, 0, into);
}

TEST(WatchFigures, TellsTheStepsSinceTheLastTime) {
  WatchFigures figures;
  EXPECT_EQ(figures.Take(kSecond), "no step yet");
  NewRecords start{1, 7, ""};
  Mark(wire::MarkKind::kProbeOn, kSecond, start);
  figures.Add(start);
  EXPECT_EQ(figures.Take(5 * kSecond), "no step yet, 4 s after the start");
  NewRecords records{1, 7, ""};
  for (std::uint64_t step = 0; step <= 10; ++step) {
    const std::uint64_t end = 5 * kSecond + step * 10 * kMs;
    Range(wire::RangeCategory::kLoader, end - 9 * kMs, 2 * kMs, records);
    Range(wire::RangeCategory::kBackward, end - 6 * kMs, 4 * kMs, records);
    Step(end, records);
  }
  Mark(wire::MarkKind::kEpochEnd, 6 * kSecond, records);
  figures.Add(records);
  NewRecords worker{1, 8, ""};  // other threads' work is not the step's
  Range(wire::RangeCategory::kLoader, 5 * kSecond, kSecond, worker);
  figures.Add(worker);
  const std::string text = figures.Take(6 * kSecond);
  EXPECT_THAT(text, testing::HasSubstr("11 steps, 1 epoch; 10.0 ms per step, loader 22 %, backward 44 %"));
  EXPECT_THAT(figures.Take(9 * kSecond), testing::HasSubstr("the last one ended 4 s ago"));
}

// Recorders before version 1.10 wrote marks.
TEST(WatchFigures, TheProcessWithMostStepsIsShown) {
  WatchFigures figures;
  for (std::uint32_t pid : {1, 2}) {
    NewRecords records{pid, pid, ""};
    for (std::uint64_t step = 1; step <= pid * 3; ++step) {
      Mark(wire::MarkKind::kStepEnd, step * pid * 100 * kMs, records);
    }
    figures.Add(records);
  }
  EXPECT_THAT(figures.Take(kSecond), testing::StartsWith("6 steps; 200 ms per step"));
}

}  // namespace
}  // namespace loopscope
