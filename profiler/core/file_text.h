// What a file holds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace loopscope {

// Its first bytes, up to `most`; none when it cannot be read.
inline std::optional<std::string> FileHead(const std::filesystem::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string head(most, '\0');
  file.read(head.data(), static_cast<std::streamsize>(most));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

// All of it, bytes as they are, also of files of /proc, whose size is not known before; empty when it cannot be read.
inline std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace loopscope
