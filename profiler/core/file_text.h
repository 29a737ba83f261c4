// What a file holds.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace loopscope {

// All of it, bytes as they are, also of files of /proc, whose size is not known before; empty when it cannot be read.
inline std::string FileText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace loopscope
