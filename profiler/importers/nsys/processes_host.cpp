// What the threads of an export did: NVTX ranges, calls of the CUDA runtime, waits in the system.
#include <algorithm>
#include <array>
#include <utility>

#include "profiler/importers/nsys/processes.h"
#include "profiler/importers/shared/inferred_flags.h"
#include "profiler/importers/shared/names.h"

namespace loopscope {
namespace {

// A system call in which a thread waits for another: condition variables, semaphores, poll.
bool IsWaitingCall(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "sem_wait", "sem_timedwait",
       "sem_clockwait", "poll", "ppoll", "epoll_wait", "epoll_pwait", "select", "pselect"});
  return std::ranges::find(kNames, name) != kNames.end();
}

// ENUM_NSYS_EVENT_TYPE: NvtxPushPopRange, NvtxStartEndRange, and the same from text files.
constexpr bool IsRangeType(std::int64_t type) {
  return type == 59 || type == 60 || type == 70 || type == 71;
}

// Autograd's own nodes carry the sequence number of the op that made them.
bool IsBackwardName(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name.ends_with("Backward") || name.starts_with("autograd::engine::") ||
         name == "torch::autograd::AccumulateGrad";
}

}  // namespace

void NsysTableReader::ReadRanges() {
  constexpr auto kColumns =
      std::to_array<std::string_view>({"start", "globalTid", "end", "eventType", "text", "textId", "binaryData"});
  database_.Read("NVTX_EVENTS", kColumns, 2, [&](const NsysRow& row) {
    if (!IsRangeType(row.whole(3, 59)) || !row.has(1)) return;
    if (!row.has(2)) {
      ++tables_.unfinished;
      return;
    }
    Event event{.start_ns = row.whole(0), .end_ns = row.whole(2)};
    const auto global_tid = static_cast<std::uint64_t>(row.whole(1));
    NsysProcess* const process = ProcessOf(global_tid);
    if (process == nullptr || !Repair(event.start_ns, event.end_ns)) return;
    const std::uint32_t thread = ThreadOf(*process, global_tid);
    if (thread == kNone) return;
    const std::string known = row.has(4) ? "" : tables_.strings[InternId(row.whole(5, -1))];
    const std::string_view message = row.has(4) ? row.text(4) : known;
    AddRange(*process, thread, event, message);
    if (const auto payload = payloads_.Read(row.blob(6))) AddNcclCall(*process, thread, event, message, *payload);
  });
}

void NsysTableReader::AddNcclCall(NsysProcess& process, std::uint32_t thread, const Event& event,
                                  std::string_view message, const NcclPayload& payload) {
  if (payload.ranks > 0) process.communicator_ranks[payload.communicator] = payload.ranks;
  std::string operation = NcclOperation(message);
  if (operation.empty() || payload.communicator == 0) return;
  process.nccl_calls[thread].Add(
      {event.start_ns, event.end_ns, std::move(operation), payload.communicator, payload.bytes});
}

void NsysTableReader::AddRange(NsysProcess& process, std::uint32_t thread, Event event, std::string_view message) {
  std::vector<Event>& events = process.threads[thread].events;
  if (const auto op = ParseEmittedOp(message)) {
    event.name = Intern(op->name);
    event.sequence = op->sequence;
    event.flags = wire::kOpEmitNvtx;
    if (!op->inputs.empty()) {
      event.detail = static_cast<std::uint32_t>(tables_.details.size());
      tables_.details.push_back({Intern(op->inputs), kNone, kNone});
    }
    ++process.emitted_ops;
    process.backward += op->name.starts_with("autograd::engine::evaluate_function: ");
    events.push_back(event);
    return;
  }
  const RangeCategory category = CategoryOfRange(message);
  event.kind = EventKind::kRange;
  event.sub = static_cast<std::uint8_t>(category);
  event.name = Intern(message);
  process.backward += category == RangeCategory::kBackward;
  if (const int likeness = StepLikeness(message)) {
    process.steps.push_back({thread, Intern(StepStem(message)), likeness, event.start_ns, event.end_ns});
  }
  events.push_back(event);
}

void NsysTableReader::AddHostEvent(std::uint64_t global_tid, Event event) {
  NsysProcess* const process = ProcessOf(global_tid);
  if (process == nullptr || !Repair(event.start_ns, event.end_ns)) return;
  const std::uint32_t thread = ThreadOf(*process, global_tid);
  if (thread != kNone) process->threads[thread].events.push_back(event);
}

void NsysTableReader::ReadCalls() {
  constexpr auto kColumns = std::to_array<std::string_view>({"start", "end", "globalTid", "nameId", "correlationId"});
  std::unordered_map<StringId, StringId> plain;
  for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
    database_.Read(table, kColumns, 4, [&](const NsysRow& row) {
      if (!row.has(2) || !row.has(1)) return;
      const StringId full = InternId(row.whole(3, -1));
      const auto [known, added] = plain.try_emplace(full, 0);
      if (added) known->second = Intern(std::string(PlainCall(tables_.strings[full])));
      const std::string_view name = tables_.strings[known->second];
      Event event{.start_ns = row.whole(0), .end_ns = row.whole(1)};
      event.kind = EventKind::kRange;
      event.sub =
          static_cast<std::uint8_t>(IsSynchronizingCall(name) ? RangeCategory::kSync : RangeCategory::kDeviceCall);
      event.name = known->second;
      event.value = static_cast<std::uint32_t>(row.whole(4));
      const auto global_tid = static_cast<std::uint64_t>(row.whole(2));
      if (event.value != 0 && name.find("Async") != name.npos) {
        asynchronous_.insert((global_tid >> 24) << 32 | event.value);
      }
      AddHostEvent(global_tid, event);
    });
  }
}

void NsysTableReader::ReadWaits() {
  constexpr auto kColumns = std::to_array<std::string_view>({"start", "end", "globalTid", "nameId"});
  database_.Read("OSRT_API", kColumns, 4, [&](const NsysRow& row) {
    const StringId name = InternId(row.whole(3, -1));
    if (!row.has(1) || !row.has(2) || !IsWaitingCall(tables_.strings[name])) return;
    Event event{.start_ns = row.whole(0), .end_ns = row.whole(1)};
    event.kind = EventKind::kRange;
    event.sub = static_cast<std::uint8_t>(RangeCategory::kWait);
    event.name = name;
    AddHostEvent(static_cast<std::uint64_t>(row.whole(2)), event);
  });
}

// Skip threads without events.
void NsysTableReader::ReadThreadNames() {
  constexpr auto kColumns = std::to_array<std::string_view>({"nameId", "globalTid"});
  database_.Read("ThreadNames", kColumns, 2, [&](const NsysRow& row) {
    const auto global_tid = static_cast<std::uint64_t>(row.whole(1));
    const auto thread = thread_index_.find(global_tid);
    const auto process = tables_.processes.find(global_tid >> 24);
    if (thread == thread_index_.end() || process == tables_.processes.end()) return;
    process->second.threads[thread->second].name = tables_.strings[InternId(row.whole(0, -1))];
  });
}

void NsysTableReader::OrderThreads(NsysProcess& process) {
  const auto is_backward = [&](const Event& op) {
    return op.sequence != kNone && IsBackwardName(tables_.strings[op.name]);
  };
  for (Thread& thread : process.threads) {
    std::ranges::stable_sort(thread.events, [](const Event& a, const Event& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
    });
    MarkGraphOps(is_backward, thread.events);
    MarkOutermostOps(thread.events);
  }
}

}  // namespace loopscope
