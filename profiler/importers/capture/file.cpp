#include "profiler/importers/capture/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "probes/capture/crc32c.h"

namespace loopscope {
namespace {

constexpr char kHowToRecord[] = "pass a run folder or a .cap file that `loopscope run` wrote";
constexpr std::uint32_t kMaxHeaderBytes = 1u << 20;
constexpr std::size_t kWorthGivingBack = 4096;  // bytes; smaller ranges share pages with their neighbours

Error CannotRead(const std::filesystem::path& path, int error) {
  return {std::string("cannot be read: ") + std::strerror(error), path.string(), kHowToRecord};
}

Result<wire::FileHeader> ReadHeader(std::span<const char> file, const std::filesystem::path& path) {
  wire::FileHeader header;
  if (file.size() < sizeof header) {
    return Error{"is cut off: " + std::to_string(file.size()) + " bytes are less than a capture's header",
                 path.string(), "run the program again; the disk may have been full"};
  }
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, wire::kMagic, sizeof header.magic) != 0) {
    return Error{"is not a Loopscope capture", path.string(), kHowToRecord};
  }
  if (header.major > wire::kMajor) {
    return Error{"is a capture of version " + std::to_string(header.major) + "." + std::to_string(header.minor) +
                     ", this loopscope reads up to version " + std::to_string(wire::kMajor),
                 path.string(), "read it with the loopscope that recorded it, or a newer one"};
  }
  const bool sane = header.major > 0 && header.header_bytes >= sizeof header && header.header_bytes % 8 == 0 &&
                    header.header_bytes <= kMaxHeaderBytes && header.chunk_bytes >= wire::kMinChunkBytes &&
                    header.chunk_bytes % 8 == 0 && header.chunk_bytes <= wire::kMaxChunkBytes;
  if (sane) return header;
  return Error{"has a damaged header: version " + std::to_string(header.major) + ", header of " +
                   std::to_string(header.header_bytes) + " bytes, chunks of " + std::to_string(header.chunk_bytes),
               path.string(), "run the program again"};
}

// Reads one file's chunks. Ignores chunks that the recorder copied elsewhere and reused.
class ChunkReader {
 public:
  ChunkReader(std::span<const char> file, CaptureChunks& capture, bool give_back)
      : file_(file), capture_(capture), give_back_(give_back) {}

  void Read() {
    const wire::FileHeader& header = capture_.header;
    for (std::size_t at = header.header_bytes; at < file_.size(); at += header.chunk_bytes) {
      const std::span<const char> bytes =
          file_.subspan(at, std::min<std::size_t>(header.chunk_bytes, file_.size() - at));
      ReadChunk(bytes);
      if (give_back_) GiveBackPages(bytes);
    }
    std::ranges::stable_sort(views_, {}, &Ordered::order);
    for (Ordered& one : views_) capture_.chunks.push_back(one.view);
  }

 private:
  struct Ordered {
    std::uint32_t order;
    ChunkView view;
  };

  // `bytes` is what the file holds of the chunk: all of it, except for the last chunk of a truncated file.
  void ReadChunk(std::span<const char> bytes) {
    wire::ChunkHeader header;
    if (bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::size_t room = capture_.header.chunk_bytes - sizeof header;
    if (header.magic == 0 && header.used == 0) return;
    const std::size_t claimed = std::min<std::size_t>(header.used, room);
    if (header.magic != wire::kChunkMagic) return Damaged(claimed);
    if (header.type != wire::ChunkType::kRecords || WasCopied(header)) return;
    const std::span<const char> there = bytes.subspan(sizeof header, std::min(claimed, bytes.size() - sizeof header));
    const bool whole = header.used <= room && there.size() == header.used;
    if (header.closed == 1 &&
        (header.used > room || (whole && capture::Crc32c(there.data(), there.size()) != header.crc32c))) {
      return Damaged(claimed);
    }
    capture_.torn_bytes += claimed - AddRecords(header, there);
  }

  void Damaged(std::size_t bytes) {
    capture_.torn_bytes += bytes;
    ++capture_.damaged_chunks;
  }

  bool WasCopied(const wire::ChunkHeader& header) const {
    const std::uint64_t chunk = header.copied >> wire::kCopiedShift;
    const std::uint32_t used = (header.copied & ((1u << wire::kCopiedShift) - 1)) * 8;
    if (chunk == 0) return false;
    const std::uint64_t at = capture_.header.header_bytes + (chunk - 1) * capture_.header.chunk_bytes;
    wire::ChunkHeader copy;
    if (at + sizeof copy > file_.size()) return false;
    std::memcpy(&copy, file_.data() + at, sizeof copy);
    return copy.magic == wire::kChunkMagic && copy.used > used;
  }

  // Returns how many of the bytes are whole records.
  std::size_t AddRecords(const wire::ChunkHeader& header, std::span<const char> bytes) {
    Ordered one{header.order, {header.pid, header.tid, {}}};
    std::size_t begin = 0;
    const auto add_until = [&](std::size_t end) {
      one.view.records = bytes.subspan(begin, end - begin);
      one.view.give_back = give_back_ && end - begin >= kWorthGivingBack;
      if (end > begin) views_.push_back(one);
      begin = end;
    };
    const std::size_t whole = ForEachWholeRecord(bytes, [&](wire::RecordHead head, const char* at) {
      if (head.kind != wire::RecordKind::kOfThread) return;
      add_until(static_cast<std::size_t>(at - bytes.data()));
      const auto thread = RecordAt<wire::OfThreadRecord>(at);
      one.view.pid = thread.pid;
      one.view.tid = thread.tid;
    });
    add_until(whole);
    return whole;
  }

  std::span<const char> file_;
  CaptureChunks& capture_;
  bool give_back_;
  std::vector<Ordered> views_;
};

}  // namespace

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // do not wait for a pipe
  if (file < 0) return CannotRead(path, errno);
  struct stat status;
  const bool known = fstat(file, &status) == 0;
  if (!known || !S_ISREG(status.st_mode) || status.st_size == 0) {
    const int error = errno;
    close(file);
    if (!known) return CannotRead(path, error);
    return Error{S_ISREG(status.st_mode) ? "is empty" : "is not a file", path.string(), kHowToRecord};
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int error = errno;
  close(file);
  if (data == MAP_FAILED) return CannotRead(path, error);
  madvise(data, size, MADV_WILLNEED);
  return MappedFile(static_cast<const char*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

Result<CaptureChunks> ReadChunks(std::span<const char> file, const std::filesystem::path& path, bool give_back) {
  Result<wire::FileHeader> header = ReadHeader(file, path);
  if (!header) return header.error();
  CaptureChunks capture;
  capture.header = *header;
  ChunkReader(file, capture, give_back).Read();
  const std::uint64_t handed_out = header->header_bytes + std::uint64_t{header->next_chunk} * header->chunk_bytes;
  if (file.size() < handed_out) capture.missing_bytes = handed_out - file.size();
  return capture;
}

bool IsOperatorOrDeviceWork(wire::RecordHead head) {
  const std::size_t bytes = std::size_t{head.words} * 8;
  return (head.kind == wire::RecordKind::kOp && bytes >= sizeof(wire::OpRecord)) ||
         (head.kind == wire::RecordKind::kDevice && bytes >= sizeof(wire::DeviceRecord)) ||
         (head.kind == wire::RecordKind::kDeviceCall && bytes >= sizeof(wire::DeviceCallRecord));
}

void GiveBackPages(std::span<const char> bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  madvise(const_cast<char*>(bytes.data()) - before, before + bytes.size(), MADV_DONTNEED);
}

}  // namespace loopscope
