#include "profiler/importers/capture/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace loopscope {
namespace {

using wire::RecordKind;

constexpr std::size_t kMostDetailWindows = 64;  // as many as the recorder keeps

std::int64_t AsTime(std::uint64_t ns) {
  return static_cast<std::int64_t>(std::min(ns, kMaxTimeNs));
}

struct Overview {
  struct Chunk {
    std::uint64_t start_ns = 0, count = 0;  // of its first operator; of its operators
  };
  std::vector<Chunk> chunks;  // by time
  std::uint64_t count = 0;
  std::vector<Interval> detail;  // windows
};

Overview LookOver(const CaptureChunks& capture) {
  Overview overview;
  std::int64_t detail_ns = -1;
  for (const ChunkView& view : capture.chunks) {
    Overview::Chunk chunk;
    ForEachRecord(view, [&](wire::RecordHead head, const char* at) {
      if (IsOperatorOrDeviceWork(head)) {
        if (chunk.count++ == 0) chunk.start_ns = StartOf(at);
      } else if (head.kind == RecordKind::kMark) {
        const std::int64_t time_ns = AsTime(RecordAt<wire::MarkRecord>(at).time_ns);
        const auto kind = static_cast<MarkKind>(head.sub);
        if (kind == MarkKind::kDetailBegin) detail_ns = time_ns;
        if (kind != MarkKind::kDetailEnd || detail_ns < 0) return;
        overview.detail.push_back({std::exchange(detail_ns, -1), time_ns});
      }
    });
    if (chunk.count > 0) overview.chunks.push_back(chunk);
    overview.count += chunk.count;
  }
  std::ranges::sort(overview.chunks, {}, &Overview::Chunk::start_ns);
  std::ranges::sort(overview.detail, {}, &Interval::start_ns);
  if (overview.detail.size() > kMostDetailWindows) overview.detail.resize(kMostDetailWindows);
  return overview;
}

// At most a quarter of what is read lies before the stretch that is left out, the rest after it.
Interval TooMany(const Overview& overview, std::int64_t first_end_ns, std::uint64_t most) {
  std::uint64_t left = most;
  std::int64_t from_ns = first_end_ns;
  for (const Overview::Chunk& chunk : overview.chunks) {
    const bool too_many = chunk.count > left - (most - most / 4);
    if (too_many) from_ns = std::min(first_end_ns, AsTime(chunk.start_ns));
    if (too_many || AsTime(chunk.start_ns) >= first_end_ns) break;
    left -= chunk.count;
  }
  std::int64_t until_ns = from_ns;
  for (std::size_t i = overview.chunks.size(); i-- > 0 && overview.chunks[i].count <= left;) {
    left -= overview.chunks[i].count;
    until_ns = AsTime(overview.chunks[i].start_ns);
  }
  return {from_ns, std::max(from_ns, until_ns)};
}

std::string SecondsText(Interval time, std::uint64_t run_start_ns) {
  const auto since = [&](std::int64_t ns) { return static_cast<double>(ns - AsTime(run_start_ns)) / 1e9; };
  return fmt::format("{:.1f} to {:.1f} s", since(time.start_ns), since(time.end_ns));
}

}  // namespace

LeftOut::LeftOut(const CaptureChunks& chunks, std::uint64_t most) {
  const wire::FileHeader& header = chunks.header;
  std::uint64_t bytes = 0;
  for (const ChunkView& chunk : chunks.chunks) bytes += chunk.records.size();
  const bool recorder_did = header.left_out_until_ns != 0, may_be_many = bytes / sizeof(wire::OpRecord) > most;
  if (!recorder_did && !may_be_many) return;
  const Overview overview = LookOver(chunks);
  const std::int64_t first_end_ns = overview.detail.empty() ? 0 : overview.detail.front().end_ns;
  if (recorder_did) by_recorder_ = {AsTime(header.left_out_from_ns), AsTime(header.left_out_until_ns)};
  if (overview.count > most) {
    by_reader_ = TooMany(overview, recorder_did ? by_recorder_.start_ns : first_end_ns, most);
  }
  const IntervalSet whole({by_recorder_, by_reader_});
  times_ = whole.Subtract(IntervalSet(overview.detail));
  if (by_reader_.length() <= 0) return;
  for (const Overview::Chunk& chunk : overview.chunks) not_read_ += Has(chunk.start_ns) ? chunk.count : 0;
}

bool LeftOut::Has(std::uint64_t start_ns) const {
  const auto at = AsTime(start_ns);
  return std::ranges::any_of(times_.intervals(),
                             [&](const Interval& time) { return at >= time.start_ns && at < time.end_ns; });
}

void LeftOut::Mark(Trace& trace) const {
  if (times_.intervals().empty()) return;
  const auto step = std::ranges::find(trace.marks, MarkKind::kStepEnd, &loopscope::Mark::kind);
  if (step == trace.marks.end()) return;
  const std::uint32_t thread = step->thread, pid = trace.threads[thread].pid;
  const auto is_switch = [&](const loopscope::Mark& mark) {
    return (mark.kind == MarkKind::kOpsEnd || mark.kind == MarkKind::kOpsBegin) && mark.thread < trace.threads.size() &&
           trace.threads[mark.thread].pid == pid;
  };
  std::ranges::stable_sort(trace.marks, {}, &loopscope::Mark::time_ns);
  std::vector<Interval> off(times_.intervals().begin(), times_.intervals().end());
  std::int64_t off_ns = -1;
  for (const loopscope::Mark& mark : trace.marks) {
    if (!is_switch(mark)) continue;
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
                    static_cast<double>(kMostOperatorsRead) / 1e6));
  }
  return lines;
}

}  // namespace loopscope
