// Buffers as CUPTI fills them, and a walk over them that needs neither a driver nor the CUPTI that wrote them.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace loopscope::test {

// A buffer as CUPTI fills it: packed records, one behind the other, 8 bytes aligned; zeros behind the last.
class Buffer {
 public:
  template <class Record>
  Buffer& Add(const Record& record) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + (sizeof record + 7) / 8 * 8);
    std::memcpy(bytes_.data() + at, &record, sizeof record);
    return *this;
  }
  // The first `bytes` of it, as an older CUPTI writes it; or with more behind it, as a newer one.
  template <class Record>
  Buffer& AddAs(std::size_t bytes, const Record& record) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + (bytes + 7) / 8 * 8);
    std::memcpy(bytes_.data() + at, &record, bytes < sizeof record ? bytes : sizeof record);
    return *this;
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

// How long the records of a CUPTI are. 12.9 has those of 12.8, 13.4 those of 13.5.
struct RecordBytes {
  std::size_t kernel, copy, set, wait, context, device;
};
inline constexpr RecordBytes kCupti124{208, 88, 88, 40, 24, 184}, kCupti128{208, 96, 88, 56, 32, 184},
    kCupti130{216, 96, 88, 56, 32, 184}, kCupti135{248, 112, 104, 56, 40, 192};

template <const RecordBytes& kBytes>
std::size_t BytesOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return kBytes.kernel;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return kBytes.copy;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return kBytes.set;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return kBytes.wait;
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return kBytes.context;
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return kBytes.device;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return sizeof(CUpti_ActivityOverhead3);
    default:
      return sizeof(CUpti_ActivityMarker2);
  }
}

// In place of cuptiActivityGetNextRecord, which hands out whole records only.
template <const RecordBytes& kBytes>
CUptiResult NextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  const auto bytes_at = [buffer](std::size_t at) {
    CUpti_ActivityKind kind;
    std::memcpy(&kind, buffer + at, sizeof kind);
    return BytesOf<kBytes>(kind);
  };
  std::size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer);
    at += bytes_at(at);
  }
  if (at + sizeof(CUpti_ActivityKind) > valid || at + bytes_at(at) > valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
  return CUPTI_SUCCESS;
}

}  // namespace loopscope::test
