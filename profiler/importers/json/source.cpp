#include "profiler/importers/json/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace loopscope {
namespace {

constexpr std::size_t kInputBytes = 256 * 1024;
// Traces compress to a fifteenth or a fiftieth. A file that expands this much, past this size, is malicious.
constexpr std::uint64_t kMaxExpansion = 400;
constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 30;

// Owns a file descriptor and closes it.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& from) noexcept : descriptor_(std::exchange(from.descriptor_, -1)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  Result<std::size_t> Read(char* to, std::size_t size, const std::filesystem::path& path) const {
    for (;;) {
      const ssize_t read_bytes = ::read(descriptor_, to, size);
      if (read_bytes >= 0) return static_cast<std::size_t>(read_bytes);
      if (errno != EINTR) {
        return Error{fmt::format("cannot be read: {}", std::strerror(errno)), path.string(), "check the file"};
      }
    }
  }

 private:
  int descriptor_;
};

class PlainSource : public JsonSource {
 public:
  PlainSource(File file, std::filesystem::path path, std::uint64_t bytes) : file_(std::move(file)), path_(path) {
    file_bytes_ = bytes;
  }
  Result<std::size_t> Read(char* to, std::size_t size) override { return file_.Read(to, size, path_); }

 private:
  File file_;
  std::filesystem::path path_;
};

// What both kinds of compression share: input in pieces, and a limit on what comes out.
class CompressedSource : public JsonSource {
 public:
  CompressedSource(File file, std::filesystem::path path, std::uint64_t bytes)
      : file_(std::move(file)), path_(path), input_(kInputBytes) {
    file_bytes_ = bytes;
  }

 protected:
  // The next bytes of the file; empty at its end.
  Result<std::string_view> NextInput() {
    const Result<std::size_t> size = file_.Read(input_.data(), input_.size(), path_);
    if (!size) return size.error();
    read_bytes_ += *size;
    return std::string_view(input_.data(), *size);
  }

  Result<std::size_t> Expanded(std::size_t bytes) {
    expanded_bytes_ += bytes;
    if (expanded_bytes_ <= kFreeBytes || expanded_bytes_ / kMaxExpansion < read_bytes_) return bytes;
    return Error{fmt::format("expands to more than {} times its size: no trace does", kMaxExpansion), path_.string(),
                 "unpack it, and pass what is inside if you trust it"};
  }

 private:
  File file_;
  std::filesystem::path path_;
  std::vector<char> input_;
  std::uint64_t read_bytes_ = 0, expanded_bytes_ = 0;
};

class GzipSource : public CompressedSource {
 public:
  using CompressedSource::CompressedSource;

  Result<std::size_t> Read(char* to, std::size_t size) override {
    if (!state_) Start();
    const std::size_t limit = std::min<std::size_t>(size, 1u << 30);
    state_->next_out = reinterpret_cast<std::uint8_t*>(to);
    state_->avail_out = static_cast<std::uint32_t>(limit);
    while (state_->avail_out > 0 && !ended_) {
      if (state_->avail_in == 0) {
        const Result<std::string_view> input = NextInput();
        if (!input) return input.error();
        state_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input->data()));
        state_->avail_in = static_cast<std::uint32_t>(input->size());
        at_end_ = input->empty();
      }
      if (!Inflate()) break;
    }
    return Expanded(limit - state_->avail_out);
  }

 private:
  void Start() {
    state_ = std::make_unique<inflate_state>();
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
  }

  // False when nothing more can come.
  bool Inflate() {
    if (state_->block_state == ISAL_BLOCK_FINISH) return NextMember();
    const std::uint32_t room = state_->avail_out;
    const int status = isal_inflate(state_.get());
    if (status != ISAL_DECOMP_OK) {
      damage_ = status == ISAL_INCORRECT_CHECKSUM ? "the checksum of the compressed data is wrong"
                                                  : "the compressed data is damaged";
      ended_ = true;
    } else if (at_end_ && state_->avail_out == room && state_->block_state != ISAL_BLOCK_FINISH) {
      damage_ = "the compressed data ends early";
      ended_ = true;
    }
    return !ended_;
  }

  // What follows a member is another one, or padding that gzip ignores too.
  bool NextMember() {
    const bool more = state_->avail_in > 0 && state_->next_in[0] == 0x1f;
    ended_ = !more && (at_end_ || state_->avail_in > 0);
    if (!more) return !ended_;
    std::uint8_t* const next_out = state_->next_out;
    std::uint8_t* const next_in = state_->next_in;
    const std::uint32_t avail_out = state_->avail_out, avail_in = state_->avail_in;
    isal_inflate_reset(state_.get());
    state_->crc_flag = ISAL_GZIP;
    state_->next_out = next_out;
    state_->next_in = next_in;
    state_->avail_out = avail_out;
    state_->avail_in = avail_in;
    return true;
  }

  std::unique_ptr<inflate_state> state_;
  bool at_end_ = false, ended_ = false;
};

class ZstdSource : public CompressedSource {
 public:
  using CompressedSource::CompressedSource;

  Result<std::size_t> Read(char* to, std::size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos < size && !ended_) {
      if (in_.pos == in_.size) {
        const Result<std::string_view> input = NextInput();
        if (!input) return input.error();
        in_ = {input->data(), input->size(), 0};
        if (input->empty()) {
          if (pending_ != 0) damage_ = "the compressed data ends early";
          break;
        }
      }
      pending_ = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (!ZSTD_isError(pending_)) continue;
      damage_ = "the compressed data is damaged";
      ended_ = true;
    }
    return Expanded(out.pos);
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::size_t pending_ = 0;  // what a frame still needs; 0 between frames
  bool ended_ = false;
};

}  // namespace

Compression CompressionOf(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Compression::kGzip;
  return head.starts_with("\x28\xb5\x2f\xfd") ? Compression::kZstd : Compression::kPlain;
}

Result<std::unique_ptr<JsonSource>> OpenJsonSource(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  char head[4] = {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    return Error{fmt::format("cannot be read: {}", std::strerror(errno)), path.string(), "check the file"};
  }
  File file(descriptor);
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  const ssize_t size = pread(descriptor, head, sizeof head, 0);
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  switch (CompressionOf({head, static_cast<std::size_t>(std::max<ssize_t>(size, 0))})) {
    case Compression::kGzip:
      return std::unique_ptr<JsonSource>(new GzipSource(std::move(file), path, bytes));
    case Compression::kZstd:
      return std::unique_ptr<JsonSource>(new ZstdSource(std::move(file), path, bytes));
    case Compression::kPlain:
      break;
  }
  return std::unique_ptr<JsonSource>(new PlainSource(std::move(file), path, bytes));
}

std::string ExpandedHead(std::string_view head) {
  std::string expanded(4096, '\0');
  if (CompressionOf(head) == Compression::kGzip) {
    auto state = std::make_unique<inflate_state>();
    isal_inflate_init(state.get());
    state->crc_flag = ISAL_GZIP;
    state->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(head.data()));
    state->avail_in = static_cast<std::uint32_t>(head.size());
    state->next_out = reinterpret_cast<std::uint8_t*>(expanded.data());
    state->avail_out = static_cast<std::uint32_t>(expanded.size());
    isal_inflate(state.get());
    expanded.resize(expanded.size() - state->avail_out);
    return expanded;
  }
  if (CompressionOf(head) == Compression::kPlain) return std::string(head);
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), &ZSTD_freeDStream);
  ZSTD_outBuffer out{expanded.data(), expanded.size(), 0};
  ZSTD_inBuffer in{head.data(), head.size(), 0};
  while (out.pos < out.size && in.pos < in.size && !ZSTD_isError(ZSTD_decompressStream(stream.get(), &out, &in))) {
  }
  expanded.resize(out.pos);
  return expanded;
}

}  // namespace loopscope
