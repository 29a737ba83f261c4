// Files that only their owner can read: reports name the program's paths and arguments.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string_view>

namespace loopscope {

// Appended to a file's name to name its part file, for mkostemp.
inline constexpr char kPartSuffix[] = ".part-XXXXXX";

// False, with errno set, where not all could be written.
bool WriteAll(int fd, std::string_view bytes);

// Writes a whole file, mode 0600, beside the place and moves it there: a link at the place is replaced, not followed.
// For folders of our own; outputs named on a command line use output_file.h. Returns 0, or an errno: EEXIST if anything
// but a file or a link is there.
int WritePrivateFile(const std::filesystem::path& path, std::string_view bytes);

// Opens a file for writing, at its end or anew, mode 0600 where it makes it. Null, with errno set, where that failed or
// where the place is a link.
std::FILE* OpenPrivateFile(const std::filesystem::path& path, bool append);

// Makes a folder and those above it; one that was not there gets mode 0700. Returns 0, or an errno.
int MakePrivateFolder(const std::filesystem::path& folder);

}  // namespace loopscope
