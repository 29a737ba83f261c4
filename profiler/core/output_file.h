// Output files that a command line names. Only a regular file, or nothing, is ever replaced: a device, a
// FIFO and an open descriptor (/dev/stdout, /proc/self/fd/N) are written to, and links are followed.
#pragma once

#include <filesystem>
#include <string_view>

#include "profiler/core/result.h"

namespace loopscope {

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
