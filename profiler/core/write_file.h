// Writes files: private ones of our own, and outputs that a command line names.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string_view>

#include "profiler/core/result.h"

namespace loopscope {

// Files that only their owner can read: reports name the program's paths and arguments.

// Appended to a file's name to name its part file, for mkostemp.
inline constexpr char kPartSuffix[] = ".part-XXXXXX";

// False, with errno set, where not all could be written.
bool WriteAll(int fd, std::string_view bytes);

// Writes a whole file, mode 0600, beside the place and moves it there: a link at the place is replaced, not followed.
// For folders of our own; for outputs named on a command line: WriteOutputFile(). Returns 0, or an errno: EEXIST if
// anything but a file or a link is there.
int WritePrivateFile(const std::filesystem::path& path, std::string_view bytes);

// Opens a file for writing, at its end or anew, mode 0600 where it makes it. Null, with errno set, where that failed or
// where the place is a link.
std::FILE* OpenPrivateFile(const std::filesystem::path& path, bool append);

// Makes a folder and those above it; one that was not there gets mode 0700. Returns 0, or an errno.
int MakePrivateFolder(const std::filesystem::path& folder);

// Output files that a command line names. Only a regular file, or nothing, is ever replaced: a device, a
// FIFO and an open descriptor (/dev/stdout, /proc/self/fd/N) are written to, and links are followed.

// Checks early that the place can be written to. Returns a descriptor that keeps a FIFO open until then, since its
// reader would take a close for the end; -1 for other places. Errors (exit 2): a folder, a block device, a
// socket, a FIFO without a reader, another user's link in a world-writable folder, no permission, no
// space.
Result<int> CheckOutputFile(const std::filesystem::path& place);

// A regular file is replaced as a whole and at once, mode 0600. Errors: those of CheckOutputFile, a full disk.
Result<void> WriteOutputFile(const std::filesystem::path& place, std::string_view bytes);

// Whether writing to one would replace the other: both lead to the same regular file, or to the same absent one.
bool SameOutputFile(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace loopscope
