#include "reports/parquet/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "profiler/core/printable.h"
#include "reports/words/event_category.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostColumns = 4000;  // of one text, as Printable() counts them

// Builds a column of texts; an empty text means no value.
class Texts {
 public:
  void Add(std::string_view text) {
    if (text.empty()) return column_.rows.push_back(-1);
    const auto [place, added] = known_.try_emplace(std::string(text), static_cast<std::int32_t>(column_.texts.size()));
    if (added) column_.texts.push_back(Printable(text, kMostColumns));
    column_.rows.push_back(place->second);
  }
  TextColumn Take() { return std::move(column_); }

 private:
  TextColumn column_;
  std::unordered_map<std::string, std::int32_t> known_;
};

// Builds a column of texts out of the trace's own strings, each looked at once.
class Names {
 public:
  explicit Names(const Trace& trace) : trace_(trace), known_(trace.strings.size(), -1) {}

  void Add(StringId id) {
    if (id == 0 || id >= known_.size()) return column_.rows.push_back(-1);
    if (known_[id] < 0) {
      known_[id] = static_cast<std::int32_t>(column_.texts.size());
      column_.texts.push_back(Printable(trace_.strings[id], kMostColumns));
    }
    column_.rows.push_back(known_[id]);
  }
  TextColumn Take() { return std::move(column_); }

 private:
  const Trace& trace_;
  std::vector<std::int32_t> known_;
  TextColumn column_;
};

double Finite(double value) {
  return std::isfinite(value) ? value : kNoReal;
}

double Milliseconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// The columns that every table begins with.
Table Begun(std::string name, const Report& report, std::size_t rows) {
  TextColumn started;
  if (!report.run.started.empty()) started.texts.push_back(Printable(report.run.started));
  started.rows.assign(rows, started.texts.empty() ? -1 : 0);
  return {std::move(name),
          {{"started", std::move(started)}, {"rank", std::vector<std::int64_t>(rows, report.run.rank)}}};
}

Table StepsOf(const Report& report, const Timeline& timeline) {
  const auto steps = timeline.steps();
  Table table = Begun("steps", report, steps.size());
  std::vector<std::int64_t> number, start, samples;
  std::vector<double> duration;
  std::array<std::vector<double>, kParts> parts;
  YesNoColumn warmup, boundary, steady(steps.size(), 0);
  for (const std::uint32_t index : timeline.steady()) steady[index] = 1;
  for (const Step& step : steps) {
    number.push_back(static_cast<std::int64_t>(number.size()));
    start.push_back(step.time.start_ns);
    samples.push_back(step.samples ? static_cast<std::int64_t>(step.samples) : kNoWhole);
    duration.push_back(Milliseconds(step.time.length()));
    for (std::size_t part = 0; part < kParts; ++part) {
      const bool known = static_cast<Part>(part) != Part::kLoaderWait || timeline.loader_known();
      parts[part].push_back(known ? Milliseconds(step.parts_ns[part]) : kNoReal);
    }
    warmup.push_back(step.warmup);
    boundary.push_back(step.boundary);
  }
  table.columns.push_back({"step", std::move(number)});
  table.columns.push_back({"start_ns", std::move(start)});
  table.columns.push_back({"duration_ms", std::move(duration)});
  table.columns.push_back({"samples", std::move(samples)});
  table.columns.push_back({"warmup", std::move(warmup)});
  table.columns.push_back({"boundary", std::move(boundary)});
  table.columns.push_back({"steady", std::move(steady)});
  for (int part = 0; part < kParts; ++part) {
    table.columns.push_back({std::string(PartName(static_cast<Part>(part))) + "_ms", std::move(parts[part])});
  }
  return table;
}

std::int64_t StepAt(const Timeline& timeline, std::int64_t time_ns) {
  const int step = timeline.step_at(time_ns);
  return step < 0 ? kNoWhole : step;
}

class Ops {
 public:
  explicit Ops(const Timeline& timeline) : timeline_(timeline), names_(timeline.trace()) {}

  Table Take(const Report& report) {
    for (std::uint32_t t = 0; t < timeline_.trace().threads.size(); ++t) AddThread(t);
    Table table = Begun("ops", report, start_.size());
    table.columns.push_back({"pid", std::move(pid_)});
    table.columns.push_back({"tid", std::move(tid_)});
    table.columns.push_back({"step", std::move(step_)});
    table.columns.push_back({"category", category_.Take()});
    table.columns.push_back({"name", names_.Take()});
    table.columns.push_back({"start_ns", std::move(start_)});
    table.columns.push_back({"duration_ns", std::move(duration_)});
    table.columns.push_back({"self_ns", std::move(self_)});
    table.columns.push_back({"outermost", std::move(outermost_)});
    table.columns.push_back({"inputs", inputs_.Take()});
    table.columns.push_back({"path", path_.Take()});
    table.columns.push_back({"line", std::move(line_)});
    table.columns.push_back({"function", function_.Take()});
    return table;
  }

 private:
  void AddThread(std::uint32_t t) {
    const Thread& thread = timeline_.trace().threads[t];
    const std::size_t first = start_.size();
    std::vector<std::int64_t> covered_to(thread.events.size());
    for (std::uint32_t i = 0; i < thread.events.size(); ++i) {
      const Event& event = thread.events[i];
      AddEvent(thread, event, {t, i});
      covered_to[i] = event.start_ns;
      const std::uint32_t parent = timeline_.parent({t, i});
      if (parent == kNone || event.end_ns <= covered_to[parent]) continue;
      self_[first + parent] -= event.end_ns - std::max(event.start_ns, covered_to[parent]);
      covered_to[parent] = event.end_ns;
    }
  }

  void AddEvent(const Thread& thread, const Event& event, EventRef ref) {
    pid_.push_back(thread.pid);
    tid_.push_back(thread.tid);
    step_.push_back(StepAt(timeline_, event.start_ns));
    category_.Add(EventCategory(event));
    names_.Add(event.name);
    start_.push_back(event.start_ns);
    duration_.push_back(event.duration_ns());
    self_.push_back(event.duration_ns());
    outermost_.push_back(event.kind == EventKind::kOp && timeline_.outermost_op(ref));
    inputs_.Add(timeline_.inputs(ref));
    const Where* const where = timeline_.where(ref);
    path_.Add(where != nullptr ? std::string_view(where->path) : "");
    line_.push_back(where != nullptr && where->line > 0 ? where->line : kNoWhole);
    function_.Add(where != nullptr ? std::string_view(where->function) : "");
  }

  const Timeline& timeline_;
  std::vector<std::int64_t> pid_, tid_, step_, start_, duration_, self_, line_;
  YesNoColumn outermost_;
  Names names_;
  Texts category_, inputs_, path_, function_;
};

std::string_view KindOf(DeviceKind kind) {
  static constexpr std::array<std::string_view, 6> kNames{"kernel", "communication", "copy", "memset", "graph", "wait"};
  return kNames[static_cast<std::size_t>(kind)];
}

Table KernelsOf(const Report& report, const Timeline& timeline) {
  const Trace& trace = timeline.trace();
  std::vector<std::int64_t> device, stream, step, start, duration, bytes, delay;
  Names names(trace);
  Texts kind;
  std::vector<const DeviceTimeline*> made(trace.devices.size(), nullptr);
  for (const DeviceTimeline& one : timeline.devices()) made[one.index()] = &one;
  for (std::size_t d = 0; d < trace.devices.size(); ++d) {
    for (std::uint32_t i = 0; i < trace.devices[d].events.size(); ++i) {
      const DeviceEvent& event = trace.devices[d].events[i];
      device.push_back(trace.devices[d].ordinal);
      stream.push_back(event.stream);
      step.push_back(StepAt(timeline, event.start_ns));
      kind.Add(KindOf(event.kind));
      names.Add(event.name);
      start.push_back(event.start_ns);
      duration.push_back(event.duration_ns());
      bytes.push_back(event.bytes ? static_cast<std::int64_t>(event.bytes) : kNoWhole);
      const EventRef launch = made[d] ? made[d]->launch(i) : EventRef{kNone, kNone};
      delay.push_back(launch.thread == kNone ? kNoWhole : event.start_ns - timeline.event(launch).start_ns);
    }
  }
  Table table = Begun("kernels", report, start.size());
  table.columns.push_back({"device", std::move(device)});
  table.columns.push_back({"stream", std::move(stream)});
  table.columns.push_back({"step", std::move(step)});
  table.columns.push_back({"kind", kind.Take()});
  table.columns.push_back({"name", names.Take()});
  table.columns.push_back({"start_ns", std::move(start)});
  table.columns.push_back({"duration_ns", std::move(duration)});
  table.columns.push_back({"bytes", std::move(bytes)});
  table.columns.push_back({"since_launch_ns", std::move(delay)});
  return table;
}

Table FindingsOf(const Report& report) {
  Texts id, rule, title, severity, path, function, advice, treatment;
  std::vector<double> cost_ms, cost_pct;
  std::vector<std::int64_t> line;
  for (const Finding& finding : report.findings) {
    id.Add(finding.id);
    rule.Add(finding.rule);
    title.Add(finding.title);
    severity.Add(SeverityName(finding.severity));
    cost_ms.push_back(Finite(finding.cost_ms_per_step));
    cost_pct.push_back(Finite(finding.cost_pct));
    const auto placed =
        std::ranges::find_if(finding.evidence, [](const Evidence& one) { return one.where.has_value(); });
    const Where where = placed == finding.evidence.end() ? Where{} : *placed->where;
    path.Add(where.path);
    line.push_back(where.line > 0 ? where.line : kNoWhole);
    function.Add(where.function);
    advice.Add(finding.advice);
    treatment.Add(finding.treatment_id);
  }
  Table table = Begun("findings", report, report.findings.size());
  table.columns.push_back({"id", id.Take()});
  table.columns.push_back({"rule", rule.Take()});
  table.columns.push_back({"title", title.Take()});
  table.columns.push_back({"severity", severity.Take()});
  table.columns.push_back({"cost_ms_per_step", std::move(cost_ms)});
  table.columns.push_back({"cost_pct", std::move(cost_pct)});
  table.columns.push_back({"path", path.Take()});
  table.columns.push_back({"line", std::move(line)});
  table.columns.push_back({"function", function.Take()});
  table.columns.push_back({"advice", advice.Take()});
  table.columns.push_back({"treatment", treatment.Take()});
  return table;
}

Table LinesOf(const Report& report) {
  Texts scope, phase, path, function, library_path, what;
  std::vector<std::int64_t> line, library_line;
  std::vector<double> ms, share;
  const auto number = [](const std::optional<Where>& where) {
    return where && where->line > 0 ? where->line : kNoWhole;
  };
  const auto add = [&](std::string_view of, const std::vector<LineRow>& rows) {
    for (const LineRow& row : rows) {
      scope.Add(of);
      phase.Add(row.phase);
      path.Add(row.where ? row.where->path : "");
      line.push_back(number(row.where));
      function.Add(row.where ? row.where->function : "");
      library_path.Add(row.library ? row.library->path : "");
      library_line.push_back(number(row.library));
      what.Add(row.what);
      ms.push_back(Finite(row.ms));
      share.push_back(Finite(row.share_pct));
    }
  };
  add("step", report.lines);
  add("occurrence", report.whole_lines);
  add("worker batch", report.worker_lines);
  Table table = Begun("lines", report, ms.size());
  table.columns.push_back({"scope", scope.Take()});
  table.columns.push_back({"phase", phase.Take()});
  table.columns.push_back({"path", path.Take()});
  table.columns.push_back({"line", std::move(line)});
  table.columns.push_back({"function", function.Take()});
  table.columns.push_back({"library_path", library_path.Take()});
  table.columns.push_back({"library_line", std::move(library_line)});
  table.columns.push_back({"what", what.Take()});
  table.columns.push_back({"ms", std::move(ms)});
  table.columns.push_back({"share_pct", std::move(share)});
  return table;
}

}  // namespace

std::vector<Table> TablesOf(const Report& report) {
  static const Timeline kNothing = Timeline::Build({});
  const Timeline& timeline = report.timeline ? *report.timeline : kNothing;
  std::vector<Table> tables;
  tables.push_back(StepsOf(report, timeline));
  tables.push_back(Ops(timeline).Take(report));
  tables.push_back(KernelsOf(report, timeline));
  tables.push_back(FindingsOf(report));
  tables.push_back(LinesOf(report));
  return tables;
}

}  // namespace loopscope
