// Programs that cannot be started with our libraries in LD_PRELOAD (preload_fit.h) are started without them. Interposes
// all functions that start one, since the C library's do not call each other by name. Runs between fork and exec: stack
// memory only, no locks, no errors of our own.
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probes/export.h"
#include "probes/preload_fit.h"

namespace loopscope {
namespace {

constexpr char kVariable[] = "LD_PRELOAD=";
constexpr char kOurName[] = "libloopscope_";
constexpr std::size_t kVariableSize = sizeof kVariable - 1;

using Words = char* const*;

struct Real {
  int (*execve)(const char*, Words, Words);
  int (*execvpe)(const char*, Words, Words);
  int (*fexecve)(int, Words, Words);
  int (*execveat)(int, const char*, Words, Words, int);
  int (*spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, Words, Words);
  int (*spawnp)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, Words, Words);
};

template <class Function>
void Next(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Looked up when this library is loaded: after a vfork it is too late.
const Real& Find() noexcept {
  static const Real real = [] {
    Real found{};
    Next(found.execve, "execve");
    Next(found.execvpe, "execvpe");
    Next(found.fexecve, "fexecve");
    Next(found.execveat, "execveat");
    Next(found.spawn, "posix_spawn");
    Next(found.spawnp, "posix_spawnp");
    return found;
  }();
  return real;
}
__attribute__((constructor)) void FindEarly() {
  (void)Find();
}

std::size_t Count(Words words) noexcept {
  std::size_t count = 0;
  while (words != nullptr && words[count] != nullptr) ++count;
  return count;
}

// Index of LD_PRELOAD in an environment if it names our libraries; else -1.
int PlaceOfOurs(Words environment) noexcept {
  for (int at = 0; environment != nullptr && environment[at] != nullptr; ++at) {
    if (std::strncmp(environment[at], kVariable, kVariableSize) == 0) {
      return std::strstr(environment[at], kOurName) != nullptr ? at : -1;
    }
  }
  return -1;
}

enum class Entry { kOurs, kSanitizer, kOther };

Entry KindOf(std::string_view entry) noexcept {
  if (entry.find(kOurName) != entry.npos) return Entry::kOurs;
  return IsSanitizer(entry) ? Entry::kSanitizer : Entry::kOther;
}

template <class Visit>
void ForEachEntry(const char* variable, Visit visit) noexcept {
  const char* at = variable + kVariableSize;
  while (*at != '\0') {
    const std::size_t length = std::strcspn(at, ": ");
    if (length > 0) visit(std::string_view(at, length));
    at += length + (at[length] != '\0' ? 1 : 0);
  }
}

// A sanitizer after our library would refuse to start.
bool SanitizerIsBehind(const char* variable) noexcept {
  bool ours = false, behind = false;
  ForEachEntry(variable, [&](std::string_view entry) {
    ours |= KindOf(entry) == Entry::kOurs;
    behind |= ours && KindOf(entry) == Entry::kSanitizer;
  });
  return behind;
}

// The new LD_PRELOAD: without ours, or with sanitizers in front. `to` has room for all of it.
void Write(const char* variable, bool with_ours, char* to) noexcept {
  std::memcpy(to, kVariable, kVariableSize);
  std::size_t size = kVariableSize;
  for (const bool sanitizers : {true, false}) {
    ForEachEntry(variable, [&](std::string_view entry) {
      const Entry kind = KindOf(entry);
      if ((kind == Entry::kSanitizer) != sanitizers || (kind == Entry::kOurs && !with_ours)) return;
      if (size > kVariableSize) to[size++] = ':';
      std::memcpy(to + size, entry.data(), entry.size());
      size += entry.size();
    });
  }
  to[size] = '\0';
}

// The environment to start a program with: `environment`, or the copy at `words` and `text`, which have room for it.
Words Fitting(const char* path, Words environment, int place, char** words, char* text) noexcept {
  const bool fits = PreloadFitOf(path) == PreloadFit::kFits;
  if (fits && !SanitizerIsBehind(environment[place])) return environment;
  Write(environment[place], fits, text);
  std::size_t kept = 0;
  for (std::size_t at = 0; environment[at] != nullptr; ++at) {
    if (at != static_cast<std::size_t>(place)) {
      words[kept++] = environment[at];
    } else if (text[kVariableSize] != '\0') {
      words[kept++] = text;
    }
  }
  words[kept] = nullptr;
  return words;
}

// The path that execvp would use; `path` itself if none.
const char* InPath(const char* name, char (&found)[PATH_MAX]) noexcept {
  if (std::strchr(name, '/') != nullptr) return name;
  const char* at = std::getenv("PATH");
  if (at == nullptr) at = "/bin:/usr/bin";
  while (true) {
    const std::size_t length = std::strcspn(at, ":");
    const int written =
        std::snprintf(found, sizeof found, "%.*s%s%s", static_cast<int>(length), at, length > 0 ? "/" : "", name);
    if (written > 0 && written < PATH_MAX && access(found, X_OK) == 0) return found;
    if (at[length] == '\0') return name;
    at += length + 1;
  }
}

}  // namespace
}  // namespace loopscope

// Declares `name`: the environment for a program at `path`. A copy lives on the calling function's stack.
#define LOOPSCOPE_FIT(name, path, environment)                                                            \
  char* const* name = environment;                                                                        \
  if (const int place = loopscope::PlaceOfOurs(environment); place >= 0) {                                \
    char** const kept = static_cast<char**>(alloca((loopscope::Count(environment) + 1) * sizeof(char*))); \
    char* const text = static_cast<char*>(alloca(std::strlen((environment)[place]) + 2));                 \
    const int before = errno;                                                                             \
    name = loopscope::Fitting(path, environment, place, kept, text);                                      \
    errno = before;                                                                                       \
  }

extern "C" {

LOOPSCOPE_EXPORT int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  const auto real = loopscope::Find().execve;
  if (real == nullptr) return errno = ENOSYS, -1;
  LOOPSCOPE_FIT(fitting, path, envp)
  return real(path, argv, fitting);
}

LOOPSCOPE_EXPORT int execv(const char* path, char* const argv[]) noexcept {
  return execve(path, argv, environ);
}

LOOPSCOPE_EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept {
  const auto real = loopscope::Find().execvpe;
  if (real == nullptr) return errno = ENOSYS, -1;
  char found[PATH_MAX];
  LOOPSCOPE_FIT(fitting, loopscope::InPath(file, found), envp)
  return real(file, argv, fitting);
}

LOOPSCOPE_EXPORT int execvp(const char* file, char* const argv[]) noexcept {
  return execvpe(file, argv, environ);
}

LOOPSCOPE_EXPORT int fexecve(int fd, char* const argv[], char* const envp[]) noexcept {
  const auto real = loopscope::Find().fexecve;
  if (real == nullptr) return errno = ENOSYS, -1;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  LOOPSCOPE_FIT(fitting, path, envp)
  return real(fd, argv, fitting);
}

LOOPSCOPE_EXPORT int execveat(int fd, const char* path, char* const argv[], char* const envp[], int flags) noexcept {
  const auto real = loopscope::Find().execveat;
  if (real == nullptr) return errno = ENOSYS, -1;
  char whole[PATH_MAX];
  if (fd == AT_FDCWD || path[0] == '/') {
    std::snprintf(whole, sizeof whole, "%s", path);
  } else {
    std::snprintf(whole, sizeof whole, "/proc/self/fd/%d%s%s", fd, path[0] != '\0' ? "/" : "", path);
  }
  LOOPSCOPE_FIT(fitting, whole, envp)
  return real(fd, path, argv, fitting, flags);
}

LOOPSCOPE_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  const auto real = loopscope::Find().spawn;
  if (real == nullptr) return ENOSYS;
  LOOPSCOPE_FIT(fitting, path, envp)
  return real(pid, path, actions, attributes, argv, fitting);
}

LOOPSCOPE_EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                                  const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  const auto real = loopscope::Find().spawnp;
  if (real == nullptr) return ENOSYS;
  char found[PATH_MAX];
  LOOPSCOPE_FIT(fitting, loopscope::InPath(file, found), envp)
  return real(pid, file, actions, attributes, argv, fitting);
}

// Declares `words` on the stack: the arguments of execl and similar. `list` is before the second one.
#define LOOPSCOPE_WORDS(words, first, list)                                      \
  std::size_t count = 1;                                                         \
  {                                                                              \
    va_list counted;                                                             \
    va_copy(counted, list);                                                      \
    while (va_arg(counted, char*) != nullptr) ++count;                           \
    va_end(counted);                                                             \
  }                                                                              \
  char** const words = static_cast<char**>(alloca((count + 1) * sizeof(char*))); \
  words[0] = const_cast<char*>(first);                                           \
  for (std::size_t at = 1; at <= count; ++at) words[at] = va_arg(list, char*);

LOOPSCOPE_EXPORT int execl(const char* path, const char* word, ...) noexcept {
  va_list list;
  va_start(list, word);
  LOOPSCOPE_WORDS(words, word, list)
  va_end(list);
  return execve(path, words, environ);
}

LOOPSCOPE_EXPORT int execlp(const char* file, const char* word, ...) noexcept {
  va_list list;
  va_start(list, word);
  LOOPSCOPE_WORDS(words, word, list)
  va_end(list);
  return execvpe(file, words, environ);
}

LOOPSCOPE_EXPORT int execle(const char* path, const char* word, ...) noexcept {
  va_list list;
  va_start(list, word);
  LOOPSCOPE_WORDS(words, word, list)
  char* const* const envp = va_arg(list, char* const*);
  va_end(list);
  return execve(path, words, envp);
}

}  // extern "C"
