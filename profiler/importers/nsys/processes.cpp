#include "profiler/importers/nsys/processes.h"

#include <algorithm>
#include <utility>

namespace loopscope {
namespace {

// As in captures: four and a half years, so that sums of times do not overflow.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 57;
constexpr std::size_t kMaxProcesses = 4096, kMaxThreads = 65536;

}  // namespace

NsysTables NsysTableReader::Read() {
  payloads_.ReadSchemas(database_);
  ReadRanges();
  ReadCalls();  // before the copies: it knows which of them are asynchronous
  ReadWaits();
  ReadKernels();
  ReadCopies();
  ReadMemsets();
  ReadGraphs();
  ReadDeviceWaits();
  ReadThreadNames();
  for (auto& [key, process] : tables_.processes) {
    OrderThreads(process);
    for (auto& [ordinal, device] : process.devices) {
      std::ranges::stable_sort(device.events, {}, &DeviceEvent::start_ns);
    }
    NameMessages(process);
  }
  return std::move(tables_);
}

// Serialized global ids: hardware 8 bits, virtual machine 8, process 24, thread 24 (Nsight Systems' user guide, "SQLite
// schema").
NsysProcess* NsysTableReader::ProcessOf(std::uint64_t global_id) {
  const auto pid = static_cast<std::uint32_t>(global_id >> 24 & 0xffffff);
  if (only_pid_ != 0 && pid != only_pid_) return nullptr;
  const auto found = tables_.processes.find(global_id >> 24);
  if (found != tables_.processes.end()) return &found->second;
  if (tables_.processes.size() >= kMaxProcesses) return nullptr;
  NsysProcess& process = tables_.processes[global_id >> 24];
  process.pid = pid;
  return &process;
}

std::uint32_t NsysTableReader::ThreadOf(NsysProcess& process, std::uint64_t global_tid) {
  const auto found = thread_index_.find(global_tid);
  if (found != thread_index_.end()) return found->second;
  if (process.threads.size() >= kMaxThreads) return kNone;
  const auto index = static_cast<std::uint32_t>(process.threads.size());
  process.threads.push_back({process.pid, static_cast<std::uint32_t>(global_tid & 0xffffff), "", {}});
  thread_index_.emplace(global_tid, index);
  return index;
}

bool NsysTableReader::Repair(std::int64_t& start_ns, std::int64_t& end_ns) {
  if (start_ns < 0 || start_ns > kMaxTimeNs || end_ns > kMaxTimeNs) {
    ++tables_.repaired;
    return false;
  }
  if (end_ns < start_ns) {
    ++tables_.repaired;
    end_ns = start_ns;
  }
  return true;
}

StringId NsysTableReader::Intern(std::string_view text) {
  if (text.empty()) return 0;
  const auto [known, added] = interned_.try_emplace(std::string(text), static_cast<StringId>(tables_.strings.size()));
  if (added) tables_.strings.push_back(known->first);
  return known->second;
}

StringId NsysTableReader::InternId(std::int64_t id) {
  const auto found = interned_ids_.find(id);
  if (found != interned_ids_.end()) return found->second;
  return interned_ids_[id] = Intern(database_.String(id));
}

}  // namespace loopscope
