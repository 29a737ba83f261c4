// The bytes of a text file, plain or compressed (gzip with any number of members, zstd), as a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "profiler/core/result.h"

namespace loopscope {

enum class Compression : std::uint8_t { kPlain, kGzip, kZstd };
Compression CompressionOf(std::string_view head);

class JsonSource {
 public:
  virtual ~JsonSource() = default;

  // Reads up to `size` bytes; 0 at the end. Errors: the file cannot be read, or expands too much to be text.
  virtual Result<std::size_t> Read(char* to, std::size_t size) = 0;

  std::uint64_t file_bytes() const { return file_bytes_; }  // as stored
  // What is wrong with how the stream ended ("the compressed data ends early"); "" when nothing is.
  std::string_view damage() const { return damage_; }

 protected:
  std::uint64_t file_bytes_ = 0;
  std::string_view damage_;
};

Result<std::unique_ptr<JsonSource>> OpenJsonSource(const std::filesystem::path& path);

// The first bytes that `head`, the start of a file, decompresses to; `head` itself when it is not compressed.
std::string ExpandedHead(std::string_view head);

}  // namespace loopscope
