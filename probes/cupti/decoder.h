// From CUPTI's activity buffers to records of the capture. Enables nothing and has no thread: one caller at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "probes/cupti/calls.h"
#include "probes/cupti/cupti_library.h"
#include "probes/cupti/utilization.h"
#include "probes/preload/probe_api.h"
#include "probes/wire.h"

namespace loopscope {

struct DecoderCounts {
  std::uint64_t records = 0;      // written
  std::uint64_t not_written = 0;  // there was no room in the capture
  std::uint64_t no_time = 0;      // start 0: CUPTI could not take it; left out
  std::uint64_t backwards = 0;    // ended before they began; left out
  std::uint64_t others = 0;       // kinds that were not requested
  std::uint64_t torn = 0;         // buffers that ended inside a record
  std::uint64_t overhead_ns = 0;  // lost by CUPTI itself, as it reports
};

class Decoder {
 public:
  // Writes only the calls in `calls`: CUPTI may record more than requested.
  Decoder(const Cupti& cupti, const ProbeApi& api, Calls calls, UtilizationSampler* sampler = nullptr) noexcept
      : cupti_(cupti), api_(api), calls_(calls), sampler_(sampler) {}

  // Added to every time from now on (modulo 2^64): the offset from CUPTI's clock to the capture's.
  void ShiftTimes(std::uint64_t ns) noexcept { shift_ns_ = ns; }

  // Writes what the first `valid` bytes of `buffer` contain, up to a damaged record.
  void Decode(std::uint8_t* buffer, std::size_t valid) noexcept;

  const DecoderCounts& counts() const noexcept { return counts_; }

 private:
  static constexpr std::size_t kBatchBytes = 8 * 1024;  // a batch that does not fit into a chunk wastes the rest of it
  static constexpr std::size_t kContexts = 64;
  static constexpr std::size_t kNames = 2048;     // of calls, by callback id
  static constexpr std::uint32_t kLeftOut = ~0u;  // in place of a call's name

  void Add(const CUpti_Activity& record) noexcept;
  void AddKernel(const CUpti_Activity& record) noexcept;
  void AddCopy(const CUpti_Activity& record) noexcept;
  void AddMemset(const CUpti_Activity& record) noexcept;
  void AddGraph(const CUpti_Activity& record) noexcept;
  void AddWait(const CUpti_Activity& record) noexcept;
  void AddCall(const CUpti_Activity& record) noexcept;
  void AddDevice(const CUpti_Activity& record) noexcept;
  void AddContext(const CUpti_Activity& record) noexcept;

  bool Sound(std::uint64_t start_ns, std::uint64_t end_ns) noexcept;
  std::uint32_t CallName(CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept;
  template <class Record>
  void Put(const Record& record) noexcept;
  void WriteBatch() noexcept;

  const Cupti& cupti_;
  const ProbeApi& api_;
  Calls calls_;
  UtilizationSampler* sampler_;  // gets the devices' UUIDs; may be null
  std::uint64_t shift_ns_ = 0;
  DecoderCounts counts_;
  std::array<std::uint32_t, kNames> runtime_names_{}, driver_names_{};  // string ids; 0 not asked yet
  std::array<std::uint32_t, kContexts> context_devices_{};              // by context id, small numbers from 1
  alignas(8) std::array<std::byte, kBatchBytes> batch_;
  std::size_t batched_ = 0, batched_records_ = 0;
};

}  // namespace loopscope
