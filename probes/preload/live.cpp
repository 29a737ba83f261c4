#include "probes/preload/live.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "probes/capture/records.h"
#include "probes/environment.h"
#include "probes/preload/program_facts.h"

namespace loopscope::live {
namespace {

constexpr std::size_t kMostTreatments = 26, kMostArms = 64;  // one letter each; the launcher's limit, too

struct Treatment {
  char key[48] = "", value[48] = "";
  std::atomic<Turn> turn{nullptr};
  void* context = nullptr;
  bool stands = false;  // its knob took the value
};

struct Schedule {
  std::array<Treatment, kMostTreatments> treatments;
  std::size_t treatment_count = 0;
  std::array<std::uint32_t, kMostArms> arms{};  // bits of treatments
  std::size_t arm_count = 0;
  std::uint64_t seed = 0, block_steps = 0;
  std::uint64_t until_ns = 0;  // 0: until its steps are done
};

Schedule schedule;
std::atomic<std::uint32_t> on{0}, acted{0};  // bits of treatments
std::atomic<Switch> interpreter{nullptr};

// Used only by the thread whose steps are counted.
std::uint64_t steps_in_block = 0;
std::size_t place = 0;  // of the arm in its round
std::uint64_t rounds = 0, opened_ns = 0;
bool running = false;

// Vigna's splitmix64 (public domain): one seed gives the same order everywhere, on every rank.
std::uint64_t Draw() noexcept {
  std::uint64_t z = (schedule.seed += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void Shuffle() noexcept {
  for (std::size_t n = schedule.arm_count; n > 1; --n) std::swap(schedule.arms[n - 1], schedule.arms[Draw() % n]);
}

template <std::size_t size>
bool Copy(char (&to)[size], std::string_view from) noexcept {
  if (from.size() >= size) return false;
  std::memcpy(to, from.data(), from.size());
  to[from.size()] = '\0';
  return true;
}

std::string_view Next(std::string_view& rest, char separator) noexcept {
  const std::string_view item = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), item.size() + 1));
  return item;
}

void ReadTreatments(std::string_view text) noexcept {
  env::ForEachSetting(text, [](std::string_view key, std::string_view value) {
    if (schedule.treatment_count == kMostTreatments) return;
    Treatment& one = schedule.treatments[schedule.treatment_count++];
    if (!Copy(one.key, key) || !Copy(one.value, value)) one.key[0] = '\0';
  });
}

void ReadArms(std::string_view text) noexcept {
  while (!text.empty() && schedule.arm_count < kMostArms) {
    std::uint32_t bits = 0;
    for (const char letter : Next(text, ',')) {
      if (letter >= 'a' && letter <= 'z') bits |= 1u << (letter - 'a');
    }
    schedule.arms[schedule.arm_count++] = bits;
  }
}

int Index(std::string_view key) noexcept {
  for (std::size_t n = 0; n < schedule.treatment_count; ++n) {
    if (key == schedule.treatments[n].key) return static_cast<int>(n);
  }
  return -1;
}

std::uint32_t TurnKnobs(std::uint32_t before, std::uint32_t now) noexcept {
  std::uint32_t stood = 0;
  for (std::size_t n = 0; n < schedule.treatment_count; ++n) {
    Treatment& one = schedule.treatments[n];
    const std::uint32_t bit = 1u << n;
    const Turn turn = one.turn.load(std::memory_order_acquire);
    if (turn == nullptr) continue;
    if ((before & bit) != 0 && one.stands) stood |= bit;
    if (((before ^ now) & bit) != 0) one.stands = turn((now & bit) != 0 ? one.value : nullptr, one.context);
  }
  return stood;
}

std::uint32_t NotifyInterpreter(std::uint32_t now) noexcept {
  const Switch notify = interpreter.load(std::memory_order_acquire);
  std::uint32_t changed = 0;
  for (std::size_t n = 0; notify != nullptr && n < schedule.treatment_count; ++n) {
    if (notify(schedule.treatments[n].key, (now >> n & 1) != 0 ? 1 : 0) != 0) changed |= 1u << n;
  }
  return changed;
}

void SwitchTo(std::uint32_t now, bool last) noexcept {
  const std::uint32_t before = on.exchange(now);
  const std::uint32_t changed = acted.exchange(0) | TurnKnobs(before, now) | NotifyInterpreter(now);
  char name[kMostTreatments + 1] = "-";
  std::size_t length = now == 0 ? 1 : 0;
  for (std::size_t n = 0; n < schedule.treatment_count; ++n) {
    if ((now >> n & 1) != 0) name[length++] = static_cast<char>('a' + n);
  }
  capture::WriteMark(wire::MarkKind::kSwitch, last ? std::string_view() : std::string_view(name, length), changed);
}

bool BlockEnds() noexcept {
  return running && steps_in_block + 1 >= schedule.block_steps;
}

}  // namespace

void Start() noexcept {
  const char* text = std::getenv(env::kLive);
  const char* treatments = std::getenv(env::kLiveTreatment);
  if (text == nullptr || treatments == nullptr) return;
  char* end = nullptr;
  schedule.seed = std::strtoull(text, &end, 10);
  schedule.block_steps = std::strtoull(end, &end, 10);
  while (*end == ' ') ++end;
  ReadTreatments(treatments);
  ReadArms(end);
  const char* seconds = std::getenv(env::kLiveSeconds);
  const double length_s = seconds == nullptr ? 0 : std::strtod(seconds, nullptr);
  if (length_s > 0) schedule.until_ns = capture::NowNs() + static_cast<std::uint64_t>(1e9 * length_s);
}

bool Scheduled() noexcept {
  return schedule.arm_count > 1 && schedule.block_steps > 0;
}

int State(std::string_view key) noexcept {
  const int index = Scheduled() ? Index(key) : -1;
  return index < 0 ? -1 : static_cast<int>(on.load(std::memory_order_relaxed) >> index & 1);
}

void Acted(std::string_view key) noexcept {
  if (const int index = Index(key); index >= 0) acted.fetch_or(1u << index);
}

bool Offer(std::string_view key, Turn turn, void* context) noexcept {
  const int index = Scheduled() ? Index(key) : -1;
  if (index < 0 || turn == nullptr) return false;
  loop::Claim(key);
  Treatment& one = schedule.treatments[static_cast<std::size_t>(index)];
  one.context = context;
  one.turn.store(turn, std::memory_order_release);
  return true;
}

void SetInterpreter(Switch notify) noexcept {
  interpreter.store(notify, std::memory_order_release);
}

bool EndsWithThisStep(std::uint64_t time_ns) noexcept {
  if (!BlockEnds() || schedule.until_ns == 0) return false;
  if (time_ns >= schedule.until_ns) return true;
  if (place + 1 < schedule.arm_count) return false;
  return time_ns + (time_ns - opened_ns) / (rounds + 1) > schedule.until_ns;
}

void StepEnded(std::uint64_t time_ns, bool opens, bool closes) noexcept {
  if (!Scheduled() || (!running && !opens)) return;
  if (closes) {
    running = false;
    return SwitchTo(0, true);
  }
  if (!opens && ++steps_in_block < schedule.block_steps) return;
  running = true;
  steps_in_block = 0;
  if (opens) opened_ns = time_ns;
  if (opens || place + 1 == schedule.arm_count) {
    rounds += opens ? 0 : 1;
    Shuffle();
    place = 0;
  } else {
    ++place;
  }
  SwitchTo(schedule.arms[place], false);
}

bool SwitchesNext() noexcept {
  return BlockEnds();
}

}  // namespace loopscope::live
