// A capture cut at every length, and with every byte changed, gives a message or a trace with no more than was there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>

#include "profiler/core/timeline/timeline.h"
#include "profiler/importers/importers.h"
#include "tests/support/capture_builder.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;
using test::CaptureBuilder;

// One of every kind of record, on two threads, a closed chunk and two open ones.
std::string SmallCapture() {
  CaptureBuilder capture;
  capture.Fact("threads", "2");
  capture.Module("/nowhere/train", 0x1000, 0x9000, 0);
  const std::uint32_t stack =
      capture.Stack({0x1234, capture.String("/home/ann/train.py:12:step") | wire::kFrameIsText});
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::uint64_t at = 1'000'000 + 1000 * i;
    capture.Range(wire::RangeCategory::kLoader, "RandomSampler", at, at + 10, 32, stack);
    capture.Op("aten::addmm", at + 150, at + 300, wire::kOpGraph, static_cast<std::uint32_t>(i));
    capture.Detail("f32[2,3];f32[3,4]", stack, 1);
    capture.Op("aten::linear", at + 100, at + 400, wire::kOpGraph, static_cast<std::uint32_t>(i));
    capture.Range(wire::RangeCategory::kBackward, "backward", at + 400, at + 800);
    capture.Range(wire::RangeCategory::kOptimizer, "SGD", at + 850, at + 950, 12);
    capture.Step("optimizer:SGD#1", at + 960, 32, wire::kStepSummed | wire::kStepOperators, {10, 300, 400, 100});
    if (i == 2) capture.Close();
    if (i == 2) capture.Mark(wire::MarkKind::kEpochStart, "", at + 970);
  }
  capture.Applied("threads", "OpenMP", "2", "1");
  capture.TensorPeak(1'001'500, 900);
  capture.Tensor(100, 1'000'100, 1'000'200, 0, 100);
  capture.Tensor(50, 1'000'110, 1'000'210, 1'002'000, 101);
  capture.On(100, 101);
  capture.Op("aten::copy_", 5, 9);
  return capture.Bytes();
}

class CaptureDamage : public testing::Test {
 protected:
  // The number of events that are read, after looking at the whole trace; -1 for an error with a message.
  std::int64_t Events(std::string_view bytes) {
    Save(bytes);
    Result<Trace> trace = ReadAnyTrace(path_);
    if (!trace) {
      EXPECT_FALSE(trace.error().what.empty());
      EXPECT_NE(trace.error().Message().find(path_.string()), std::string::npos);
      return -1;
    }
    const auto events = static_cast<std::int64_t>(trace->quality.events);
    LookAtTensors(*trace);
    const Timeline timeline = Timeline::Build(std::move(*trace));
    for (std::uint32_t t = 0; t < timeline.trace().threads.size(); ++t) {
      timeline.ForEach(t, {0, INT64_MAX}, [&](EventRef ref) {
        text_bytes_ += timeline.name(ref).size() + timeline.inputs(ref).size() + (timeline.where(ref) ? 1 : 0);
        EXPECT_GE(timeline.self_ns(ref), 0);
      });
    }
    for (const Step& step : timeline.steps()) EXPECT_GT(step.time.length(), 0);
    return events;
  }

  // Into one file that stays open: on ext4, replacing deleted files gets slower with their number, and a file that is
  // emptied and closed is flushed to the disk.
  void Save(std::string_view bytes) {
    ASSERT_EQ(pwrite(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    ASSERT_EQ(ftruncate(file_, static_cast<off_t>(bytes.size())), 0);
  }

  static void LookAtTensors(const Trace& trace) {
    EXPECT_LE(trace.tensor_peaks.size() + trace.idle_tensors.size(), 3u + 3u) << "no more than the bytes could hold";
    for (const TensorPeak& peak : trace.tensor_peaks) EXPECT_GE(peak.time_ns, 0);
    for (const IdleTensor& tensor : trace.idle_tensors) {
      EXPECT_GE(std::min({tensor.allocated_ns, tensor.used_ns, tensor.freed_ns}), 0);
      EXPECT_TRUE(tensor.thread == kNone || tensor.thread < trace.threads.size());
    }
  }

  fs::path path_ = fs::path(testing::TempDir()) / ("capture_damage_" + std::to_string(getpid()) + ".cap");
  const int file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::uint64_t text_bytes_ = 0;
  void TearDown() override {
    close(file_);
    fs::remove(path_);
  }
};

// The bytes to damage: the header's fields and each chunk's records, not the padding beyond them.
std::vector<std::size_t> UsedBytes(std::string_view file) {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < sizeof(wire::FileHeader) + 8; ++i) used.push_back(i);
  for (std::size_t at = wire::kHeaderBytes; at < file.size(); at += wire::kMinChunkBytes) {
    wire::ChunkHeader header;
    std::memcpy(&header, file.data() + at, sizeof header);
    for (std::size_t i = 0; i < sizeof header + header.used + 8; ++i) used.push_back(at + i);
  }
  return used;
}

TEST_F(CaptureDamage, CutAtEveryLength) {
  const std::string whole = SmallCapture();
  const std::int64_t all = Events(whole);
  ASSERT_EQ(all, 26);
  std::int64_t most = -1;
  // In the padding between records all lengths are equivalent.
  const std::vector<std::size_t> used = UsedBytes(whole);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    if (length % 97 != 0 && !std::ranges::binary_search(used, length)) continue;
    const std::int64_t events = Events(std::string_view(whole).substr(0, length));
    EXPECT_LE(events, all) << length;
    EXPECT_GE(events, most) << "a longer part gives no less, at " << length;
    EXPECT_EQ(events < 0, length < sizeof(wire::FileHeader)) << length;
    most = std::max(most, events);
  }
  EXPECT_EQ(most, all);
}

TEST_F(CaptureDamage, EveryByteChanged) {
  const std::string whole = SmallCapture();
  const std::int64_t all = Events(whole);
  int refused = 0, shorter = 0;
  for (const std::size_t at : UsedBytes(whole)) {
    for (const int bits : {0xff, 0x01, 0x80}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      const std::int64_t events = Events(damaged);
      // A changed size may show bytes of another record as one: there are never more than the bytes could hold.
      EXPECT_LE(events, all + 8) << "byte " << at << " with " << bits;
      refused += events < 0;
      shorter += events >= 0 && events < all;
    }
  }
  EXPECT_GT(refused, 3 * 8) << "the magic, at least";
  EXPECT_GT(shorter, 3 * 100) << "the closed chunk's bytes, at least";
}

// Sizes at their extremes: each field of the header and of a chunk's header set to all ones.
TEST_F(CaptureDamage, ExtremeSizes) {
  const std::string whole = SmallCapture();
  for (std::size_t at = 8; at + 4 <= sizeof(wire::FileHeader); at += 4) {
    std::string damaged = whole;
    damaged.replace(at, 4, 4, '\xff');
    EXPECT_LE(Events(damaged), 26);
  }
  for (std::size_t at = wire::kHeaderBytes; at + 4 <= wire::kHeaderBytes + 256; at += 4) {
    std::string damaged = whole;
    damaged.replace(at, 4, 4, '\xff');
    EXPECT_LE(Events(damaged), 34);
    damaged.replace(at, 4, 4, '\0');
    EXPECT_LE(Events(damaged), 34);
  }
}

}  // namespace
}  // namespace loopscope
