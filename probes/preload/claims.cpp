#include "probes/preload/claims.h"

#include <pthread.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "probes/mutex_guard.h"
#include "probes/preload/loop.h"

namespace loopscope::loop {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct Claims {
  std::array<char[48], 64> keys{};
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

}  // namespace loopscope::loop
