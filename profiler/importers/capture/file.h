// One capture file in memory: its chunks, checked, and a walk over their records. Nothing in it is trusted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "probes/wire.h"
#include "profiler/core/result.h"

namespace loopscope {

// Four and a half years after boot: no machine's clock reads more, and sums of such times do not overflow.
inline constexpr std::uint64_t kMaxTimeNs = 1ull << 57;

// The bytes of a file, mapped for reading.
class MappedFile {
 public:
  static Result<MappedFile> Open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();
  std::span<const char> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}
  const char* data_;
  std::size_t size_;
};

// The whole records of one chunk: every head lies inside, has words >= 1 and ends inside.
struct ChunkView {
  std::uint32_t pid = 0, tid = 0;
  std::span<const char> records;
  bool give_back = false;  // their pages leave memory after each walk: they lie in a large MappedFile
};

struct CaptureChunks {
  wire::FileHeader header{};
  std::vector<ChunkView> chunks;     // in the order of allocation; chunks shared by several threads are split
  std::uint64_t torn_bytes = 0;      // written or claimed, but unusable
  std::uint64_t missing_bytes = 0;   // of chunks that were handed out, past the end of the file
  std::uint32_t damaged_chunks = 0;  // closed chunks whose bytes are not what was written
};

// Errors: not a capture, a newer major version, sizes out of bounds. Damage further in is counted, not an error.
// `give_back`: the bytes are those of a MappedFile, and too many to stay in memory.
Result<CaptureChunks> ReadChunks(std::span<const char> file, const std::filesystem::path& path, bool give_back = false);

void GiveBackPages(std::span<const char> bytes);  // of a MappedFile

// The record at `at`, which must lie in a ChunkView; zeros where the record is shorter than T.
template <class T>
T RecordAt(const char* at) {
  wire::RecordHead head;
  std::memcpy(&head, at, sizeof head);
  T record{};
  std::memcpy(&record, at, std::min<std::size_t>(sizeof record, std::size_t{head.words} * 8));
  return record;
}

// Whether it is an operator, a device's work or a call of its runtime, whole.
bool IsOperatorOrDeviceWork(wire::RecordHead head);

// When such a record's event began, or a range's.
inline std::uint64_t StartOf(const char* at) {
  constexpr std::size_t kOffset = offsetof(wire::OpRecord, start_ns);
  static_assert(kOffset == offsetof(wire::RangeRecord, start_ns) && kOffset == offsetof(wire::DeviceRecord, start_ns) &&
                kOffset == offsetof(wire::DeviceCallRecord, start_ns));
  std::uint64_t start_ns;
  std::memcpy(&start_ns, at + kOffset, sizeof start_ns);
  return start_ns;
}

// Calls visit(head, at) for every record up to the first that is not whole; returns how many bytes those have.
template <class Visit>
std::size_t ForEachWholeRecord(std::span<const char> bytes, Visit visit) {
  std::size_t at = 0;
  while (at + sizeof(wire::RecordHead) <= bytes.size()) {
    wire::RecordHead head;
    std::memcpy(&head, bytes.data() + at, sizeof head);
    if (head.words == 0 || at + std::size_t{head.words} * 8 > bytes.size()) break;
    visit(head, bytes.data() + at);
    at += std::size_t{head.words} * 8;
  }
  return at;
}

// Calls visit(head, at) for every record.
template <class Visit>
void ForEachRecord(const ChunkView& chunk, Visit visit) {
  const char* at = chunk.records.data();
  const char* end = at + chunk.records.size();
  while (at < end) {
    wire::RecordHead head;
    std::memcpy(&head, at, sizeof head);
    visit(head, at);
    at += std::size_t{head.words} * 8;
  }
  if (chunk.give_back) GiveBackPages(chunk.records);
}

}  // namespace loopscope
