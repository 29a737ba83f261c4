// The beginnings of CUPTI's activity records, as far as they are read. Records only grow at their ends: these offsets
// are the same from CUPTI 12.4 to 13.5, while the newest structures of a header are longer than what an older library
// writes. activity_layout.cpp compares them with the header that is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace loopscope::activity {

// Gaps are named after their offsets.
struct Kernel {
  std::uint32_t kind;
  std::uint32_t at_4[3];
  std::uint64_t start, end;  // ns; 0 where CUPTI could not take them
  std::uint64_t at_32;
  std::uint32_t device, context, stream;
  std::uint32_t at_52[10];
  std::uint32_t correlation;
  std::int64_t at_96;
  const char* name;  // mangled; lives as long as its module
};
static_assert(sizeof(Kernel) == 112);

struct Memcpy {
  std::uint32_t kind;
  std::uint8_t copy_kind, from, to, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};
static_assert(sizeof(Memcpy) == 48);

struct Memset {
  std::uint32_t kind, value;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};
static_assert(sizeof(Memset) == 48);

struct GraphTrace {
  std::uint32_t kind, correlation;
  std::uint64_t start, end;
  std::uint32_t device;  // of the first node; kHost where that runs on the host
  std::uint32_t graph, context, stream;
  std::uint64_t at_40;
  std::uint32_t end_device, end_context;  // of the last node
};
inline constexpr std::uint32_t kHost = 0x7fffffff;
static_assert(sizeof(GraphTrace) == 56);

struct Synchronization {
  std::uint32_t kind, type;
  std::uint64_t start, end;
  std::uint32_t correlation, context, stream, event;
};
static_assert(sizeof(Synchronization) == 40);

struct Api {
  std::uint32_t kind, callback;
  std::uint64_t start, end;
  std::uint32_t process, thread, correlation, returned;
};
static_assert(sizeof(Api) == 40);

struct Device {
  std::uint32_t kind, flags;
  std::uint64_t memory_bandwidth, memory_bytes;
  std::uint32_t at_24[5];
  std::uint32_t multiprocessors;
  std::uint32_t at_48[14];
  std::uint32_t compute_major, compute_minor, id, ecc;
  std::uint8_t uuid[16];
  const char* name;
  std::uint8_t cuda_visible, mig_enabled, at_146[6];
  std::uint32_t gpu_instance, compute_instance;
};
static_assert(sizeof(Device) == 160);

struct Context {
  std::uint32_t kind, context, device;
};
static_assert(sizeof(Context) == 12);

struct Overhead {
  std::uint32_t kind, overhead_kind, object_kind, object[3];
  std::uint64_t start, end;
};
static_assert(sizeof(Overhead) == 40);

// CUPTI packs its records: each is copied before it is read. The record must have at least sizeof(Prefix) bytes.
template <class Prefix, class Record>
Prefix As(const Record& record) noexcept {
  Prefix copy;
  std::memcpy(&copy, &record, sizeof copy);
  return copy;
}

}  // namespace loopscope::activity
