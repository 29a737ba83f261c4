#include "profiler/importers/kineto/events.h"

#include <algorithm>
#include <limits>

#include "profiler/importers/shared/names.h"

namespace loopscope {
namespace {

constexpr std::int64_t kMaxNs = std::int64_t{1} << 61;          // of a start: the year 2043
constexpr std::int64_t kMaxDurationNs = std::int64_t{1} << 57;  // four and a half years
constexpr std::int64_t kMaxThreads = 4096, kMaxDevices = 1024;
constexpr std::size_t kCategoryCount = 10;

bool IsWanted(KinetoCategory category) {
  return category != KinetoCategory::kOther;
}

template <class Number>
Number Clamped(std::int64_t value) {
  constexpr std::int64_t kMax = std::numeric_limits<Number>::max();
  return static_cast<Number>(std::clamp<std::int64_t>(value, 0, kMax));
}

// "rank1:0" → 0.
std::int64_t NumberAtEnd(std::string_view text) {
  std::int64_t number = 0, unit = 1;
  for (; !text.empty() && text.back() >= '0' && text.back() <= '9' && unit < 1'000'000'000; text.remove_suffix(1)) {
    number += unit * (text.back() - '0');
    unit *= 10;
  }
  return number;
}

}  // namespace

void KinetoEvents::Read(const JsonWindow& window) {
  window_ = window.index;
  element_ = 0;
  JsonCursor cursor(window.text);
  for (;;) {
    while (cursor.Take(',')) {
    }
    if (cursor.Next() == '\0') break;
    const char* const begin = cursor.at();
    Element element;
    if (cursor.Next() == '{' && ReadElement(cursor, element)) {
      Add(element);
    } else {
      ++shard_.damaged;
      cursor.Return(begin);
      if (!cursor.Skip() || cursor.at() == begin) break;
    }
    ++element_;
  }
  for (KinetoThread& thread : shard_.threads) {
    thread.ops.Close(window_);
    thread.calls.Close(window_);
    thread.python.Close(window_);
  }
  for (KinetoDevice& device : shard_.devices) {
    device.events.Close(window_);
    device.collectives.Close(window_);
  }
}

void KinetoEvents::Add(const Element& element) {
  if (element.phase == 'M') return AddMetadata(element);
  if (element.phase == 'E') return AddEnd(element);
  if (element.phase == 'i' && element.category == KinetoCategory::kInstant) {
    ++shard_.events;
    if (element.name == "[memory]") AddMemory(element.args);
    return;
  }
  const bool begins = element.phase == 'B';
  if (element.phase != 'X' && !begins) return;
  if (!IsWanted(element.category) || element.category == KinetoCategory::kInstant) return;
  ++shard_.events;
  const bool possible = element.fits && element.has_start && element.duration_ns >= 0 && element.start_ns >= -kMaxNs &&
                        element.start_ns <= kMaxNs && element.duration_ns <= kMaxDurationNs;
  if (!possible) {
    ++shard_.impossible;
    return;
  }
  shard_.reach.Add(element.start_ns, element.start_ns + element.duration_ns);
  if (begins) return AddBegin(element);
  if (IsDeviceWork(element.category)) {
    KinetoDevice* const device = DeviceOf(element);
    device ? AddDevice(element, *device) : void(++shard_.crowded);
  } else {
    KinetoThread* const thread = ThreadOf(element);
    thread ? AddHost(element, *thread) : void(++shard_.crowded);
  }
}

void KinetoEvents::AddHost(const Element& element, KinetoThread& thread) {
  if (element.category == KinetoCategory::kPython) {
    const std::string_view from = element.args.call_from;
    thread.python.current.push_back({element.start_ns, element.start_ns + element.duration_ns, Name(element.name),
                                     from.empty() ? kNone : Name(from)});
  } else {
    (element.category == KinetoCategory::kCall ? thread.calls : thread.ops).current.push_back(HostEvent(element));
  }
}

Event KinetoEvents::HostEvent(const Element& element) {
  const Args& args = element.args;
  Event event;
  event.start_ns = element.start_ns;
  event.end_ns = element.start_ns + element.duration_ns;
  event.name = Name(element.name);
  // A call carries its op's number, not its own.
  event.order = element.category == KinetoCategory::kCall ? kNone : Clamped<std::uint32_t>(args.external);
  const Meaning& meaning = MeaningOf(event.name, element.name, element.category);
  if (meaning.range) {
    event.kind = EventKind::kRange;
    event.sub = static_cast<std::uint8_t>(meaning.category);
    event.name = meaning.shown;
    event.value = Clamped<std::uint32_t>(args.correlation);
  } else {
    event.sequence = args.sequence < 0 ? kNone : static_cast<std::uint32_t>(args.sequence);
    event.forward_thread = Clamped<std::uint16_t>(args.forward_thread);
    event.detail = Detail(args);
  }
  return event;
}

std::uint32_t KinetoEvents::Detail(const Args& args) {
  if (args.types.empty() && args.dims.empty() && args.call_stack.empty()) return kNone;
  scratch_.assign(args.dims);
  scratch_ += kInputsGap;
  scratch_ += args.types;
  scratch_ += kInputsGap;
  scratch_ += args.concrete;
  const std::uint32_t inputs = shard_.inputs.Id(scratch_, seen_at());
  const std::uint32_t stack = args.call_stack.empty() ? kNone : shard_.stacks.Id(args.call_stack, seen_at());
  const auto number = static_cast<std::uint32_t>(shard_.inputs_of_detail.size());
  const auto [place, added] = shard_.details.try_emplace(std::uint64_t{inputs} << 32 | stack, number);
  if (added) {
    shard_.inputs_of_detail.push_back(inputs);
    shard_.stack_of_detail.push_back(stack);
  }
  return place->second;
}

void KinetoEvents::AddDevice(const Element& element, KinetoDevice& device) {
  if (const auto work = Work(element, device)) device.events.current.push_back(*work);
}

std::optional<DeviceEvent> KinetoEvents::Work(const Element& element, KinetoDevice& device) {
  const Args& args = element.args;
  DeviceEvent event;
  event.start_ns = element.start_ns;
  event.end_ns = element.start_ns + element.duration_ns;
  event.name = Name(element.name);
  const Meaning& meaning = MeaningOf(event.name, element.name, element.category);
  event.correlation = Clamped<std::uint32_t>(args.correlation);
  event.stream = static_cast<std::uint32_t>(args.stream >= -1 ? args.stream : std::max<std::int64_t>(element.tid, -1));
  event.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(args.bytes, 0));
  switch (element.category) {
    case KinetoCategory::kCopy:
      event.kind = DeviceKind::kCopy;
      event.copy = meaning.copy.kind;
      event.flags = meaning.copy.flags;
      break;
    case KinetoCategory::kMemset:
      event.kind = DeviceKind::kMemset;
      break;
    case KinetoCategory::kWait:
      if (args.stream == -1) return std::nullopt;  // for the whole device, not one stream: the host's call shows it
      event.kind = DeviceKind::kWait;
      break;
    default:
      if (!meaning.collective && args.collective.empty()) break;
      event.kind = DeviceKind::kCommunication;
      event.group = Collected(args, meaning.operation, device);
      event.bytes = Clamped<std::uint32_t>(std::max(args.elements_in, args.elements_out)) * BytesOfDtype(args.dtype);
  }
  return event;
}

// `operation`: as the kernel's name says, for traces that say nothing else.
std::uint32_t KinetoEvents::Collected(const Args& args, std::uint32_t operation, KinetoDevice& device) {
  if (args.collective.empty() && args.group.empty() && operation == kNone) return kNone;
  Collective collective;
  collective.operation = args.collective.empty() && operation != kNone ? operation : Name(args.collective);
  collective.group = Name(args.group);
  collective.purpose = args.purpose.empty() || args.purpose == "undefined" ? kNone : Name(args.purpose);
  collective.ranks = Clamped<int>(args.ranks);
  collective.sequence = Clamped<std::uint32_t>(args.collective_sequence);
  device.collectives.current.push_back(collective);
  return static_cast<std::uint32_t>(device.collectives.current.size() - 1);
}

void KinetoEvents::AddMetadata(const Element& element) {
  if (element.name != "thread_name" || element.args.name.empty()) return;
  const auto pid = static_cast<std::uint32_t>(element.pid), tid = static_cast<std::uint32_t>(element.tid);
  shard_.thread_names[{pid, tid}] = Name(element.args.name);
}

void KinetoEvents::AddMemory(const Args& args) {
  if (args.allocated <= 0 || args.device_type == 0 || args.device_id < 0 || args.device_id >= kMaxDevices) return;
  std::uint64_t& peak = shard_.peak_bytes[args.device_id];
  peak = std::max(peak, static_cast<std::uint64_t>(args.allocated));
}

const KinetoEvents::Meaning& KinetoEvents::MeaningOf(std::uint32_t name, std::string_view raw,
                                                     KinetoCategory category) {
  const std::size_t at = std::size_t{name} * kCategoryCount + static_cast<std::size_t>(category);
  if (at >= meanings_.size()) meanings_.resize((std::size_t{name} + 1) * kCategoryCount * 2);
  if (meanings_[at].known) return meanings_[at];
  const std::string text = UnescapedJson(raw);
  Meaning meaning;
  meaning.known = true;
  meaning.shown = name;
  if (IsHostRange(category)) {
    const HostName host = HostNameOf(category, text);
    meaning.range = host.range;
    meaning.category = host.category;
    if (host.shown.size() != text.size()) meaning.shown = Name(host.shown);
  } else {
    meaning.collective = category == KinetoCategory::kKernel && IsCollectiveKernel(text);
    if (const std::string operation = CollectiveOfKernel(text); meaning.collective && !operation.empty()) {
      meaning.operation = Name(operation);
    }
    meaning.copy = CopyNameOf(text);
  }
  return meanings_[at] = meaning;
}

// Null when there are too many: threads and devices of a trace are few.
KinetoThread* KinetoEvents::ThreadOf(const Element& element) {
  const auto pid = static_cast<std::uint32_t>(element.pid), tid = static_cast<std::uint32_t>(element.tid);
  const auto is_it = [&](const KinetoThread& thread) { return thread.pid == pid && thread.tid == tid; };
  std::vector<KinetoThread>& threads = shard_.threads;
  if (last_thread_ < threads.size() && is_it(threads[last_thread_])) return &threads[last_thread_];
  const auto found = std::ranges::find_if(threads, is_it);
  last_thread_ = static_cast<std::size_t>(found - threads.begin());
  if (found != threads.end()) return &*found;
  if (threads.size() >= kMaxThreads) return nullptr;
  KinetoThread& thread = threads.emplace_back();
  thread.pid = pid;
  thread.tid = tid;
  if (pid >= kNamedId && !element.pid_text.empty()) shard_.process_names[pid] = Name(element.pid_text);
  return &thread;
}

KinetoDevice* KinetoEvents::DeviceOf(const Element& element) {
  const bool named = !element.pid_text.empty() && element.pid >= kNamedId;
  const std::int64_t own = named ? NumberAtEnd(element.pid_text) : std::max<std::int64_t>(element.pid, 0);
  const auto ordinal = Clamped<std::uint32_t>(element.args.device >= 0 ? element.args.device : own);
  const auto pid = static_cast<std::uint32_t>(element.pid);
  std::vector<KinetoDevice>& devices = shard_.devices;
  const auto found = std::ranges::find_if(
      devices, [&](const KinetoDevice& device) { return device.ordinal == ordinal && device.pid == pid; });
  if (found != devices.end()) return &*found;
  if (devices.size() >= kMaxDevices) return nullptr;
  devices.emplace_back().ordinal = ordinal;
  devices.back().pid = pid;
  if (named) shard_.process_names[pid] = Name(element.pid_text);
  return &devices.back();
}

}  // namespace loopscope
