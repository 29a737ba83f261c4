#include "probes/preload/program_facts.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
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

void DescribeSampler(std::string_view sampler, const std::size_t* indices, std::size_t samples) noexcept {
  static std::atomic<bool> described{false};
  if (!Tracing() || described.load(std::memory_order_relaxed) || described.exchange(true)) return;
  char text[512];
  std::size_t length = 0;
  for (std::size_t i = 0; i < samples && length + 24 < sizeof text; ++i) {
    length += static_cast<std::size_t>(
        std::snprintf(text + length, sizeof text - length, i == 0 ? "%zu" : ",%zu", indices[i]));
  }
  capture::WriteFact("loader.sampler", sampler);
  capture::WriteFact("loader.first", {text, length});
}

}  // namespace loopscope::loop
