#include "profiler/importers/capture/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "profiler/core/steps/step_ledger.h"
#include "profiler/core/text.h"

namespace loopscope {

// How many records of a kind a chunk of the capture holds.
struct CountedChunk {
  std::uint64_t start_ns = 0, count = 0;  // time of its first record of a kind; count of those records
  void Add(std::uint64_t record_ns) {
    if (count++ == 0) start_ns = record_ns;
  }
};

namespace {

using wire::RecordKind;

constexpr std::size_t kMostDetailWindows = 64;  // as many as the recorder keeps

std::int64_t AsTime(std::uint64_t ns) {
  return static_cast<std::int64_t>(std::min(ns, kMaxTimeNs));
}

// When the step ended that the record is of; -1 where it is of none.
std::int64_t StepEndOf(wire::RecordHead head, const char* at) {
  if (head.kind == RecordKind::kStep && head.words * 8 >= sizeof(wire::StepRecord)) {
    return AsTime(RecordAt<wire::StepRecord>(at).end_ns);
  }
  const bool mark = head.kind == RecordKind::kMark && static_cast<MarkKind>(head.sub) == MarkKind::kStepEnd;
  return mark ? AsTime(RecordAt<wire::MarkRecord>(at).time_ns) : -1;
}

// At most a quarter of what is read lies before the stretch that is left out, the rest after it.
Interval TooMany(const std::vector<CountedChunk>& chunks, std::int64_t first_end_ns, std::uint64_t most) {
  std::uint64_t left = most;
  std::int64_t from_ns = first_end_ns;
  for (const CountedChunk& chunk : chunks) {
    const bool too_many = chunk.count > left - (most - most / 4);
    if (too_many) from_ns = std::min(first_end_ns, AsTime(chunk.start_ns));
    if (too_many || AsTime(chunk.start_ns) >= first_end_ns) break;
    left -= chunk.count;
  }
  std::int64_t until_ns = from_ns;
  for (std::size_t i = chunks.size(); i-- > 0 && chunks[i].count <= left;) {
    left -= chunks[i].count;
    until_ns = AsTime(chunks[i].start_ns);
  }
  return {from_ns, std::max(from_ns, until_ns)};
}

std::uint64_t CountOf(const std::vector<CountedChunk>& chunks) {
  std::uint64_t count = 0;
  for (const CountedChunk& chunk : chunks) count += chunk.count;
  return count;
}

std::string SecondsText(Interval time, std::uint64_t run_start_ns) {
  const auto since = [&](std::int64_t ns) { return static_cast<double>(ns - AsTime(run_start_ns)) / 1e9; };
  return fmt::format("{:.1f} to {:.1f} s", since(time.start_ns), since(time.end_ns));
}

}  // namespace

struct LeftOut::Overview {
  std::vector<CountedChunk> operators, others;  // by time
  std::vector<Interval> detail;                 // windows
};

LeftOut::Overview LeftOut::LookOver(const CaptureChunks& capture) {
  Overview overview;
  std::int64_t detail_ns = -1;
  for (const ChunkView& view : capture.chunks) {
    CountedChunk operators, others;
    ForEachRecord(view, [&](wire::RecordHead head, const char* at) {
      if (IsOperatorOrDeviceWork(head)) operators.Add(StartOf(at));
      if (head.kind == RecordKind::kRange) others.Add(StartOf(at));
      if (head.kind == RecordKind::kStep)
        others.Add(static_cast<std::uint64_t>(std::max<std::int64_t>(StepEndOf(head, at), 0)));
      if (head.kind != RecordKind::kMark) return;
      const auto mark = RecordAt<wire::MarkRecord>(at);
      const auto kind = static_cast<MarkKind>(head.sub);
      if (wire::IsOfMoment(kind)) others.Add(mark.time_ns);
      if (kind == MarkKind::kDetailBegin) detail_ns = AsTime(mark.time_ns);
      if (kind != MarkKind::kDetailEnd || detail_ns < 0) return;
      overview.detail.push_back({std::exchange(detail_ns, -1), AsTime(mark.time_ns)});
    });
    if (operators.count > 0) overview.operators.push_back(operators);
    if (others.count > 0) overview.others.push_back(others);
  }
  std::ranges::sort(overview.operators, {}, &CountedChunk::start_ns);
  std::ranges::sort(overview.others, {}, &CountedChunk::start_ns);
  std::ranges::sort(overview.detail, {}, &Interval::start_ns);
  if (overview.detail.size() > kMostDetailWindows) overview.detail.resize(kMostDetailWindows);
  return overview;
}

LeftOut::LeftOut(const CaptureChunks& capture, MostRead most) {
  const wire::FileHeader& header = capture.header;
  std::uint64_t bytes = 0;
  for (const ChunkView& chunk : capture.chunks) bytes += chunk.records.size();
  const bool may_be_many =
      bytes / sizeof(wire::OpRecord) > most.operators || bytes / sizeof(wire::MarkRecord) > most.others;
  if (header.left_out_until_ns == 0 && header.skipped_until_ns == 0 && !may_be_many) return;
  Overview overview = LookOver(capture);
  Skip(capture, overview, most.others);
  LeaveOutOperators(capture, std::move(overview), most.operators);
}

// From the end of one step to that of another, so that the steps around it are whole.
void LeftOut::Skip(const CaptureChunks& capture, const Overview& overview, std::uint64_t most) {
  const wire::FileHeader& header = capture.header;
  Interval time{AsTime(header.skipped_from_ns), AsTime(header.skipped_until_ns)};
  if (CountOf(overview.others) > most) {
    const Interval found = TooMany(overview.others, time.length() > 0 ? time.start_ns : INT64_MAX, most);
    reader_skips_ = found.end_ns > time.end_ns;
    time = time.length() > 0 ? Interval{std::min(time.start_ns, found.start_ns), std::max(time.end_ns, found.end_ns)}
                             : found;
  }
  if (time.length() <= 0) return;
  Interval whole{INT64_MIN, INT64_MAX};
  skipped_.steps = header.skipped_steps;
  for (const ChunkView& view : capture.chunks) {
    ForEachRecord(view, [&](wire::RecordHead head, const char* at) {
      const std::int64_t end_ns = StepEndOf(head, at);
      if (end_ns < 0) return;
      if (end_ns <= time.start_ns) {
        whole.start_ns = std::max(whole.start_ns, end_ns);
      } else if (end_ns >= time.end_ns) {
        whole.end_ns = std::min(whole.end_ns, end_ns);
      } else {
        ++skipped_.steps;
      }
    });
  }
  if (whole.end_ns != INT64_MAX) ++skipped_.steps;  // that ends there
  skipped_.time = {whole.start_ns == INT64_MIN ? time.start_ns : whole.start_ns,
                   whole.end_ns == INT64_MAX ? time.end_ns : whole.end_ns};
}

void LeftOut::LeaveOutOperators(const CaptureChunks& capture, Overview overview, std::uint64_t most) {
  const wire::FileHeader& header = capture.header;
  std::vector<CountedChunk>& chunks = overview.operators;
  std::erase_if(chunks, [&](const CountedChunk& chunk) { return Skips(chunk.start_ns); });
  const std::int64_t first_end_ns = overview.detail.empty() ? 0 : overview.detail.front().end_ns;
  const bool recorder_did = header.left_out_until_ns != 0;
  if (recorder_did) by_recorder_ = {AsTime(header.left_out_from_ns), AsTime(header.left_out_until_ns)};
  if (CountOf(chunks) > most) {
    by_reader_ = TooMany(chunks, recorder_did ? by_recorder_.start_ns : first_end_ns, most);
  }
  const IntervalSet whole({by_recorder_, by_reader_});
  times_ = whole.Subtract(IntervalSet(overview.detail));
  if (by_reader_.length() <= 0) return;
  for (const CountedChunk& chunk : chunks) not_read_ += Has(chunk.start_ns) ? chunk.count : 0;
}

bool LeftOut::Has(std::uint64_t start_ns) const {
  const auto at = AsTime(start_ns);
  return Skips(start_ns) || std::ranges::any_of(times_.intervals(), [&](const Interval& time) {
           return at >= time.start_ns && at < time.end_ns;
         });
}

bool LeftOut::Skips(std::uint64_t time_ns) const {
  const auto at = AsTime(time_ns);
  return at > skipped_.time.start_ns && at < skipped_.time.end_ns;
}

void LeftOut::Mark(Trace& trace) const {
  if (times_.intervals().empty() && skipped_.time.length() <= 0) return;
  const std::uint32_t thread = StepLedger(trace).thread();
  if (thread >= trace.threads.size()) return;
  const std::uint32_t pid = trace.threads[thread].pid;
  const auto is_switch = [&](const loopscope::Mark& mark) {
    return (mark.kind == MarkKind::kOpsEnd || mark.kind == MarkKind::kOpsBegin) && mark.thread < trace.threads.size() &&
           trace.threads[mark.thread].pid == pid;
  };
  std::ranges::stable_sort(trace.marks, {}, &loopscope::Mark::time_ns);
  std::vector<Interval> off(times_.intervals().begin(), times_.intervals().end());
  std::int64_t off_ns = -1;
  bool before_skipped = skipped_.time.length() > 0;
  for (const loopscope::Mark& mark : trace.marks) {
    if (!is_switch(mark)) continue;
    if (before_skipped && mark.time_ns >= skipped_.time.end_ns) {  // this switch shows the state before it
      before_skipped = false;
      if (off_ns >= 0) off.push_back({off_ns, skipped_.time.start_ns});
      off_ns = mark.kind == MarkKind::kOpsBegin ? skipped_.time.end_ns : -1;
    }
    if (mark.kind == MarkKind::kOpsEnd && off_ns < 0) off_ns = mark.time_ns;
    if (mark.kind == MarkKind::kOpsBegin && off_ns >= 0) off.push_back({std::exchange(off_ns, -1), mark.time_ns});
  }
  if (off_ns >= 0) off.push_back({off_ns, INT64_MAX});
  std::erase_if(trace.marks, is_switch);
  const IntervalSet merged(std::move(off));
  for (const Interval& time : merged.intervals()) {
    trace.marks.push_back({time.start_ns, MarkKind::kOpsEnd, 0, 0, thread});
    if (time.end_ns != INT64_MAX) trace.marks.push_back({time.end_ns, MarkKind::kOpsBegin, 0, 0, thread});
  }
}

std::vector<std::string> LeftOut::Warnings(std::uint64_t run_start_ns) const {
  std::vector<std::string> lines;
  if (skipped_.time.length() > 0) {
    const std::string what = fmt::format("{} of {} after the start", Counted(skipped_.steps, "step"),
                                         SecondsText(skipped_.time, run_start_ns));
    lines.push_back(reader_skips_
                        ? fmt::format("{} are not looked at: a report reads {:.1f} million ranges and marks of a run, "
                                      "those of its start and the newest",
                                      what, static_cast<double>(MostRead().others) / 1e6)
                        : fmt::format("{} were not kept: the recording reached its size limit (--max-capture); those "
                                      "of its start and the newest are there",
                                      what));
  }
  if (by_recorder_.length() > 0) {
    lines.push_back(
        fmt::format("operators of {} after the start were not kept: the recording reached its size limit "
                    "(--max-capture); the newest and those of the detailed steps are there",
                    SecondsText(by_recorder_, run_start_ns)));
  }
  if (by_reader_.length() > 0) {
    lines.push_back(
        fmt::format("{:.1f} million operators of {} after the start are not looked at: a report reads {:.1f} "
                    "million of a run, the newest and those of the detailed steps",
                    static_cast<double>(not_read_) / 1e6, SecondsText(by_reader_, run_start_ns),
                    static_cast<double>(MostRead().operators) / 1e6));
  }
  return lines;
}

}  // namespace loopscope
