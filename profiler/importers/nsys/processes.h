// The contents of an Nsight Systems export by process: one file may hold a launcher and several ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profiler/core/trace/trace.h"
#include "profiler/importers/nsys/database.h"
#include "profiler/importers/nsys/nccl_calls.h"

namespace loopscope {

// A range that may be a training step.
struct NsysStep {
  std::uint32_t thread = 0;  // index into NsysProcess::threads
  StringId stem = 0;         // its name without the number
  int likeness = 0;          // StepLikeness
  std::int64_t start_ns = 0, end_ns = 0;
};

struct NsysProcess {
  std::uint32_t pid = 0;
  std::vector<Thread> threads;
  std::map<std::uint32_t, Device> devices;  // by CUDA's ordinal
  std::unordered_map<std::uint32_t, std::uint32_t> stream_devices;
  std::vector<NsysStep> steps;
  std::map<std::uint32_t, NcclCalls> nccl_calls;    // by thread
  std::map<std::uint64_t, int> communicator_ranks;  // how many each has
  std::uint64_t emitted_ops = 0, backward = 0, kernels = 0;
};

// The tables as they were read, with one pool of strings.
struct NsysTables {
  std::map<std::uint64_t, NsysProcess> processes;  // by globalPid >> 24
  std::vector<std::string> strings{""};
  std::vector<EventDetail> details;
  std::vector<Collective> collectives;
  std::uint64_t repaired = 0;        // events with impossible times: negative durations, or centuries away
  std::uint64_t unfinished = 0;      // ranges without an end
  std::uint64_t without_device = 0;  // CUDA graphs that did not begin on a device
};

// Reads every known table; `only_pid` leaves all other processes out (0: none). A value of the wrong type counts as
// absent.
class NsysTableReader {
 public:
  NsysTableReader(NsysDatabase& database, std::uint32_t only_pid) : database_(database), only_pid_(only_pid) {}
  NsysTables Read();

 private:
  // nsys_host.cpp: what threads did.
  void ReadRanges();
  void ReadCalls();
  void ReadWaits();
  void ReadThreadNames();
  void AddRange(NsysProcess& process, std::uint32_t thread, Event event, std::string_view message);
  void AddHostEvent(std::uint64_t global_tid, Event event);
  void AddNcclCall(NsysProcess& process, std::uint32_t thread, const Event& event, std::string_view message,
                   const NcclPayload& payload);
  void OrderThreads(NsysProcess& process);
  // nsys_devices.cpp: what devices did.
  void ReadKernels();
  void ReadCopies();
  void ReadMemsets();
  void ReadGraphs();
  void ReadDeviceWaits();
  void AddDeviceEvent(std::int64_t global_pid, std::int64_t device, DeviceEvent event);
  std::uint32_t CollectiveOf(std::string_view kernel);
  void NameMessages(NsysProcess& process);
  void NameMessage(const NsysProcess& process, const NcclCall& call, DeviceEvent& kernel);

  // nsys_processes.cpp
  NsysProcess* ProcessOf(std::uint64_t global_id);  // null: left out
  std::uint32_t ThreadOf(NsysProcess& process, std::uint64_t global_tid);
  bool Repair(std::int64_t& start_ns, std::int64_t& end_ns);  // false: to be left out
  StringId Intern(std::string_view text);
  StringId InternId(std::int64_t id);  // of StringIds

  NsysDatabase& database_;
  std::uint32_t only_pid_;
  NsysTables tables_;
  std::unordered_map<std::string, StringId> interned_;
  std::unordered_map<std::int64_t, StringId> interned_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> thread_index_;            // by globalTid
  std::map<std::pair<StringId, StringId>, std::uint32_t> collective_index_;  // by operation and group
  NcclPayloads payloads_;
  std::unordered_set<std::uint64_t> asynchronous_;  // process << 32 | correlation
};

}  // namespace loopscope
