#include "profiler/importers/kineto/strings.h"

#include <algorithm>
#include <cstring>

namespace loopscope {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

// Both halves of the product of two words folded together, as in wyhash.
std::uint64_t Mixed(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t Word(const char* at, std::size_t bytes) {
  std::uint64_t word = 0;
  if (bytes > 0) std::memcpy(&word, at, bytes);
  return word;
}

}  // namespace

std::uint64_t StringHash(std::string_view text) {
  constexpr std::uint64_t kFirst = 0xa0761d6478bd642full, kSecond = 0xe7037ed1a0b428dbull;
  std::uint64_t hash = text.size() ^ kFirst;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left > 16; left -= 16, at += 16) hash = Mixed(Word(at, 8) ^ kSecond, Word(at + 8, 8) ^ hash);
  const std::uint64_t low = Word(at, std::min<std::size_t>(left, 8));
  const std::uint64_t high = left > 8 ? Word(at + 8, left - 8) : 0;
  hash = Mixed(low ^ kSecond, high ^ hash);
  return hash ? hash : 1;
}

std::uint32_t KinetoStrings::Id(std::string_view text, std::uint64_t seen_at) {
  const std::uint64_t hash = StringHash(text);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && entry.text == text) return slots_[slot] - 1;
  }
  const auto id = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back({Kept(text), hash, seen_at});
  slots_[slot] = id + 1;
  if (entries_.size() * 2 > slots_.size()) Grow();
  return id;
}

std::string_view KinetoStrings::Kept(std::string_view text) {
  if (text.size() > left_) {
    left_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
    free_ = blocks_.back().get();
  }
  char* const kept = free_;
  std::copy(text.begin(), text.end(), kept);
  free_ += text.size();
  left_ -= text.size();
  return {kept, text.size()};
}

void KinetoStrings::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t id = 0; id < entries_.size(); ++id) {
    std::size_t slot = entries_[id].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

}  // namespace loopscope
