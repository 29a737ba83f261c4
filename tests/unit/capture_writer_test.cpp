#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "probes/capture/crc32c.h"
#include "probes/capture/file.h"
#include "probes/capture/ready_chunks.h"
#include "probes/capture/records.h"

namespace loopscope::capture {
namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LOOPSCOPE_THREAD_SANITIZER 1
#endif
#endif

struct ReadChunk {
  wire::ChunkHeader header{};
  std::string records;
};

struct ReadFile {
  wire::FileHeader header{};
  std::vector<ReadChunk> chunks;
  std::map<std::uint32_t, std::string> strings;
  std::map<std::uint32_t, std::vector<std::uint64_t>> stacks;
  std::vector<wire::TensorPeakRecord> tensor_peaks;
  std::vector<wire::TensorRecord> tensors;
  std::vector<std::pair<std::uint32_t, wire::MarkRecord>> marks;  // tid, mark; chunk by chunk
};

void ReadRecords(const ReadChunk& chunk, ReadFile& into) {
  for (std::size_t at = 0; at < chunk.records.size();) {
    wire::RecordHead head;
    std::memcpy(&head, chunk.records.data() + at, sizeof head);
    ASSERT_GT(head.words, 0);
    ASSERT_LE(at + head.words * 8u, chunk.records.size());
    const char* from = chunk.records.data() + at;
    if (head.kind == wire::RecordKind::kString) {
      wire::StringRecord record;
      std::memcpy(&record, from, sizeof record);
      EXPECT_TRUE(into.strings.emplace(record.id, std::string(from + sizeof record, record.length)).second);
    } else if (head.kind == wire::RecordKind::kStack) {
      wire::StackRecord record;
      std::memcpy(&record, from, sizeof record);
      std::vector<std::uint64_t> frames(record.count);
      std::memcpy(frames.data(), from + sizeof record, record.count * 8);
      EXPECT_TRUE(into.stacks.emplace(record.id, frames).second);
    } else if (head.kind == wire::RecordKind::kMark) {
      wire::MarkRecord record;
      std::memcpy(&record, from, sizeof record);
      into.marks.emplace_back(chunk.header.tid, record);
    } else if (head.kind == wire::RecordKind::kTensorPeak) {
      std::memcpy(&into.tensor_peaks.emplace_back(), from, sizeof(wire::TensorPeakRecord));
    } else if (head.kind == wire::RecordKind::kTensor) {
      std::memcpy(&into.tensors.emplace_back(), from, sizeof(wire::TensorRecord));
    }
    at += head.words * 8u;
  }
}

ReadFile Read(const std::string& path) {
  ReadFile read;
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(&read.header), sizeof read.header);
  EXPECT_EQ(std::memcmp(read.header.magic, wire::kMagic, sizeof wire::kMagic), 0);
  for (std::uint32_t n = 0; n < read.header.next_chunk; ++n) {
    ReadChunk chunk;
    in.seekg(read.header.header_bytes + static_cast<std::streamoff>(n) * read.header.chunk_bytes);
    in.read(reinterpret_cast<char*>(&chunk.header), sizeof chunk.header);
    if (!in || chunk.header.magic != wire::kChunkMagic) {
      in.clear();
      continue;
    }
    chunk.records.resize(chunk.header.used);
    in.read(chunk.records.data(), chunk.header.used);
    EXPECT_TRUE(in.good());
    ReadRecords(chunk, read);
    read.chunks.push_back(std::move(chunk));
  }
  return read;
}

std::vector<std::uint64_t> ValuesOf(const ReadFile& read, wire::MarkKind kind) {
  std::vector<std::uint64_t> values;
  for (const auto& [tid, mark] : read.marks) {
    if (mark.head.sub == static_cast<std::uint8_t>(kind)) values.push_back(mark.value);
  }
  return values;
}

class CaptureWriter : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/capture_writer_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    path_ = folder_ + "/run.cap";
  }
  void TearDown() override {
    Close(false);
    std::filesystem::remove_all(folder_);
  }
  // Runs `body` in a forked process and returns its wait status.
  template <class Body>
  int InChild(Body body) {
    const pid_t child = fork();
    if (child == 0) {
      body();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  std::string folder_, path_;
};

TEST(Crc32c, KnownAnswers) {
  EXPECT_EQ(Crc32c("", 0), 0u);
  EXPECT_EQ(Crc32c("123456789", 9), 0xe3069283u);
  const std::string zeros(32, '\0');  // RFC 3720, appendix B.4
  EXPECT_EQ(Crc32c(zeros.data(), zeros.size()), 0x8a9136aau);
}

TEST(Crc32c, InstructionAgreesWithTable) {
  std::string data;
  for (int n = 0; n < 300; ++n) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
    EXPECT_EQ(Crc32c(data.data(), data.size()), ~detail::Crc32cPortable(~0u, bytes, data.size()));
    data.push_back(static_cast<char>(n * 37 + 11));
  }
}

TEST(ThreadClock, NeverRunsBackwardsAndStaysWithTheKernels) {
  constexpr std::uint64_t kOffNs = 20'000;
  std::uint64_t last = 0;
  const std::uint64_t until = KernelNs() + 60'000'000;  // several corrections
  while (last < until) {
    const std::uint64_t before = KernelNs(), now = NowNs(), after = KernelNs();
    ASSERT_GE(now, last);
    ASSERT_GE(now + kOffNs, before);
    ASSERT_LE(now, after + kOffNs);
    last = now;
  }
}

TEST_F(CaptureWriter, WritesAPrivateFileThatStartsAndEndsInOrder) {
  ASSERT_EQ(Open(path_.c_str()), 0);
  EXPECT_TRUE(WriteMark(wire::MarkKind::kStepEnd, "mark", 7));
  Close(true);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const ReadFile read = Read(path_);
  EXPECT_EQ(read.header.major, wire::kMajor);
  EXPECT_EQ(read.header.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(read.header.clean_end, 1u);
  EXPECT_EQ(read.header.dropped, 0u);
  EXPECT_THAT(ValuesOf(read, wire::MarkKind::kStepEnd), ::testing::ElementsAre(7));
  EXPECT_EQ(ValuesOf(read, wire::MarkKind::kThreadName).size(), 1u);
  // Unused chunks were given back.
  EXPECT_EQ(static_cast<std::uint64_t>(status.st_size),
            wire::kHeaderBytes + std::uint64_t{read.header.next_chunk} * wire::kChunkBytes);
  EXPECT_EQ(read.header.next_chunk, 1u);
}

TEST_F(CaptureWriter, AnExistingFileIsNotTouched) {
  std::ofstream(path_) << "theirs";
  EXPECT_EQ(Open(path_.c_str()), EEXIST);
  EXPECT_EQ(std::filesystem::file_size(path_), 6u);
  EXPECT_FALSE(IsOpen());
  EXPECT_FALSE(WriteMark(wire::MarkKind::kStepEnd));
}

TEST_F(CaptureWriter, TensorsAreRecordsOfTheirOwn) {
  ASSERT_EQ(Open(path_.c_str(), {}), 0);
  EXPECT_TRUE(WriteTensorPeak(70, 900));
  EXPECT_TRUE(WriteTensor({.head = {}, .tid = 7, .bytes = 100, .allocated_ns = 10, .used_ns = 20, .freed_ns = 0}));
  Close(true);
  const ReadFile read = Read(path_);
  EXPECT_EQ(read.header.minor, wire::kMinor);
  ASSERT_EQ(read.tensor_peaks.size(), 1u);
  EXPECT_EQ(read.tensor_peaks[0].time_ns, 70u);
  EXPECT_EQ(read.tensor_peaks[0].bytes, 900u);
  ASSERT_EQ(read.tensors.size(), 1u);
  EXPECT_EQ(read.tensors[0].head.words * 8u, sizeof(wire::TensorRecord));
  EXPECT_EQ(read.tensors[0].tid, 7u);
  EXPECT_EQ(read.tensors[0].used_ns, 20u);
}

TEST_F(CaptureWriter, EqualTextsShareOneDefinition) {
  ASSERT_EQ(Open(path_.c_str()), 0);
  const std::uint32_t add = StringId("aten::add");
  char buffer[] = "aten::add";  // the same text at another address
  EXPECT_EQ(StringId(buffer), add);
  std::strcpy(buffer, "aten::mul");  // another text at the same address
  const std::uint32_t mul = StringId(buffer);
  EXPECT_NE(mul, add);
  std::uint32_t elsewhere = 0;
  std::thread([&] { elsewhere = StringId("aten::add"); }).join();
  EXPECT_EQ(elsewhere, add);
  EXPECT_EQ(StringId(""), 0u);
  const std::uint32_t cut = StringId(std::string(wire::kMaxStringBytes + 100, 'x'));
  Close(true);
  const ReadFile read = Read(path_);
  EXPECT_EQ(read.strings.at(add), "aten::add");
  EXPECT_EQ(read.strings.at(mul), "aten::mul");
  EXPECT_EQ(read.strings.at(cut).size(), wire::kMaxStringBytes);
}

TEST_F(CaptureWriter, EqualStacksShareOneDefinition) {
  ASSERT_EQ(Open(path_.c_str()), 0);
  const std::uint64_t frames[] = {1, 2, 3};
  bool is_new = false;
  const std::uint32_t id = StackId(frames, 3, &is_new);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(StackId(frames, 3, &is_new), id);
  EXPECT_FALSE(is_new);
  EXPECT_NE(StackId(frames, 2, &is_new), id);
  EXPECT_TRUE(is_new);
  Close(true);
  EXPECT_THAT(Read(path_).stacks.at(id), ::testing::ElementsAre(1, 2, 3));
}

TEST_F(CaptureWriter, ClosedChunksCarryTheirChecksum) {
  ASSERT_EQ(Open(path_.c_str()), 0);
  for (std::uint64_t n = 0; n < 10'000; ++n) WriteMark(wire::MarkKind::kStepEnd, {}, n);
  Close(true);
  const ReadFile read = Read(path_);
  ASSERT_GT(read.chunks.size(), 3u);
  for (const ReadChunk& chunk : read.chunks) {
    EXPECT_EQ(chunk.header.closed, 1u);
    EXPECT_EQ(chunk.header.crc32c, Crc32c(chunk.records.data(), chunk.records.size()));
  }
  const auto values = ValuesOf(read, wire::MarkKind::kStepEnd);
  EXPECT_EQ(values.size() + read.header.dropped, 10'000u);
  EXPECT_TRUE(std::ranges::is_sorted(values));
}

TEST_F(CaptureWriter, AThreadThatIsFasterThanTheHelperLosesNothing) {
  constexpr std::uint64_t kMarks = 60'000;  // 30 chunks
  ASSERT_EQ(Open(path_.c_str(), {.ready_chunks = 1}), 0);
  for (std::uint64_t n = 0; n < kMarks; ++n) WriteMark(wire::MarkKind::kStepEnd, {}, n);
  Close(true);
  const ReadFile read = Read(path_);
  EXPECT_EQ(read.header.dropped, 0u);
  const auto values = ValuesOf(read, wire::MarkKind::kStepEnd);
  EXPECT_EQ(values.size(), kMarks);
  EXPECT_TRUE(std::ranges::is_sorted(values));
}

TEST_F(CaptureWriter, ManyThreadsLoseNothingUncounted) {
  constexpr int kThreads = 8, kMarks = 5000;
  ASSERT_EQ(Open(path_.c_str(), {.limit_bytes = 256u << 20, .ready_chunks = 64}), 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int n = 0; n < kMarks; ++n) {
        WriteMark(wire::MarkKind::kMetric, "thread " + std::to_string((n + t) % 50), n);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  Close(true);
  const ReadFile read = Read(path_);
  std::map<std::uint32_t, std::vector<std::uint64_t>> by_thread;
  std::size_t metrics = 0;
  for (const auto& [tid, mark] : read.marks) {
    if (mark.head.sub != static_cast<std::uint8_t>(wire::MarkKind::kMetric)) continue;
    by_thread[tid].push_back(mark.value);
    ++metrics;
    EXPECT_TRUE(mark.name == 0 || read.strings.contains(mark.name));
  }
  EXPECT_EQ(by_thread.size(), static_cast<std::size_t>(kThreads));
  EXPECT_GE(metrics + read.header.dropped, static_cast<std::size_t>(kThreads * kMarks));
  EXPECT_GT(metrics, 0u);
  for (const auto& [tid, values] : by_thread) EXPECT_TRUE(std::ranges::is_sorted(values));
}

TEST_F(CaptureWriter, RecordsSurviveSigkillInMidWrite) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (Open(path_.c_str()) != 0) _exit(1);
    for (std::uint64_t n = 0;; ++n) {
      WriteMark(wire::MarkKind::kStepEnd, "mark", n);
      if (n == 20'000 && write(ready[1], "x", 1) != 1) _exit(2);
    }
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  const ReadFile read = Read(path_);
  const auto values = ValuesOf(read, wire::MarkKind::kStepEnd);
  EXPECT_EQ(read.header.clean_end, 0u);
  EXPECT_GT(values.size() + read.header.dropped, 20'000u);
  EXPECT_GT(values.size(), 1000u);
  EXPECT_TRUE(std::ranges::is_sorted(values));
}

TEST_F(CaptureWriter, AForkedChildSharesTheFileInChunksOfItsOwn) {
#ifdef LOOPSCOPE_THREAD_SANITIZER
  GTEST_SKIP() << "the thread sanitizer ends a forked child that starts a thread";
#endif
  ASSERT_EQ(Open(path_.c_str()), 0);
  WriteMark(wire::MarkKind::kMetric, "parent", 1);
  const int status = InChild([] {
    for (std::uint64_t n = 0; n < 3000; ++n) WriteMark(wire::MarkKind::kMetric, "child", 2);
    WriteMark(wire::MarkKind::kMetric, "parent", 2);  // a text that the parent defined
  });
  EXPECT_EQ(status, 0);
  WriteMark(wire::MarkKind::kMetric, "parent", 1);
  Close(true);
  const ReadFile read = Read(path_);
  std::map<std::uint32_t, std::set<std::uint64_t>> values_by_thread;
  std::uint64_t children = 0;
  for (const auto& [tid, mark] : read.marks) {
    if (mark.head.sub != static_cast<std::uint8_t>(wire::MarkKind::kMetric)) continue;
    values_by_thread[tid].insert(mark.value);
    EXPECT_TRUE(read.strings.contains(mark.name));
    if (mark.value == 2) ++children;
  }
  EXPECT_EQ(values_by_thread.size(), 2u);
  for (const auto& [tid, values] : values_by_thread) EXPECT_EQ(values.size(), 1u);
  EXPECT_EQ(children + read.header.dropped, 3001u);
  std::set<std::uint32_t> pids;
  for (const ReadChunk& chunk : read.chunks) pids.insert(chunk.header.pid);
  EXPECT_EQ(pids.size(), 2u);
}

TEST_F(CaptureWriter, AFullDiskSwitchesItOffAndSaysSo) {
  const int status = InChild([this] {
    rlimit limit{.rlim_cur = 300 * 1024, .rlim_max = 300 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    const int errors = open((folder_ + "/stderr").c_str(), O_CREAT | O_WRONLY, 0600);
    dup2(errors, STDERR_FILENO);
    if (Open(path_.c_str(), {.limit_bytes = 1u << 30, .ready_chunks = 2}) != 0) _exit(1);
    for (int n = 0; n < 200'000; ++n) WriteMark(wire::MarkKind::kStepEnd, {}, n);
    for (int n = 0; n < 10'000 && IsOpen(); ++n) {
      usleep(100);
      WriteMark(wire::MarkKind::kStepEnd, {}, n);
    }
    if (IsOpen() || OffReason() == nullptr) _exit(2);
    Close(false);
  });
  EXPECT_EQ(status, 0);
  const ReadFile read = Read(path_);
  EXPECT_GT(read.header.dropped, 0u);
  EXPECT_GT(ValuesOf(read, wire::MarkKind::kStepEnd).size(), 8000u);
  EXPECT_EQ(ValuesOf(read, wire::MarkKind::kProbeOff).size(), 1u);
  EXPECT_LE(std::filesystem::file_size(path_), 300u * 1024);
  std::ifstream errors(folder_ + "/stderr");
  std::string line, more;
  ASSERT_TRUE(std::getline(errors, line));
  EXPECT_THAT(line, ::testing::HasSubstr("size limit"));
  EXPECT_FALSE(std::getline(errors, more));
}

TEST_F(CaptureWriter, TheSizeLimitHolds) {
  constexpr std::uint64_t kLimit = 32u << 20;
  // One thread cannot use ready chunks that lie before one it made itself, as many as there are slots for; one is
  // spare.
  constexpr std::uint64_t kLeast = kLimit / wire::kChunkBytes - 1 - ReadyChunks::kMax - 1;
  constexpr std::uint64_t kMarksInChunk = (wire::kChunkBytes - sizeof(wire::ChunkHeader)) / sizeof(wire::MarkRecord);
  ASSERT_EQ(Open(path_.c_str(), {.limit_bytes = kLimit, .ready_chunks = 2}), 0);
  for (int n = 0; n < 50'000'000 && IsOpen(); ++n) WriteMark(wire::MarkKind::kSwitch, {}, n);
  EXPECT_THAT(OffReason(), ::testing::HasSubstr("size limit"));
  Close(true);
  EXPECT_LE(std::filesystem::file_size(path_), kLimit);
  EXPECT_GT(ValuesOf(Read(path_), wire::MarkKind::kSwitch).size(), kLeast * (kMarksInChunk - 1));
}

TEST_F(CaptureWriter, AProgramThatClosesItsDescriptorsKeepsItsOwnFiles) {
#ifdef LOOPSCOPE_THREAD_SANITIZER
  GTEST_SKIP() << "closing the descriptor under the helper is the race this test is about";
#endif
  const std::string theirs = folder_ + "/theirs";
  const int status = InChild([&] {
    if (Open(path_.c_str(), {.limit_bytes = 64u << 20, .ready_chunks = 1}) != 0) _exit(1);
    close_range(3, ~0u, 0);
    for (int n = 0; n < 1000; ++n) open(theirs.c_str(), O_CREAT | O_RDWR, 0600);
    for (int n = 0; n < 20'000; ++n) WriteMark(wire::MarkKind::kStepEnd, {}, n);
    Close(true);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::filesystem::file_size(theirs), 0u);
  EXPECT_GT(ValuesOf(Read(path_), wire::MarkKind::kStepEnd).size(), 1000u);
}

}  // namespace
}  // namespace loopscope::capture
