#include "profiler/importers/nsys/nccl_calls.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace loopscope {
namespace {

// Before the payload: domain (4 bytes), 4 more, schema (4), 4 more, its size (8), the size of all (8).
constexpr std::size_t kHeaderBytes = 32, kSchemaAt = 8;
constexpr std::size_t kMostEntries = 64;
// Calls without a launch by then were recorded into a graph, or had a single rank.
constexpr std::int64_t kLongestWaitNs = 1'000'000'000;

// Size of an nvtxPayloadEntryType (nvToolsExtPayload.h): the integers that NCCL uses; 0 for others.
std::size_t SizeOfType(std::int64_t type) {
  switch (type) {
    case 5:   // int
    case 6:   // unsigned int
    case 15:  // int32
    case 16:  // uint32
      return 4;
    case 7:   // long
    case 8:   // unsigned long
    case 9:   // long long
    case 10:  // unsigned long long
    case 17:  // int64
    case 18:  // uint64
    case 22:  // size_t
      return 8;
    default:
      return 0;
  }
}

template <class Number>
Number At(std::string_view bytes, std::size_t offset) {
  Number number{};
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

bool Serves(std::string_view kernel, const NcclCall& call) {
  if (kernel == "sendrecv") return call.operation == "send" || call.operation == "recv";
  return kernel == call.operation || kernel == "collective";
}

}  // namespace

void NcclPayloads::ReadSchemas(NsysDatabase& database) {
  constexpr auto kColumns = std::to_array<std::string_view>({"domainId", "schemaId", "type", "name", "offset"});
  database.Read("NVTX_PAYLOAD_SCHEMA_ENTRIES", kColumns, 4, [&](const NsysRow& row) {
    const std::string_view name = row.text(3);
    Entry entry;
    if (name == "NCCL communicator ID") {
      entry.field = Field::kCommunicator;
    } else if (name == "No. of ranks") {
      entry.field = Field::kRanks;
    } else if (name != "Message size [bytes]") {
      return;
    }
    const std::int64_t offset = row.whole(4);  // absent for the first entry
    entry.size = SizeOfType(row.whole(2));
    if (entry.size == 0 || offset < 0 || offset > 4096) return;
    entry.offset = static_cast<std::size_t>(offset);
    std::vector<Entry>& entries = schemas_[{row.whole(0), row.whole(1)}];
    const bool known = std::ranges::find(entries, entry) != entries.end();  // each process of an export repeats them
    if (!known && entries.size() < kMostEntries) entries.push_back(entry);
  });
}

std::optional<NcclPayload> NcclPayloads::Read(std::string_view bytes) const {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const auto found = schemas_.find({At<std::uint32_t>(bytes, 0), At<std::uint32_t>(bytes, kSchemaAt)});
  if (found == schemas_.end()) return std::nullopt;
  bytes.remove_prefix(kHeaderBytes);
  NcclPayload payload;
  for (const Entry& entry : found->second) {
    if (entry.offset + entry.size > bytes.size()) return std::nullopt;
    const std::uint64_t value =
        entry.size == 4 ? At<std::uint32_t>(bytes, entry.offset) : At<std::uint64_t>(bytes, entry.offset);
    if (entry.field == Field::kCommunicator) payload.communicator = value;
    if (entry.field == Field::kBytes) payload.bytes = value;
    if (entry.field == Field::kRanks) payload.ranks = static_cast<int>(std::min<std::uint64_t>(value, 1u << 30));
  }
  return payload;
}

std::optional<NcclCall> NcclCalls::TakeFor(std::string_view kernel, std::int64_t launched_ns) {
  while (!waiting_.empty() && waiting_.front().start_ns < launched_ns - kLongestWaitNs) waiting_.pop_front();
  const auto ready = [&](const NcclCall& call) { return call.start_ns <= launched_ns && Serves(kernel, call); };
  // Outside of groups a call launches its kernel itself.
  auto first =
      std::ranges::find_if(waiting_, [&](const NcclCall& call) { return ready(call) && launched_ns < call.end_ns; });
  const bool alone = first != waiting_.end();
  if (!alone) first = std::ranges::find_if(waiting_, ready);
  if (first == waiting_.end()) return std::nullopt;
  NcclCall taken = *first;
  if (alone) {
    waiting_.erase(first);
    return taken;
  }
  taken.bytes = 0;
  std::erase_if(waiting_, [&](const NcclCall& call) {
    const bool served = ready(call) && call.communicator == taken.communicator;
    if (served) taken.bytes += call.bytes;
    return served;
  });
  return taken;
}

std::string NcclOperation(std::string_view range) {
  constexpr std::string_view kPrefix = "nccl";
  constexpr auto kSending =
      std::to_array<std::string_view>({"allreduce", "allgather", "reducescatter", "broadcast", "reduce", "alltoall",
                                       "gather", "scatter", "send", "recv"});
  if (!range.starts_with(kPrefix)) return "";
  std::string plain(range.substr(kPrefix.size()));
  std::ranges::transform(plain, plain.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return std::ranges::find(kSending, plain) != kSending.end() ? plain : "";
}

}  // namespace loopscope
