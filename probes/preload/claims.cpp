#include "probes/preload/claims.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "probes/capture/records.h"
#include "probes/mutex_guard.h"
#include "probes/preload/loop.h"

namespace loopscope::loop {
namespace {

// Never freed: a program claims its knobs once.
struct KnobClaim {
  KnobClaim* next;
  std::size_t size;
  char* key() noexcept { return reinterpret_cast<char*>(this + 1); }
  std::string_view text() noexcept { return {key(), size}; }
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KnobClaim* first = nullptr;

bool IsClaimed(std::string_view key) noexcept {
  for (KnobClaim* one = first; one != nullptr; one = one->next) {
    if (key == one->text()) return true;
  }
  return false;
}

}  // namespace

void Claim(std::string_view key) noexcept {
  if (!Active()) return;
  const MutexGuard guard(lock);
  if (IsClaimed(key)) return;
  void* const memory = std::malloc(sizeof(KnobClaim) + key.size());
  if (memory == nullptr) return;
  first = new (memory) KnobClaim{first, key.size()};
  std::memcpy(first->key(), key.data(), key.size());
}

bool Claimed(std::string_view key) noexcept {
  const MutexGuard guard(lock);
  return IsClaimed(key);
}

void WriteProgramFacts() noexcept {
  capture::WriteFact("program.language", dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr ? "python" : "c++");
  const MutexGuard guard(lock);
  for (KnobClaim* one = first; one != nullptr; one = one->next) capture::WriteKnob(one->text());
}

}  // namespace loopscope::loop
