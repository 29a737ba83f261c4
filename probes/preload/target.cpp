#include "probes/preload/target.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probes/environment.h"

namespace loopscope {
namespace {

// The launcher reads a printed metric as it appears: whole lines must not wait for a buffer to fill.
__attribute__((constructor)) void PrintByLine() {
  if (std::getenv(env::kTarget) != nullptr) setvbuf(stdout, nullptr, _IOLBF, 0);
}

bool Reached(const char* target, const char* name, double value) noexcept {
  const char* sign = std::strpbrk(target, "<>");
  if (sign == nullptr || std::strlen(name) != static_cast<std::size_t>(sign - target)) return false;
  if (std::strncmp(target, name, static_cast<std::size_t>(sign - target)) != 0) return false;
  const double wanted = std::strtod(sign + 2, nullptr);
  return *sign == '>' ? value >= wanted : value <= wanted;
}

}  // namespace

void NoteMetric(const char* name, double value) noexcept {
  const char* target = std::getenv(env::kTarget);
  const char* folder = std::getenv(env::kRunDir);
  if (target == nullptr || folder == nullptr || !Reached(target, name, value)) return;
  char path[4096];
  if (std::snprintf(path, sizeof path, "%s/%s", folder, env::kTargetFile) >= static_cast<int>(sizeof path)) return;
  const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

}  // namespace loopscope
