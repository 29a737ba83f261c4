#include "probes/cupti/decoder.h"

#include <cstdio>
#include <cstring>

#include "probes/cupti/activity_layout.h"

namespace loopscope {
namespace {

using wire::CopyWay, wire::DeviceRecord, wire::DeviceWork;

template <class Record>
wire::RecordHead HeadOf(wire::RecordKind kind, std::uint8_t sub) noexcept {
  return {kind, sub, sizeof(Record) / 8};
}

template <class Activity>
DeviceRecord WorkOf(DeviceWork kind, const Activity& activity, std::uint64_t shift_ns) noexcept {
  DeviceRecord work{};
  work.head = HeadOf<DeviceRecord>(wire::RecordKind::kDevice, static_cast<std::uint8_t>(kind));
  work.start_ns = activity.start + shift_ns;
  work.duration_ns = activity.end - activity.start;
  work.stream = activity.stream;
  work.correlation = activity.correlation;
  return work;
}

// Bytes read of a record of this kind; 0 for kinds that are ignored.
std::size_t ReadBytesOf(CUpti_ActivityKind kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return sizeof(activity::Kernel);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(activity::Memcpy);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(activity::Memset);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(activity::GraphTrace);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(activity::Synchronization);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(activity::Api);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return sizeof(activity::Device);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(activity::Context);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(activity::Overhead);
    default:
      return 0;
  }
}

// Arrays lie on the device; a peer is another device.
CopyWay WayOf(std::uint8_t kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyWay::kHostToDevice;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyWay::kDeviceToHost;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return CopyWay::kDeviceToDevice;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return CopyWay::kHostToHost;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyWay::kPeer;
    default:
      return CopyWay::kNone;
  }
}

std::uint8_t CopyFlags(CopyWay way, const activity::Memcpy& copy) noexcept {
  std::uint8_t flags = copy.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC ? wire::kWorkAsync : 0;
  if (way != CopyWay::kHostToDevice && way != CopyWay::kDeviceToHost) return flags;
  const std::uint8_t host = way == CopyWay::kHostToDevice ? copy.from : copy.to;
  if (host == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE) flags |= wire::kWorkPageable;
  if (host == CUPTI_ACTIVITY_MEMORY_KIND_PINNED) flags |= wire::kWorkPinned;
  return flags;
}

}  // namespace

void Decoder::Decode(std::uint8_t* buffer, std::size_t valid) noexcept {
  CUpti_Activity* record = nullptr;
  while (cupti_.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    const auto offset = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) - buffer);
    if (offset + ReadBytesOf(activity::As<CUpti_Activity>(*record).kind) > valid) {
      ++counts_.torn;
      break;
    }
    Add(*record);
  }
  WriteBatch();
}

void Decoder::Add(const CUpti_Activity& record) noexcept {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return AddKernel(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return AddCopy(record);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return AddMemset(record);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return AddGraph(record);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return AddWait(record);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return AddCall(record);
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return AddDevice(record);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return AddContext(record);
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      const auto overhead = activity::As<activity::Overhead>(record);
      if (Sound(overhead.start, overhead.end)) counts_.overhead_ns += overhead.end - overhead.start;
      return;
    }
    default:
      ++counts_.others;
  }
}

bool Decoder::Sound(std::uint64_t start_ns, std::uint64_t end_ns) noexcept {
  counts_.no_time += start_ns == 0 || end_ns == 0;
  counts_.backwards += start_ns != 0 && end_ns != 0 && end_ns < start_ns;
  return start_ns != 0 && end_ns >= start_ns;
}

void Decoder::AddKernel(const CUpti_Activity& record) noexcept {
  const auto kernel = activity::As<activity::Kernel>(record);
  if (!Sound(kernel.start, kernel.end)) return;
  DeviceRecord work = WorkOf(DeviceWork::kKernel, kernel, shift_ns_);
  work.device = kernel.device;
  if (kernel.name != nullptr) work.name = api_.string_id(kernel.name, std::strlen(kernel.name));
  Put(work);
}

void Decoder::AddCopy(const CUpti_Activity& record) noexcept {
  const auto copy = activity::As<activity::Memcpy>(record);
  if (!Sound(copy.start, copy.end)) return;
  DeviceRecord work = WorkOf(DeviceWork::kCopy, copy, shift_ns_);
  work.device = copy.device;
  work.bytes = copy.bytes;
  work.way = WayOf(copy.copy_kind);
  work.flags = CopyFlags(work.way, copy);
  Put(work);
}

void Decoder::AddMemset(const CUpti_Activity& record) noexcept {
  const auto memset = activity::As<activity::Memset>(record);
  if (!Sound(memset.start, memset.end)) return;
  DeviceRecord work = WorkOf(DeviceWork::kMemset, memset, shift_ns_);
  work.device = memset.device;
  work.bytes = memset.bytes;
  Put(work);
}

void Decoder::AddGraph(const CUpti_Activity& record) noexcept {
  const auto graph = activity::As<activity::GraphTrace>(record);
  if (!Sound(graph.start, graph.end)) return;
  DeviceRecord work = WorkOf(DeviceWork::kGraph, graph, shift_ns_);
  work.device = graph.device != activity::kHost ? graph.device : graph.end_device;
  Put(work);
}

void Decoder::AddWait(const CUpti_Activity& record) noexcept {
  const auto wait = activity::As<activity::Synchronization>(record);
  if (!Sound(wait.start, wait.end)) return;
  DeviceRecord work = WorkOf(DeviceWork::kWait, wait, shift_ns_);
  work.device = wait.context < kContexts ? context_devices_[wait.context] : 0;
  if (wait.stream == static_cast<std::uint32_t>(CUPTI_SYNCHRONIZATION_INVALID_VALUE)) work.stream = 0;
  Put(work);
}

void Decoder::AddCall(const CUpti_Activity& record) noexcept {
  const auto call = activity::As<activity::Api>(record);
  if (!Sound(call.start, call.end)) return;
  const bool runtime = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
  wire::DeviceCallRecord out{};
  out.head = HeadOf<wire::DeviceCallRecord>(wire::RecordKind::kDeviceCall, 0);
  out.name = CallName(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, call.callback);
  if (out.name == kLeftOut) return;
  out.start_ns = call.start + shift_ns_;
  out.duration_ns = call.end - call.start;
  out.correlation = call.correlation;
  out.tid = call.thread;
  Put(out);
}

void Decoder::AddDevice(const CUpti_Activity& record) noexcept {
  const auto device = activity::As<activity::Device>(record);
  char key[64], value[160];
  const auto fact = [&](const char* what) {
    std::snprintf(key, sizeof key, "device.%u.%s", device.id, what);
    api_.fact(key, value);
  };
  std::snprintf(value, sizeof value, "%s", device.name != nullptr ? device.name : "");
  fact("name");
  std::snprintf(value, sizeof value, "%llu", static_cast<unsigned long long>(device.memory_bytes));
  fact("memory_bytes");
  if (device.mig_enabled == 0) {
    DeviceUuid uuid;
    static_assert(sizeof uuid.bytes == sizeof device.uuid);
    std::memcpy(uuid.bytes.data(), device.uuid, sizeof device.uuid);
    if (sampler_ != nullptr) sampler_->Know(device.id, uuid);
    return;
  }
  std::snprintf(value, sizeof value, "%u/%u", device.gpu_instance, device.compute_instance);
  fact("mig");
}

void Decoder::AddContext(const CUpti_Activity& record) noexcept {
  const auto context = activity::As<activity::Context>(record);
  if (context.context < kContexts) context_devices_[context.context] = context.device;
}

std::uint32_t Decoder::CallName(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept {
  auto& names = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_names_ : driver_names_;
  if (id < kNames && names[id] != 0) return names[id];
  const char* name = nullptr;
  const bool known = cupti_.callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr;
  if (!known) name = "an unknown call";
  const bool wanted = calls_ == Calls::kAll || (known && IsRecordedCall(name));
  const std::uint32_t text = wanted ? api_.string_id(name, std::strlen(name)) : kLeftOut;
  if (id < kNames) names[id] = text;
  return text;
}

template <class Record>
void Decoder::Put(const Record& record) noexcept {
  if (batched_ + sizeof record > kBatchBytes) WriteBatch();
  std::memcpy(batch_.data() + batched_, &record, sizeof record);
  batched_ += sizeof record;
  ++batched_records_;
}

void Decoder::WriteBatch() noexcept {
  if (batched_ == 0) return;
  (api_.append(batch_.data(), batched_) ? counts_.records : counts_.not_written) += batched_records_;
  batched_ = batched_records_ = 0;
}

}  // namespace loopscope
