#include "profiler/importers/capture/tail.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace loopscope {
namespace {

template <class Value>
bool ReadAt(int file, std::uint64_t offset, Value& value) {
  return pread(file, &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
}

}  // namespace

CaptureTail::CaptureTail(const std::filesystem::path& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

CaptureTail::~CaptureTail() {
  if (file_ >= 0) close(file_);
}

std::vector<NewRecords> CaptureTail::Poll() {
  std::vector<NewRecords> found;
  wire::FileHeader header;
  if (file_ < 0 || !ReadAt(file_, 0, header) || std::memcmp(header.magic, wire::kMagic, sizeof header.magic) != 0 ||
      header.chunk_bytes != wire::kChunkBytes || header.header_bytes != wire::kHeaderBytes) {
    return found;
  }
  const std::uint32_t count = std::min(header.next_chunk, wire::kMaxCopiedChunks);
  if (chunks_.size() < count) chunks_.resize(count);
  for (std::uint32_t index = 0; index < count; ++index) Read(index, found);
  return found;
}

void CaptureTail::Read(std::uint32_t index, std::vector<NewRecords>& into) {
  const std::uint64_t at = wire::kHeaderBytes + std::uint64_t{index} * wire::kChunkBytes;
  wire::ChunkHeader header;
  if (!ReadAt(file_, at, header) || header.magic != wire::kChunkMagic || header.type != wire::ChunkType::kRecords) {
    return;
  }
  Chunk& chunk = chunks_[index];
  if (chunk.order != header.order) chunk = {header.order};
  const std::uint32_t used = std::min<std::uint32_t>(header.used, wire::kChunkBytes - sizeof header);
  if (chunk.is_copy || used <= chunk.read) return;
  NewRecords records{header.pid, header.tid, std::string(used - chunk.read, '\0')};
  const ssize_t got =
      pread(file_, records.bytes.data(), records.bytes.size(), static_cast<off_t>(at + sizeof header + chunk.read));
  records.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  records.bytes.resize(ForEachWholeRecord(records.bytes, [](wire::RecordHead, const char*) {}));
  if (records.bytes.empty()) return;
  if (chunk.read == 0 && RecordAt<wire::RecordHead>(records.bytes.data()).kind == wire::RecordKind::kOfThread) {
    chunk.is_copy = true;
    return;
  }
  chunk.read += static_cast<std::uint32_t>(records.bytes.size());
  into.push_back(std::move(records));
}

}  // namespace loopscope
