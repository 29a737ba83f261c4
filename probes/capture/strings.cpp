#include "probes/capture/strings.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

#include "probes/capture/file.h"
#include "probes/capture/records.h"

namespace loopscope::capture {
namespace {

constexpr std::size_t kCached = 2048;  // a power of two
constexpr std::size_t kMaxFrames = 256;

struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    std::uint64_t hash = text.size() * 0x9e3779b97f4a7c15ull;
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left >= 8; left -= 8, at += 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      hash = (hash ^ word) * 0xff51afd7ed558ccdull;
      hash ^= hash >> 32;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    hash = (hash ^ word) * 0xc4ceb9fe1a85ec53ull;
    return hash ^ (hash >> 29);
  }
};

// Text to id; keys have stable addresses, so that thread caches may point to them.
using Table = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;

// Never destroyed: threads may record during static destruction.
Table& Strings() {
  static Table* table = new Table;
  return *table;
}
Table& Stacks() {
  static Table* table = new Table;
  return *table;
}

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

constinit thread_local bool holds_lock = false;

struct Guard {
  Guard() noexcept {
    pthread_mutex_lock(&lock);
    holds_lock = true;
  }
  ~Guard() {
    holds_lock = false;
    pthread_mutex_unlock(&lock);
  }
};

struct CacheEntry {
  const char* text;
  std::uint64_t hash;
  std::uint32_t length, id, generation;
};
constinit thread_local CacheEntry* cache = nullptr;

CacheEntry* Cache() noexcept {
  if (cache != nullptr) return cache;
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    pthread_key_create(&made, [](void* entries) {
      cache = nullptr;
      std::free(entries);
    });
    return made;
  }();
  cache = static_cast<CacheEntry*>(std::calloc(kCached, sizeof(CacheEntry)));
  if (cache != nullptr) pthread_setspecific(key, cache);
  return cache;
}

std::uint32_t NextId(std::uint32_t& counter) noexcept {
  return std::atomic_ref<std::uint32_t>(counter).fetch_add(1, std::memory_order_relaxed) + 1;
}

bool DefineString(std::uint32_t id, std::string_view text) noexcept {
  const auto length = static_cast<std::uint32_t>(text.size());
  const auto words = static_cast<std::uint16_t>((sizeof(wire::StringRecord) + length + 7) / 8);
  const wire::StringRecord record{{wire::RecordKind::kString, 0, words}, id, length};
  return Append(&record, sizeof record, text.data(), length);
}

bool DefineStack(std::uint32_t id, std::string_view frames) noexcept {
  const auto words = static_cast<std::uint16_t>((sizeof(wire::StackRecord) + frames.size()) / 8);
  const wire::StackRecord record{
      {wire::RecordKind::kStack, 0, words}, id, static_cast<std::uint32_t>(frames.size() / 8), 0};
  return Append(&record, sizeof record, frames.data(), frames.size());
}

// The table's entry for `text`, defined in the file if new; null if that was not possible.
template <class Define>
const Table::value_type* FindOrDefine(Table& table, std::string_view text, std::uint32_t& counter, Define define,
                                      bool* is_new) noexcept {
  try {
    const Guard guard;
    if (const auto found = table.find(text); found != table.end()) return &*found;
    const std::uint32_t id = NextId(counter);
    if (!define(id, text)) return nullptr;
    if (is_new != nullptr) *is_new = true;
    return &*table.emplace(text, id).first;
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

bool HoldsStrings() noexcept {
  return holds_lock;
}
void LockStrings() noexcept {
  pthread_mutex_lock(&lock);
}
void UnlockStrings() noexcept {
  pthread_mutex_unlock(&lock);
}

void ForgetStrings() noexcept {
  const Guard guard;
  Strings().clear();
  Stacks().clear();
}

std::uint32_t StringId(std::string_view text) noexcept {
  if (text.empty() || !IsOpen() || holds_lock) return 0;
  text = text.substr(0, wire::kMaxStringBytes);
  const std::uint64_t hash = Hash{}(text);
  const std::uint32_t generation = Generation();
  CacheEntry* entry = Cache();
  if (entry != nullptr) {
    entry += hash & (kCached - 1);
    if (entry->hash == hash && entry->generation == generation && entry->length == text.size() &&
        std::memcmp(entry->text, text.data(), text.size()) == 0) {
      return entry->id;
    }
  }
  const auto* known = FindOrDefine(Strings(), text, Header()->next_string, DefineString, nullptr);
  if (known == nullptr) return 0;
  if (entry != nullptr) {
    *entry = {known->first.data(), hash, static_cast<std::uint32_t>(text.size()), known->second, generation};
  }
  return known->second;
}

std::uint32_t StackId(const std::uint64_t* frames, std::size_t count, bool* is_new) noexcept {
  if (is_new != nullptr) *is_new = false;
  if (count == 0 || count > kMaxFrames || !IsOpen()) return 0;
  const std::string_view key(reinterpret_cast<const char*>(frames), count * sizeof *frames);
  const auto* known = FindOrDefine(Stacks(), key, Header()->next_stack, DefineStack, is_new);
  return known == nullptr ? 0 : known->second;
}

}  // namespace loopscope::capture
