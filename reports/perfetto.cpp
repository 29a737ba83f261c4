// The timeline for ui.perfetto.dev: what Loopscope derived (steps, their parts, findings, why devices were idle) above
// what was recorded (threads, streams of devices, the launches between them).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "profiler/core/format.h"
#include "reports/json/trace_json.h"
#include "reports/words/event_category.h"

namespace loopscope {
namespace {

// More events make the page slow: later ones are left out, and the trace says so.
constexpr std::size_t kMostEvents = 3'000'000;

// Above every process id of Linux (2^22), so that they never collide with one.
constexpr std::uint64_t kOurProcess = 5'000'000, kFirstDevice = 5'000'001;
constexpr TrackId kStepTrack{kOurProcess, 1}, kPartTrack{kOurProcess, 2}, kFindingTrack{kOurProcess, 3};
constexpr std::uint64_t kIdleThread = 4'000'000'000;
// Ranges of one thread that overlap without being inside each other go to tracks of their own.
constexpr std::uint64_t kOverlapThread = 1'000'000'000;
constexpr std::size_t kMostLanes = 4;
constexpr std::uint64_t kLineThread = 3'900'000'000;  // the followed lines of a thread

std::size_t CountBefore(const Trace& trace, std::int64_t time_ns) {
  std::size_t count = 0;
  const auto before = [&](const auto& event) { return event.start_ns < time_ns; };
  for (const Thread& thread : trace.threads) {
    count += static_cast<std::size_t>(std::ranges::partition_point(thread.events, before) - thread.events.begin());
  }
  for (const Device& device : trace.devices) {
    count += static_cast<std::size_t>(std::ranges::partition_point(device.events, before) - device.events.begin());
  }
  return count;
}

// From the first event to the end of the last one that is written, at most kMostEvents of them.
Interval WindowOf(const Trace& trace) {
  Interval window{INT64_MAX, INT64_MIN};
  for (const Thread& thread : trace.threads) {
    if (thread.events.empty()) continue;
    window.start_ns = std::min(window.start_ns, thread.events.front().start_ns);
    window.end_ns = std::max(window.end_ns, thread.events.back().start_ns + 1);
  }
  for (const Device& device : trace.devices) {
    if (device.events.empty()) continue;
    window.start_ns = std::min(window.start_ns, device.events.front().start_ns);
    window.end_ns = std::max(window.end_ns, device.events.back().start_ns + 1);
  }
  if (window.start_ns >= window.end_ns) return {};
  std::int64_t low = window.start_ns;
  while (CountBefore(trace, window.end_ns) > kMostEvents && window.end_ns - low > 1) {
    const std::int64_t middle = low + (window.end_ns - low) / 2;
    (CountBefore(trace, middle) > kMostEvents ? window.end_ns : low) = middle;
  }
  return window;
}

std::string NumberText(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

class PerfettoWriter {
 public:
  PerfettoWriter(const Report& report, std::string& out)
      : report_(report),
        timeline_(report.timeline.get()),
        window_(timeline_ ? WindowOf(timeline_->trace()) : Interval{}),
        json_(out, window_.start_ns) {
    if (timeline_) names_.resize(timeline_->trace().strings.size());
  }

  void Write() {
    json_.Begin(Note());
    json_.NameProcess(kOurProcess, "Loopscope", 0);
    WriteFindings();
    if (timeline_ != nullptr) {
      WriteSteps();
      WriteParts();
      WriteLines();
      for (std::size_t i = 0; i < timeline_->trace().devices.size(); ++i) WriteStreams(i);
      for (const DeviceTimeline& device : timeline_->devices()) WriteDevice(device);
      for (const Thread& thread : timeline_->trace().threads) WriteThread(thread);
    }
    json_.End();
  }

 private:
  std::string Note() const {
    if (timeline_ == nullptr)
      return "a report that was read from JSON holds no events: make it from the run or trace itself";
    const std::size_t left_out =
        CountBefore(timeline_->trace(), INT64_MAX) - CountBefore(timeline_->trace(), window_.end_ns);
    return left_out == 0 ? "all events"
                         : fmt::format("the last {} events are left out: a page cannot show more", left_out);
  }

  const std::string& Name(StringId id) {
    static const std::string kUnnamed = "\"?\"";
    if (id >= names_.size()) return kUnnamed;
    if (names_[id].empty()) names_[id] = Quoted(timeline_->trace().strings[id]);
    return names_[id];
  }

  // One after the other at the starts of steps, so that each can be seen.
  void WriteFindings() {
    json_.NameThread(kFindingTrack, "findings", 0);
    std::size_t place = 0;
    for (const Finding& finding : report_.findings) {
      std::int64_t at = window_.start_ns + static_cast<std::int64_t>(place) * 1000;
      if (timeline_ != nullptr && !timeline_->steady().empty()) {
        const auto steady = timeline_->steady();
        at = timeline_->steps()[steady[place % steady.size()]].time.start_ns;
      }
      ++place;
      std::string arguments =
          fmt::format("\"rule\":{},\"severity\":\"{}\",\"cost_ms_per_step\":{},\"advice\":{}", Quoted(finding.rule),
                      SeverityName(finding.severity), NumberText(finding.cost_ms_per_step), Quoted(finding.advice));
      for (std::size_t i = 0; i < finding.evidence.size() && i < 8; ++i) {
        const Evidence& one = finding.evidence[i];
        arguments += fmt::format(",\"evidence {}\":{}", i + 1, Quoted(one.text));
        if (one.where) {
          arguments +=
              fmt::format(",\"place {}\":{}", i + 1,
                          Quoted(fmt::format("{}:{} {}", one.where->path, one.where->line, one.where->function)));
        }
      }
      json_.Instant(kFindingTrack, Quoted(finding.title), at, arguments);
    }
  }

  void WriteSteps() {
    json_.NameThread(kStepTrack, "steps", 1);
    const auto steps = timeline_->steps();
    for (std::size_t i = 0; i < steps.size() && steps[i].time.start_ns < window_.end_ns; ++i) {
      const Step& step = steps[i];
      std::string name = fmt::format("\"step {}", i);
      if (!step.plain()) name += fmt::format(", {}", KindName(step.kind()));
      name += step.plain() && !step.operators ? ", operators not recorded\"" : "\"";
      std::string arguments = fmt::format("\"samples\":{}", step.samples);
      for (int part = 0; part < kParts; ++part) {
        arguments += fmt::format(",\"{}_ms\":{}", PartName(static_cast<Part>(part)),
                                 NumberText(static_cast<double>(step.parts_ns[static_cast<std::size_t>(part)]) / 1e6));
      }
      json_.Slice(kStepTrack, name, "step", step.time.start_ns, step.time.end_ns, arguments);
    }
  }

  void WriteParts() {
    json_.NameThread(kPartTrack, "parts of a step", 2);
    for (int part = 0; part < kParts; ++part) {
      const std::string name = Quoted(PartName(static_cast<Part>(part)));
      for (const Interval& one : timeline_->part(static_cast<Part>(part)).intervals()) {
        if (one.start_ns < window_.end_ns) json_.Slice(kPartTrack, name, "part", one.start_ns, one.end_ns);
      }
    }
  }

  // Lines from followed calls, on a track beside each thread's own.
  void WriteLines() {
    for (const Thread& thread : timeline_->trace().threads) {
      if (thread.lines.empty()) continue;
      const TrackId track{thread.pid, thread.tid + kLineThread};
      json_.NameThread(track,
                       fmt::format("lines of {}", thread.name.empty() ? std::to_string(thread.tid) : thread.name), 1);
      for (const LineSlice& slice : thread.lines) {
        if (slice.start_ns >= window_.end_ns) break;
        const std::string called = slice.called == 0 ? "" : fmt::format("\"calls\":{}", Name(slice.called));
        json_.Slice(track, Quoted(LineText(slice)), "line", slice.start_ns, slice.end_ns, called);
      }
    }
  }

  // "train.py:36 in step".
  std::string LineText(const LineSlice& slice) const {
    const std::vector<Stack>& stacks = timeline_->trace().stacks;
    if (slice.stack >= stacks.size()) return "?";
    const Stack& stack = stacks[slice.stack];
    const std::vector<Where>& frames = stack.frames.empty() ? stack.library : stack.frames;
    if (frames.empty()) return "?";
    const std::string path = RelativePath(frames.front().path, timeline_->trace().run.working_directory);
    return fmt::format("{}:{} in {}", path, frames.front().line, frames.front().function);
  }

  std::uint64_t ProcessOf(std::size_t device) const { return kFirstDevice + device; }

  void WriteStreams(std::size_t index) {
    const Device& device = timeline_->trace().devices[index];
    json_.NameProcess(ProcessOf(index), fmt::format("GPU {} {}", device.ordinal, device.name), 1);
    std::vector<std::uint32_t> streams;
    for (const DeviceEvent& event : device.events) {
      if (event.start_ns >= window_.end_ns) break;
      const TrackId track{ProcessOf(index), event.stream};
      if (std::ranges::find(streams, event.stream) == streams.end()) {
        streams.push_back(event.stream);
        json_.NameThread(track, fmt::format("stream {}", event.stream), static_cast<int>(streams.size()));
      }
      const std::string arguments = event.bytes ? fmt::format("\"bytes\":{}", event.bytes) : "";
      json_.Slice(track, Name(event.name), "device", event.start_ns, event.end_ns, arguments);
    }
  }

  // Why the device was idle, and which call launched what.
  void WriteDevice(const DeviceTimeline& device) {
    const TrackId idle{ProcessOf(device.index()), kIdleThread};
    json_.NameThread(idle, "idle, by cause", 0);
    for (int cause = 0; cause < kIdleCauses; ++cause) {
      const std::string name = Quoted(IdleCauseName(static_cast<IdleCause>(cause)));
      for (const Interval& one : device.idle(static_cast<IdleCause>(cause)).intervals()) {
        if (one.start_ns < window_.end_ns) json_.Slice(idle, name, "idle", one.start_ns, one.end_ns);
      }
    }
    const Trace& trace = timeline_->trace();
    const std::vector<DeviceEvent>& events = trace.devices[device.index()].events;
    for (std::uint32_t i = 0; i < events.size() && events[i].start_ns < window_.end_ns; ++i) {
      const EventRef launch = device.launch(i);
      if (launch.index == kNone) continue;
      const Thread& thread = trace.threads[launch.thread];
      json_.Flow({thread.pid, thread.tid}, thread.events[launch.index].start_ns,
                 {ProcessOf(device.index()), events[i].stream}, events[i].start_ns);
    }
  }

  void WriteThread(const Thread& thread) {
    json_.NameThread({thread.pid, thread.tid}, thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name,
                     0);
    std::array<std::vector<std::int64_t>, kMostLanes> open;  // ends of the ranges open on each track, innermost last
    for (const Event& event : thread.events) {
      if (event.start_ns >= window_.end_ns) break;
      std::size_t lane = 0;
      for (; lane + 1 < kMostLanes; ++lane) {
        std::vector<std::int64_t>& ends = open[lane];
        while (!ends.empty() && ends.back() <= event.start_ns) ends.pop_back();
        if (ends.empty() || ends.back() >= event.end_ns) break;
      }
      open[lane].push_back(event.end_ns);
      const TrackId track{thread.pid, thread.tid + lane * kOverlapThread};
      json_.Slice(track, Name(event.name), EventCategory(event), event.start_ns, event.end_ns);
    }
  }

  const Report& report_;
  const Timeline* timeline_;
  Interval window_;
  TraceJson json_;
  std::vector<std::string> names_;  // quoted, by string id; made on first use
};

Result<void> WritePerfetto(const Report& report, Output& output) {
  PerfettoWriter(report, output.bytes).Write();
  return {};
}

}  // namespace

extern const Format kPerfetto = {"perfetto", "the timeline, for ui.perfetto.dev", WritePerfetto};

}  // namespace loopscope
