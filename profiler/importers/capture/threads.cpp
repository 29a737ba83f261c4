#include "profiler/importers/capture/threads.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "profiler/importers/capture/left_out.h"

namespace loopscope {
namespace {

using wire::RecordKind;

bool IsStep(wire::RecordHead head) {
  return head.kind == RecordKind::kStep && head.words * 8 >= sizeof(wire::StepRecord);
}

// When the record was written; 0 for records without a time.
std::uint64_t WrittenAt(wire::RecordHead head, const char* at) {
  if (head.kind == RecordKind::kMark) return RecordAt<wire::MarkRecord>(at).time_ns;
  if (IsStep(head)) return RecordAt<wire::StepRecord>(at).end_ns;
  if (head.kind == RecordKind::kRange) {
    const auto range = RecordAt<wire::RangeRecord>(at);
    return range.start_ns + range.duration_ns;
  }
  if (head.kind != RecordKind::kOp) return 0;
  const auto op = RecordAt<wire::OpRecord>(at);
  return op.start_ns + op.duration * (op.flags & wire::kOpLongDuration ? 1024ull : 1ull);
}

std::uint64_t FirstTime(const ChunkView& chunk) {
  const char* at = chunk.records.data();
  const char* end = at + chunk.records.size();
  while (at < end) {
    const auto head = RecordAt<wire::RecordHead>(at);
    if (const std::uint64_t time = WrittenAt(head, at)) return time;
    at += std::size_t{head.words} * 8;
  }
  return 0;
}

void SortByFirstTime(std::vector<ChunkView>& chunks) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order(chunks.size());
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::uint64_t first = FirstTime(chunks[i]);
    last = first ? first : last;
    order[i] = {last, i};
    if (chunks[i].give_back) GiveBackPages(chunks[i].records);
  }
  std::ranges::sort(order);
  std::vector<ChunkView> sorted;
  for (const auto& [time, index] : order) sorted.push_back(chunks[index]);
  chunks = std::move(sorted);
}

bool IsRange(wire::RecordHead head) {
  return head.kind == RecordKind::kRange && head.words * 8 >= sizeof(wire::RangeRecord);
}

bool IsLine(wire::RecordHead head) {
  return IsRange(head) && head.sub == static_cast<std::uint8_t>(RangeCategory::kLine);
}

bool IsOp(wire::RecordHead head) {
  return head.kind == RecordKind::kOp && head.words * 8 >= sizeof(wire::OpRecord);
}

// Records are written when events end: children before their parent. An event's place in start order, parents first,
// follows from the sizes of the subtrees: going backwards, each takes the last free places of its parent.
std::vector<std::uint32_t> StartOrder(const std::vector<std::uint64_t>& starts) {
  std::vector<std::uint32_t> places(starts.size());  // at first the sizes
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < starts.size(); ++i) {
    places[i] = 1;
    while (!open.empty() && starts[open.back()] >= starts[i]) {
      places[i] += places[open.back()];
      open.pop_back();
    }
    open.push_back(i);
  }
  open.clear();  // now the places of the parents above the current event
  auto free_end = static_cast<std::uint32_t>(starts.size());
  for (std::size_t i = starts.size(); i-- > 0;) {
    const std::uint32_t size = places[i];
    places[i] = free_end - size;
    if (size > 1) {
      open.push_back(places[i]);
      continue;
    }
    free_end = places[i];
    while (!open.empty() && open.back() + 1 == free_end) {
      free_end = open.back();
      open.pop_back();
    }
  }
  return places;
}

bool StartsFirst(const Event& a, const Event& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

class ThreadReader {
 public:
  ThreadReader(const ThreadChunks& chunks, const IdMap& ids, const LeftOut& left_out)
      : chunks_(chunks), ids_(ids), left_out_(left_out) {}

  ThreadEvents Read() {
    read_.thread.pid = chunks_.pid;
    read_.thread.tid = chunks_.tid;
    places_ = StartOrder(Starts());
    std::vector<Event>& events = read_.thread.events;
    events.resize(places_.size());
    for (const ChunkView& chunk : chunks_.chunks) {
      ForEachRecord(chunk, [&](wire::RecordHead head, const char* at) { Add(head, at); });
    }
    std::erase_if(events, [](const Event& event) { return event.start_ns < 0; });
    const auto by_start = [](const Event& a, const Event& b) { return a.start_ns < b.start_ns; };
    if (!std::ranges::is_sorted(events, by_start)) {
      std::ranges::stable_sort(events, StartsFirst);
    }
    return std::move(read_);
  }

 private:
  bool StartsEvent(wire::RecordHead head, const char* at) const {
    return IsOp(head) ? !left_out_.Has(StartOf(at)) : IsRange(head) && !IsLine(head) && !left_out_.Skips(StartOf(at));
  }

  std::vector<std::uint64_t> Starts() const {
    std::vector<std::uint64_t> starts;
    std::size_t bytes = 0;
    for (const ChunkView& chunk : chunks_.chunks) bytes += chunk.records.size();
    starts.reserve(std::min<std::size_t>(bytes / sizeof(wire::OpRecord), MostRead().operators));
    for (const ChunkView& chunk : chunks_.chunks) {
      ForEachRecord(chunk, [&](wire::RecordHead head, const char* at) {
        if (StartsEvent(head, at)) starts.push_back(StartOf(at));
      });
    }
    return starts;
  }

  void Add(wire::RecordHead head, const char* at) {
    if (head.kind == RecordKind::kMark) return AddMark(head, at);
    if (IsStep(head)) return AddStep(head, at);
    if (head.kind == RecordKind::kOpDetail) return AddDetail(head, at);
    if (IsLine(head)) {
      if (!left_out_.Skips(StartOf(at))) AddLine(RecordAt<wire::RangeRecord>(at));
      return;
    }
    if (IsOp(head)) last_op_ = nullptr;
    if (!StartsEvent(head, at)) return;
    Event& event = read_.thread.events[places_[next_++]];
    event.sub = head.sub;
    if (head.kind == RecordKind::kOp) {
      FillOp(RecordAt<wire::OpRecord>(at), event);
      last_op_ = &event;
    } else {
      FillRange(RecordAt<wire::RangeRecord>(at), event);
    }
  }

  void SetTimes(Event& event, std::uint64_t start_ns, std::uint64_t duration_ns) {
    const bool fits = start_ns <= kMaxTimeNs;
    if (!fits || duration_ns > kMaxTimeNs - start_ns) {
      duration_ns = 0;
      ++read_.repaired;
    }
    event.start_ns = fits ? static_cast<std::int64_t>(start_ns) : -1;  // -1: left out
    event.end_ns = event.start_ns + static_cast<std::int64_t>(duration_ns);
  }

  void FillOp(const wire::OpRecord& op, Event& event) {
    SetTimes(event, op.start_ns, op.duration * (op.flags & wire::kOpLongDuration ? 1024ull : 1ull));
    event.kind = EventKind::kOp;
    event.name = ids_.String(op.name);
    event.sequence = op.sequence == wire::kNoSequence ? kNone : op.sequence;
    event.shape_hash = op.shape_hash;
    event.forward_thread = op.forward_thread;
    event.flags = op.flags;
  }

  void FillRange(const wire::RangeRecord& range, Event& event) {
    SetTimes(event, range.start_ns, range.duration_ns);
    event.kind = EventKind::kRange;
    event.name = ids_.String(range.name);
    event.value = static_cast<std::uint32_t>(std::min<std::uint64_t>(range.value, kNone));
    event.detail = ids_.Stack(range.stack);
  }

  // Lines that overlap those before them are left out.
  void AddLine(const wire::RangeRecord& range) {
    Event time;
    SetTimes(time, range.start_ns, range.duration_ns);
    std::vector<LineSlice>& lines = read_.thread.lines;
    if (time.start_ns < 0 || (!lines.empty() && time.start_ns < lines.back().end_ns)) return;
    lines.push_back({time.start_ns, time.end_ns, ids_.Stack(range.stack), ids_.String(range.name),
                     static_cast<std::uint32_t>(range.value & wire::kMaxLineCalls),
                     static_cast<float>(range.value >> wire::kLineOwnShift & wire::kLineOwnWhole) /
                         static_cast<float>(wire::kLineOwnWhole)});
  }

  void AddMark(wire::RecordHead head, const char* at) {
    const auto record = RecordAt<wire::MarkRecord>(at);
    if (record.time_ns > kMaxTimeNs) {
      ++read_.repaired;
      return;
    }
    if (wire::IsOfMoment(static_cast<MarkKind>(head.sub)) && left_out_.Skips(record.time_ns)) return;
    Mark mark;
    mark.time_ns = static_cast<std::int64_t>(record.time_ns);
    mark.kind = static_cast<MarkKind>(head.sub);
    mark.name = ids_.String(record.name);
    mark.value = record.value;
    read_.marks.push_back(mark);
  }

  void AddStep(wire::RecordHead head, const char* at) {
    const auto record = RecordAt<wire::StepRecord>(at);
    if (record.end_ns > kMaxTimeNs) {
      ++read_.repaired;
      return;
    }
    if (left_out_.Skips(record.end_ns)) return;
    StepRecord step;
    step.end_ns = static_cast<std::int64_t>(record.end_ns);
    step.samples = record.samples;
    step.clock = ids_.String(record.clock);
    step.bits = head.sub;
    for (std::size_t i = 0; i < step.sums_ns.size(); ++i) {
      const float sum_ns = record.sums_ns[i];
      step.sums_ns[i] = sum_ns >= 0 && sum_ns <= static_cast<float>(kMaxTimeNs) ? sum_ns : 0;
    }
    read_.steps.push_back(step);
  }

  void AddDetail(wire::RecordHead head, const char* at) {
    if (last_op_ == nullptr || last_op_->detail != kNone) return;
    const auto record = RecordAt<wire::OpDetailRecord>(at);
    last_op_->detail = static_cast<std::uint32_t>(read_.details.size());
    EventDetail detail{ids_.String(record.inputs), ids_.Stack(record.stack),
                       record.producer == wire::kNoSequence ? kNone : record.producer};
    detail.further = static_cast<std::uint32_t>(read_.further_producers.size());
    const std::size_t bytes = std::size_t{head.words} * 8;
    for (std::size_t offset = sizeof record; offset < bytes; offset += sizeof(std::uint32_t)) {
      std::uint32_t sequence;
      std::memcpy(&sequence, at + offset, sizeof sequence);
      if (sequence != wire::kNoSequence) read_.further_producers.push_back(sequence);
    }
    detail.further_count = static_cast<std::uint32_t>(read_.further_producers.size()) - detail.further;
    read_.details.push_back(detail);
  }

  const ThreadChunks& chunks_;
  const IdMap& ids_;
  const LeftOut& left_out_;
  ThreadEvents read_;
  std::vector<std::uint32_t> places_;
  std::size_t next_ = 0;
  Event* last_op_ = nullptr;
};

}  // namespace

std::vector<ThreadChunks> GroupByThread(const std::vector<ChunkView>& chunks) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index;
  std::vector<ThreadChunks> threads;
  for (const ChunkView& chunk : chunks) {
    const auto [place, added] = index.try_emplace({chunk.pid, chunk.tid}, threads.size());
    if (added) threads.push_back({chunk.pid, chunk.tid, {}});
    threads[place->second].chunks.push_back(chunk);
  }
  for (ThreadChunks& thread : threads) SortByFirstTime(thread.chunks);
  return threads;
}

ThreadEvents ReadThread(const ThreadChunks& chunks, const IdMap& ids, const LeftOut& left_out) {
  return ThreadReader(chunks, ids, left_out).Read();
}

}  // namespace loopscope
