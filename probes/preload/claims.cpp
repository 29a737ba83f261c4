#include "probes/preload/claims.h"

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "probes/capture/records.h"
#include "probes/mutex_guard.h"
#include "probes/preload/loop.h"

namespace loopscope::loop {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct Claims {
  std::array<char[48], 256> keys{};
  std::size_t count = 0;
} claims;

}  // namespace

void Claim(std::string_view key) noexcept {
  if (!Active() || Claimed(key)) return;
  const MutexGuard guard(lock);
  if (claims.count == claims.keys.size() || key.size() >= sizeof claims.keys[0]) return;
  std::memcpy(claims.keys[claims.count++], key.data(), key.size());
}

bool Claimed(std::string_view key) noexcept {
  const MutexGuard guard(lock);
  for (std::size_t n = 0; n < claims.count; ++n) {
    if (key == claims.keys[n]) return true;
  }
  return false;
}

void WriteProgramFacts() noexcept {
  capture::WriteFact("program.language", dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr ? "python" : "c++");
  std::array<char, sizeof claims.keys + 64> text{};
  std::size_t length = 0;
  {
    const MutexGuard guard(lock);
    for (std::size_t n = 0; n < claims.count; ++n) {
      const std::size_t size = std::strlen(claims.keys[n]);
      if (n > 0) text[length++] = ',';
      std::memcpy(text.data() + length, claims.keys[n], size);
      length += size;
    }
  }
  capture::WriteFact("program.knobs", text.data());
}

}  // namespace loopscope::loop
