// Reads a file into memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace loopscope {

// The first bytes, up to `most`; nullopt if it cannot be read or is not a file: reading a pipe would block.
inline std::optional<std::string> FileHead(const std::filesystem::path& path, std::size_t most) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string head(most, '\0');
  file.read(head.data(), static_cast<std::streamsize>(most));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

// The whole file as raw bytes, also from /proc, where sizes are not known in advance; empty when it cannot be read.
inline std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace loopscope
