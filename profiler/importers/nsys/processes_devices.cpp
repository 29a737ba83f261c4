// What the devices of an export did: kernels, copies, fills, graphs, waits of streams.
#include <array>
#include <cstdio>

#include "profiler/importers/nsys/processes.h"
#include "profiler/importers/shared/names.h"

namespace loopscope {
namespace {

constexpr auto kKernelColumns = std::to_array<std::string_view>(
    {"start", "end", "deviceId", "streamId", "demangledName|shortName", "globalPid", "correlationId", "shortName"});
constexpr auto kCopyColumns = std::to_array<std::string_view>(
    {"start", "end", "deviceId", "streamId", "copyKind", "globalPid", "correlationId", "bytes", "srcKind", "dstKind"});
constexpr auto kMemsetColumns =
    std::to_array<std::string_view>({"start", "end", "deviceId", "streamId", "globalPid", "correlationId", "bytes"});
constexpr auto kGraphColumns =
    std::to_array<std::string_view>({"start", "end", "deviceId", "streamId", "globalPid", "correlationId"});
constexpr auto kWaitColumns = std::to_array<std::string_view>(
    {"start", "end", "globalPid", "streamId", "syncType|deprecatedSyncType", "correlationId"});

DeviceEvent EventOf(const NsysRow& row, int correlation) {
  DeviceEvent event;
  event.start_ns = row.whole(0);
  event.end_ns = row.whole(1);
  event.stream = static_cast<std::uint32_t>(row.whole(3));
  event.correlation = static_cast<std::uint32_t>(row.whole(correlation));
  return event;
}

// ENUM_CUDA_MEMCPY_OPER. Arrays are on the device; moves of unified memory count as ordinary copies.
CopyKind CopyKindOf(std::int64_t kind) {
  switch (kind) {
    case 1:
    case 3:
    case 11:
      return CopyKind::kHostToDevice;
    case 2:
    case 4:
    case 12:
      return CopyKind::kDeviceToHost;
    case 5:
    case 6:
    case 7:
    case 8:
    case 13:
      return CopyKind::kDeviceToDevice;
    case 9:
      return CopyKind::kHostToHost;
    case 10:
      return CopyKind::kPeer;
    default:
      return CopyKind::kNotACopy;
  }
}

// ENUM_CUDA_MEM_KIND of the host side.
std::uint8_t HostFlags(CopyKind kind, std::int64_t from, std::int64_t to) {
  if (kind != CopyKind::kHostToDevice && kind != CopyKind::kDeviceToHost) return 0;
  const std::int64_t host = kind == CopyKind::kHostToDevice ? from : to;
  return host == 0 ? kDevicePageable : host == 1 ? kDevicePinned : 0;
}

std::string HexText(std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
  return text.data();
}

constexpr std::int64_t kMaxDevices = 1024;

// A CUDA graph that begins on the host names no device: use its stream's, or the only one.
std::int64_t DeviceOf(const NsysProcess& process, std::uint32_t stream, std::int64_t named) {
  if (named >= 0 && named < kMaxDevices) return named;
  const auto on_stream = process.stream_devices.find(stream);
  if (on_stream != process.stream_devices.end()) return on_stream->second;
  return process.devices.size() == 1 ? std::int64_t{process.devices.begin()->first} : -1;
}

}  // namespace

void NsysTableReader::AddDeviceEvent(std::int64_t global_pid, std::int64_t device, DeviceEvent event) {
  NsysProcess* const process = ProcessOf(static_cast<std::uint64_t>(global_pid));
  if (process == nullptr || device < 0 || device >= kMaxDevices || !Repair(event.start_ns, event.end_ns)) return;
  process->stream_devices[event.stream] = static_cast<std::uint32_t>(device);
  Device& on = process->devices[static_cast<std::uint32_t>(device)];
  on.ordinal = static_cast<std::uint32_t>(device);
  process->kernels += event.kind == DeviceKind::kKernel || event.kind == DeviceKind::kGraph;
  on.events.push_back(event);
}

std::uint32_t NsysTableReader::CollectiveOf(std::string_view kernel) {
  const std::string operation = CollectiveOfKernel(kernel);
  if (operation.empty()) return kNone;
  const StringId name = Intern(operation);
  const auto [known, added] =
      collective_index_.try_emplace({name, StringId{0}}, static_cast<std::uint32_t>(tables_.collectives.size()));
  if (added) tables_.collectives.push_back({.operation = name});
  return known->second;
}

// A kernel is launched by the thread that called NCCL, during the call or at the end of its group.
void NsysTableReader::NameMessages(NsysProcess& process) {
  if (process.nccl_calls.empty()) return;
  std::unordered_map<std::uint32_t, DeviceEvent*> kernels;  // by correlation
  for (auto& [ordinal, device] : process.devices) {
    for (DeviceEvent& event : device.events) {
      if (event.kind == DeviceKind::kCommunication && event.correlation != 0) kernels[event.correlation] = &event;
    }
  }
  for (auto& [thread, calls] : process.nccl_calls) {
    for (const Event& event : process.threads[thread].events) {
      if (!event.is_range(RangeCategory::kDeviceCall)) continue;
      const auto kernel = kernels.find(static_cast<std::uint32_t>(event.value));
      if (kernel == kernels.end() || tables_.strings[event.name].find("LaunchKernel") == std::string::npos) continue;
      const std::string& operation = tables_.strings[tables_.collectives[kernel->second->group].operation];
      if (const auto call = calls.TakeFor(operation, event.start_ns)) NameMessage(process, *call, *kernel->second);
    }
  }
}

void NsysTableReader::NameMessage(const NsysProcess& process, const NcclCall& call, DeviceEvent& kernel) {
  const auto known_ranks = process.communicator_ranks.find(call.communicator);
  const int ranks = known_ranks != process.communicator_ranks.end() ? known_ranks->second : 0;
  const StringId operation = tables_.collectives[kernel.group].operation, group = Intern(HexText(call.communicator));
  const auto [known, added] =
      collective_index_.try_emplace({operation, group}, static_cast<std::uint32_t>(tables_.collectives.size()));
  if (added) tables_.collectives.push_back({.operation = operation, .group = group, .ranks = ranks});
  kernel.group = known->second;
  // As elsewhere, a gather's or scatter's message counts the data of all ranks.
  const bool parts = call.operation == "allgather" || call.operation == "reducescatter" || call.operation == "alltoall";
  kernel.bytes = parts ? call.bytes * static_cast<std::uint64_t>(ranks) : call.bytes;
}

void NsysTableReader::ReadKernels() {
  std::unordered_map<StringId, std::uint32_t> groups;
  database_.Read("CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns, 5, [&](const NsysRow& row) {
    DeviceEvent event = EventOf(row, 6);
    event.name = InternId(row.whole(4, -1));
    const StringId base = row.has(7) ? InternId(row.whole(7)) : event.name;
    const auto [known, added] = groups.try_emplace(base, kNone);
    if (added) known->second = CollectiveOf(std::string(tables_.strings[base]));
    event.group = known->second;
    event.kind = event.group == kNone ? DeviceKind::kKernel : DeviceKind::kCommunication;
    AddDeviceEvent(row.whole(5), row.whole(2), event);
  });
}

void NsysTableReader::ReadCopies() {
  database_.Read("CUPTI_ACTIVITY_KIND_MEMCPY", kCopyColumns, 5, [&](const NsysRow& row) {
    DeviceEvent event = EventOf(row, 6);
    event.kind = DeviceKind::kCopy;
    event.copy = CopyKindOf(row.whole(4));
    event.name = Intern(NameOfCopy(event.copy));
    event.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(row.whole(7), 0));
    event.flags = HostFlags(event.copy, row.whole(8, -1), row.whole(9, -1));
    const std::uint64_t process = static_cast<std::uint64_t>(row.whole(5)) >> 24;
    // From pageable memory an asynchronous call waits until the copy is staged.
    const bool asynchronous = asynchronous_.contains(process << 32 | event.correlation);
    if (asynchronous && !(event.flags & kDevicePageable)) event.flags |= kDeviceAsync;
    AddDeviceEvent(row.whole(5), row.whole(2), event);
  });
}

void NsysTableReader::ReadMemsets() {
  database_.Read("CUPTI_ACTIVITY_KIND_MEMSET", kMemsetColumns, 4, [&](const NsysRow& row) {
    DeviceEvent event = EventOf(row, 5);
    event.kind = DeviceKind::kMemset;
    event.name = Intern("Memset");
    event.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(row.whole(6), 0));
    AddDeviceEvent(row.whole(4), row.whole(2), event);
  });
}

void NsysTableReader::ReadGraphs() {
  database_.Read("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kGraphColumns, 4, [&](const NsysRow& row) {
    DeviceEvent event = EventOf(row, 5);
    event.kind = DeviceKind::kGraph;
    event.name = Intern("CUDA graph");
    const NsysProcess* const process = ProcessOf(static_cast<std::uint64_t>(row.whole(4)));
    if (process == nullptr) return;
    const std::int64_t device = DeviceOf(*process, event.stream, row.whole(2, -1));
    tables_.without_device += device < 0;
    AddDeviceEvent(row.whole(4), device, event);
  });
}

// ENUM_CUPTI_SYNC_TYPE 2: a stream waits for an event. The others are waits of the host, which its calls show. These
// records always name device 0: the actual device follows from the stream.
void NsysTableReader::ReadDeviceWaits() {
  constexpr std::int64_t kStreamWaitEvent = 2;
  database_.Read("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kWaitColumns, 5, [&](const NsysRow& row) {
    if (row.whole(4) != kStreamWaitEvent) return;
    DeviceEvent event = EventOf(row, 5);
    event.kind = DeviceKind::kWait;
    event.name = Intern("Stream Wait Event");
    const NsysProcess* const process = ProcessOf(static_cast<std::uint64_t>(row.whole(2)));
    if (process == nullptr) return;
    const auto device = process->stream_devices.find(event.stream);
    if (device != process->stream_devices.end()) AddDeviceEvent(row.whole(2), device->second, event);
  });
}

}  // namespace loopscope
