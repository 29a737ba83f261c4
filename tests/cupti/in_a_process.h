// A collector lives once per process, and a library stays loaded: each test has a process of its own.
#pragma once

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/cupti/stand_in.h"

namespace loopscope::test {

// A process that is stuck for so long is ended.
inline constexpr unsigned kStuckSeconds = 30;

// What `body` returned in a process of its own; says so when that did not end well.
inline std::string InAProcess(const std::function<std::string()>& body) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(kStuckSeconds);
    const std::string text = body();
    const auto written = write(pipe_ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(pipe_ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : text + "\nended with " + std::to_string(status);
}

// The stand-in for the CUPTI of CUDA `major`; null where that is not in CUPTI's place.
inline StandIn* StandInOf(int major) {
  const std::string name = "libcupti.so." + std::to_string(major);
  auto* const find = reinterpret_cast<StandIn* (*)()>(dlsym(dlopen(name.c_str(), RTLD_NOW), "stand_in_cupti"));
  return find != nullptr ? find() : nullptr;
}

}  // namespace loopscope::test
