// NCCL's own NVTX ranges in an Nsight Systems export: each call's communicator and bytes. The ranges carry typed
// payloads, whose layout is in tables of the export.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/importers/nsys/database.h"

namespace loopscope {

// 0 where the payload does not have it.
struct NcclPayload {
  std::uint64_t communicator = 0, bytes = 0;
  int ranks = 0;
};

class NcclPayloads {
 public:
  void ReadSchemas(NsysDatabase& database);
  // `bytes`: of NVTX_EVENTS.binaryData. nullopt where they are not NCCL's, or damaged.
  std::optional<NcclPayload> Read(std::string_view bytes) const;

 private:
  enum class Field { kCommunicator, kBytes, kRanks };
  struct Entry {
    Field field = Field::kBytes;
    std::size_t offset = 0, size = 0;
    bool operator==(const Entry&) const = default;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Entry>> schemas_;  // by domain and schema
};

struct NcclCall {
  std::int64_t start_ns = 0, end_ns = 0;
  std::string operation;  // "allreduce", "send"
  std::uint64_t communicator = 0;
  std::uint64_t bytes = 0;  // as the call counts them: one rank's share of gathers and scatters
};

// The calls of one thread whose kernels were not seen yet. Those of a group are launched together at its end: one
// kernel for all calls of a communicator.
class NcclCalls {
 public:
  void Add(NcclCall call) { waiting_.push_back(std::move(call)); }  // by start
  // The call behind a kernel that this thread launched then, with the bytes of all calls that it serves; `kernel`
  // as CollectiveOfKernel says. Launches by start. nullopt where none fits.
  std::optional<NcclCall> TakeFor(std::string_view kernel, std::int64_t launched_ns);

 private:
  std::deque<NcclCall> waiting_;
};

// "ncclAllReduce" → "allreduce"; "" for calls that send nothing.
std::string NcclOperation(std::string_view range);

}  // namespace loopscope
