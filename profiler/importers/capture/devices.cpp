#include "profiler/importers/capture/devices.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "profiler/core/trace/facts.h"
#include "profiler/importers/shared/names.h"

namespace loopscope {
namespace {

using wire::DeviceWork, wire::RecordKind;

constexpr std::uint32_t kMaxDevices = 1024;

std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                          &std::free);
  return status == 0 && plain ? std::string(plain.get()) : name;
}

DeviceKind KindOf(std::uint8_t work) {
  switch (static_cast<DeviceWork>(work)) {
    case DeviceWork::kCopy:
      return DeviceKind::kCopy;
    case DeviceWork::kMemset:
      return DeviceKind::kMemset;
    case DeviceWork::kGraph:
      return DeviceKind::kGraph;
    case DeviceWork::kWait:
      return DeviceKind::kWait;
    default:
      return DeviceKind::kKernel;
  }
}

CopyKind CopyOf(wire::CopyWay way) {
  return way <= wire::CopyWay::kPeer ? static_cast<CopyKind>(way) : CopyKind::kNotACopy;
}
static_assert(static_cast<int>(CopyKind::kPeer) == static_cast<int>(wire::CopyWay::kPeer) &&
              static_cast<int>(CopyKind::kHostToDevice) == static_cast<int>(wire::CopyWay::kHostToDevice));
static_assert(int{kDevicePageable} == wire::kWorkPageable && int{kDevicePinned} == wire::kWorkPinned &&
              int{kDeviceAsync} == wire::kWorkAsync);

class DeviceReader {
 public:
  DeviceReader(const IdMap& ids, const LeftOut& left_out, Trace& trace)
      : ids_(ids), left_out_(left_out), trace_(trace) {}

  void Add(std::uint32_t pid, wire::RecordHead head, const char* at) {
    const std::size_t bytes = std::size_t{head.words} * 8;
    if (head.kind == RecordKind::kDevice && bytes >= sizeof(wire::DeviceRecord)) {
      AddWork(head, RecordAt<wire::DeviceRecord>(at));
    } else if (head.kind == RecordKind::kDeviceCall && bytes >= sizeof(wire::DeviceCallRecord)) {
      AddCall(pid, RecordAt<wire::DeviceCallRecord>(at));
    }
  }

  DeviceLosses Finish() {
    PlaceHomeless();
    for (auto& [ordinal, device] : devices_) {
      std::ranges::stable_sort(device.events, {}, &DeviceEvent::start_ns);
      device.name = FactOf(trace_, "device.{}.name", std::to_string(ordinal));
      trace_.quality.events += device.events.size();
      trace_.devices.push_back(std::move(device));
    }
    for (auto& [thread, calls] : calls_) MergeCalls(thread.first, thread.second, std::move(calls));
    return losses_;
  }

 private:
  // A name of the file resolved to the trace, computed once per name.
  struct KernelName {
    StringId name = 0;
    std::uint32_t collective = kNone;
  };

  // Its times are possible, and it does not lie in a stretch that is left out.
  bool Counts(std::uint64_t start_ns, std::uint64_t duration_ns) {
    const bool sound = start_ns <= kMaxTimeNs && duration_ns <= kMaxTimeNs - start_ns;
    losses_.impossible += !sound;
    return sound && !left_out_.Has(start_ns);
  }

  void AddWork(wire::RecordHead head, const wire::DeviceRecord& work) {
    if (!Counts(work.start_ns, work.duration_ns)) return;
    DeviceEvent event;
    event.start_ns = static_cast<std::int64_t>(work.start_ns);
    event.end_ns = static_cast<std::int64_t>(work.start_ns + work.duration_ns);
    event.bytes = work.bytes;
    event.stream = work.stream;
    event.correlation = work.correlation;
    event.kind = KindOf(head.sub);
    event.copy = event.kind == DeviceKind::kCopy ? CopyOf(work.way) : CopyKind::kNotACopy;
    event.flags = work.flags;
    // From pageable memory an asynchronous call waits until the copy is staged.
    if (event.flags & kDevicePageable) event.flags &= static_cast<std::uint8_t>(~kDeviceAsync);
    Name(work.name, event);
    if (work.device >= kMaxDevices) {
      homeless_.push_back(event);
      return;
    }
    Device& device = devices_[work.device];
    device.ordinal = work.device;
    device.events.push_back(event);
  }

  // A CUDA graph that begins on the host is recorded without its device's number.
  void PlaceHomeless() {
    if (homeless_.empty()) return;
    if (devices_.empty() && !FactOf(trace_, "device.{}.name", "0").empty() &&
        FactOf(trace_, "device.{}.name", "1").empty()) {
      devices_[0];
    }
    if (devices_.size() == 1) {
      std::vector<DeviceEvent>& events = devices_.begin()->second.events;
      events.insert(events.end(), homeless_.begin(), homeless_.end());
    } else {
      losses_.without_device = homeless_.size();
    }
  }

  void Name(std::uint32_t id, DeviceEvent& event) {
    switch (event.kind) {
      case DeviceKind::kKernel: {
        const KernelName& kernel = KernelOf(ids_.String(id));
        event.name = kernel.name;
        event.group = kernel.collective;
        if (event.group != kNone) event.kind = DeviceKind::kCommunication;
        return;
      }
      case DeviceKind::kCopy:
        event.name = Intern(std::string(NameOfCopy(event.copy)));
        return;
      case DeviceKind::kMemset:
        event.name = Intern("Memset");
        return;
      case DeviceKind::kGraph:
        event.name = Intern("CUDA graph");
        return;
      default:
        event.name = Intern("wait");
    }
  }

  const KernelName& KernelOf(StringId mangled) {
    const auto [known, added] = kernels_.try_emplace(mangled);
    if (!added) return known->second;
    const std::string plain = Demangled(std::string(trace_.text(mangled)));
    known->second.name = Intern(plain);
    const std::string operation = CollectiveOfKernel(plain);
    if (operation.empty()) return known->second;
    known->second.collective = static_cast<std::uint32_t>(trace_.collectives.size());
    trace_.collectives.push_back({.operation = Intern(operation)});
    return known->second;
  }

  void AddCall(std::uint32_t pid, const wire::DeviceCallRecord& call) {
    if (!Counts(call.start_ns, call.duration_ns)) return;
    Event event;
    event.start_ns = static_cast<std::int64_t>(call.start_ns);
    event.end_ns = static_cast<std::int64_t>(call.start_ns + call.duration_ns);
    event.kind = EventKind::kRange;
    const auto [known, added] = call_names_.try_emplace(call.name);
    if (added) {
      const std::string plain(PlainCall(trace_.text(ids_.String(call.name))));
      known->second = {Intern(plain), IsSynchronizingCall(plain) ? RangeCategory::kSync : RangeCategory::kDeviceCall};
    }
    event.name = known->second.first;
    event.sub = static_cast<std::uint8_t>(known->second.second);
    event.value = call.correlation;
    calls_[{pid, call.tid}].push_back(event);
  }

  void MergeCalls(std::uint32_t pid, std::uint32_t tid, std::vector<Event> calls) {
    const auto starts_first = [](const Event& a, const Event& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
    };
    std::ranges::stable_sort(calls, starts_first);
    trace_.quality.events += calls.size();
    const auto thread =
        std::ranges::find_if(trace_.threads, [&](const Thread& one) { return one.pid == pid && one.tid == tid; });
    if (thread == trace_.threads.end()) {
      trace_.threads.push_back({pid, tid, "", std::move(calls)});
      return;
    }
    std::vector<Event> merged;
    merged.reserve(thread->events.size() + calls.size());
    std::ranges::merge(thread->events, calls, std::back_inserter(merged), starts_first);
    MoveStacks(static_cast<std::uint32_t>(thread - trace_.threads.begin()), thread->events, calls);
    thread->events = std::move(merged);
  }

  // Stacks of ranges are keyed by event index, which the calls inserted between them change.
  void MoveStacks(std::uint32_t thread, const std::vector<Event>& events, const std::vector<Event>& calls) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> moved;
    std::erase_if(trace_.range_stacks, [&](const auto& one) {
      if (one.first >> 32 != thread) return false;
      const auto index = static_cast<std::uint32_t>(one.first);
      const Event& event = events[index];
      const auto before = std::ranges::partition_point(calls, [&](const Event& call) {
        return call.start_ns != event.start_ns ? call.start_ns < event.start_ns : call.end_ns > event.end_ns;
      });
      moved.emplace_back(one.first + static_cast<std::uint64_t>(before - calls.begin()), one.second);
      return true;
    });
    trace_.range_stacks.insert(moved.begin(), moved.end());
  }

  StringId Intern(const std::string& text) {
    const auto [known, added] = strings_.try_emplace(text, static_cast<StringId>(trace_.strings.size()));
    if (added) trace_.strings.push_back(text);
    return known->second;
  }

  const IdMap& ids_;
  const LeftOut& left_out_;
  Trace& trace_;
  std::map<std::uint32_t, Device> devices_;                                      // by ordinal
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Event>> calls_;  // by process and thread
  std::unordered_map<StringId, KernelName> kernels_;
  std::unordered_map<std::uint32_t, std::pair<StringId, RangeCategory>> call_names_;
  std::unordered_map<std::string, StringId> strings_;
  std::vector<DeviceEvent> homeless_;  // work without a device's number
  DeviceLosses losses_;
};

}  // namespace

DeviceLosses AddDevices(const std::vector<ChunkView>& chunks, const IdMap& ids, const LeftOut& left_out, Trace& trace) {
  DeviceReader reader(ids, left_out, trace);
  for (const ChunkView& chunk : chunks) {
    ForEachRecord(chunk, [&](wire::RecordHead head, const char* at) { reader.Add(chunk.pid, head, at); });
  }
  return reader.Finish();
}

std::vector<std::string> DeviceWarnings(const Trace& trace) {
  std::vector<std::string> lines;
  const auto graph = [](const DeviceEvent& event) { return event.kind == DeviceKind::kGraph; };
  if (std::ranges::any_of(trace.devices, [&](const Device& one) { return std::ranges::any_of(one.events, graph); })) {
    lines.emplace_back("CUDA graphs were recorded as a whole: the kernels inside them cannot be seen");
  }
  for (const Device& device : trace.devices) {
    const std::string_view slice = FactOf(trace, "device.{}.mig", std::to_string(device.ordinal));
    if (slice.empty()) continue;
    lines.push_back(
        fmt::format("cuda:{} is a slice of a GPU (MIG {}): how busy and how fast the whole one is was not recorded",
                    device.ordinal, slice));
  }
  return lines;
}

namespace {

constexpr std::size_t kMinSamples = 3;  // about as many seconds
constexpr double kMinSlowedShare = 0.1;

struct Samples {
  std::size_t all = 0, slowed = 0;
  double least_mhz = 1e9, most_mhz = 0;
};

std::map<std::string, Samples> SamplesOf(const Trace& trace) {
  std::map<std::string, Samples> by_device;
  for (const Mark& mark : trace.marks) {
    if (mark.kind != MarkKind::kDeviceSample) continue;
    const std::string_view name = trace.text(mark.name);
    const std::size_t blank = name.find(' ');
    if (blank == name.npos) continue;
    Samples& samples = by_device[std::string(name.substr(0, blank))];
    const std::string_view what = name.substr(blank + 1);
    const auto value = std::bit_cast<double>(mark.value);
    if (what == "slowed") {
      ++samples.all;
      samples.slowed += value != 0;
    } else if (what == "sm_clock_mhz") {
      samples.least_mhz = std::min(samples.least_mhz, value);
      samples.most_mhz = std::max(samples.most_mhz, value);
    }
  }
  return by_device;
}

}  // namespace

std::vector<std::string> SlowedDevices(const Trace& trace) {
  std::vector<std::string> lines;
  for (const auto& [device, samples] : SamplesOf(trace)) {
    const double share = samples.all == 0 ? 0 : static_cast<double>(samples.slowed) / static_cast<double>(samples.all);
    if (samples.all < kMinSamples || share < kMinSlowedShare) continue;
    std::string line = fmt::format("{} was held back by power, heat or its board in {:.0f} % of {} samples", device,
                                   100 * share, samples.all);
    if (samples.most_mhz > 0) line += fmt::format(" (clock {:.0f} to {:.0f} MHz)", samples.least_mhz, samples.most_mhz);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace loopscope
