// Small files of /proc, without the C++ library.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>

namespace loopscope {

// As much of the file as fits into `into`, null-terminated; "" where it cannot be read.
template <std::size_t N>
char* ReadStart(const char* path, char (&into)[N]) noexcept {
  into[0] = '\0';
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return into;
  std::size_t used = 0;
  for (ssize_t got = 0; used < N - 1 && (got = read(fd, into + used, N - 1 - used)) > 0;) {
    used += static_cast<std::size_t>(got);
  }
  into[used] = '\0';
  close(fd);
  return into;
}

}  // namespace loopscope
