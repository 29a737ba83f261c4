#include "probes/nccl/collectives.h"

#include <cctype>
#include <cstring>
#include <functional>

#include "probes/wire.h"

namespace loopscope::nccl {
namespace {

// "AllReduce" → "nccl:all_reduce", as PyTorch names the ranges of its backends; of a communicator that is known
// "nccl world:all_reduce".
std::uint32_t NameId(const ProbeApi& api, const char* function, const Communicator* communicator) noexcept {
  char name[kMostNameBytes + 64] = "nccl";
  std::size_t at = 4;
  if (communicator != nullptr) {
    name[at++] = ' ';
    const std::size_t length = std::strlen(communicator->name);
    std::memcpy(name + at, communicator->name, length);
    at += length;
  }
  name[at++] = ':';
  for (const char* c = function; *c != '\0' && at + 2 < sizeof name; ++c) {
    if (std::isupper(static_cast<unsigned char>(*c)) && c != function) name[at++] = '_';
    name[at++] = static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  }
  return api.string_id(name, at);
}

void Lower(std::atomic<std::uint64_t>& least, std::uint64_t value) noexcept {
  std::uint64_t known = least.load(std::memory_order_relaxed);
  while (value < known && !least.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

void Raise(std::atomic<std::uint64_t>& most, std::uint64_t value) noexcept {
  std::uint64_t known = most.load(std::memory_order_relaxed);
  while (value > known && !most.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

void* Collectives::StartCollective(const CollectiveEvent& event, const Communicator* communicator) noexcept {
  if (event.function == nullptr || event.channels == 0 || event.channels > kChannels) return nullptr;
  Flight& flight = flights_[next_.fetch_add(1, std::memory_order_relaxed) % kInFlight];
  if (flight.name.load(std::memory_order_acquire) != 0) lost_.fetch_add(1, std::memory_order_relaxed);
  flight.sequence = event.sequence;
  flight.seen_ns = 0;
  flight.first_ns.store(UINT64_MAX, std::memory_order_relaxed);
  flight.last_ns.store(0, std::memory_order_relaxed);
  flight.next_channel.store(0, std::memory_order_relaxed);
  flight.open.store(event.channels, std::memory_order_relaxed);
  flight.name.store(NameId(api_, event.function, communicator), std::memory_order_release);
  return &flight;
}

void* Collectives::StartChannel(void* collective, std::uint64_t timer_ns) noexcept {
  auto* flight = static_cast<Flight*>(collective);
  if (flight == nullptr || flight->name.load(std::memory_order_acquire) == 0) return nullptr;
  const std::uint32_t index = flight->next_channel.fetch_add(1, std::memory_order_relaxed);
  if (index >= kChannels) return nullptr;
  if (index == 0) flight->seen_ns = api_.now_ns();
  Lower(flight->first_ns, timer_ns);
  flight->channels[index].flight = flight;
  return &flight->channels[index];
}

void Collectives::EndChannel(void* channel, std::uint64_t timer_ns) noexcept {
  auto* ended = static_cast<Channel*>(channel);
  if (ended == nullptr || ended->flight == nullptr) return;
  Flight& flight = *ended->flight;
  ended->flight = nullptr;
  Raise(flight.last_ns, timer_ns);
  if (flight.open.fetch_sub(1, std::memory_order_acq_rel) == 1) Write(flight);
}

bool Collectives::IsChannel(const void* handle) const noexcept {
  const auto* flight = static_cast<const std::byte*>(handle);
  const auto* begin = reinterpret_cast<const std::byte*>(flights_.data());
  if (std::less<>()(flight, begin) || !std::less<>()(flight, begin + sizeof flights_)) return false;
  return static_cast<std::size_t>(flight - begin) % sizeof(Flight) >= offsetof(Flight, channels);
}

// The duration is by the device's timer; the start is when the host, which polls, first saw it.
void Collectives::Write(Flight& flight) noexcept {
  const std::uint64_t first_ns = flight.first_ns.load(std::memory_order_relaxed);
  const std::uint64_t last_ns = flight.last_ns.load(std::memory_order_relaxed);
  wire::RangeRecord record{};
  record.head = {wire::RecordKind::kRange, static_cast<std::uint8_t>(wire::RangeCategory::kCommunication),
                 sizeof record / 8};
  record.name = flight.name.exchange(0, std::memory_order_acq_rel);
  record.start_ns = flight.seen_ns;
  record.duration_ns = last_ns > first_ns ? last_ns - first_ns : 0;
  record.value = flight.sequence;
  if (record.name != 0) api_.append(&record, sizeof record);
}

}  // namespace loopscope::nccl
