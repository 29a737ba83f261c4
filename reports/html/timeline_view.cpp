#include "reports/html/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "profiler/core/printable.h"
#include "profiler/core/report/finding.h"

namespace loopscope {
namespace {

constexpr std::size_t kMostRows = 12, kMostLanes = 24, kMostTotals = 20;
constexpr std::int64_t kFinest_ns = 1000;  // the first try if not every event can have its own bar

// An event before any are joined.
struct Piece {
  std::int64_t start_ns, end_ns;
  StringId name;
  std::uint32_t depth;
  EventRef ref;  // {kNone, kNone} for device work
};

struct Source {
  std::string kind, title;
  std::vector<Piece> pieces;  // by start
  std::int64_t busy_ns = 0;
};

// Joins pieces shorter than `resolution_ns` that lie closer than that; 0 joins none.
std::vector<std::vector<Bar>> Join(const Source& source, std::int64_t resolution_ns) {
  std::vector<std::vector<Bar>> rows;
  std::vector<std::int64_t> longest;  // piece in the last bar of each row
  for (const Piece& piece : source.pieces) {
    if (piece.depth >= rows.size()) {
      rows.resize(piece.depth + 1);
      longest.resize(piece.depth + 1, 0);
    }
    std::vector<Bar>& row = rows[piece.depth];
    std::int64_t& longest_ns = longest[piece.depth];
    const std::int64_t length = piece.end_ns - piece.start_ns;
    if (!row.empty()) {
      Bar& last = row.back();
      const std::int64_t gap = piece.start_ns - (last.start_ns + last.length_ns);
      if (length < resolution_ns && longest_ns < resolution_ns && gap < resolution_ns) {
        last.length_ns = std::max(last.length_ns, piece.end_ns - last.start_ns);
        ++last.count;
        if (length > longest_ns) last.name = piece.name;
        longest_ns = std::max(longest_ns, length);
        continue;
      }
    }
    Bar bar{piece.start_ns, length, piece.name, 1, 0};
    if (length >= resolution_ns)
      bar.place = piece.ref.thread == kNone ? 0 : static_cast<std::uint32_t>(&piece - source.pieces.data()) + 1;
    row.push_back(bar);
    longest_ns = length;
  }
  return rows;
}

class ViewBuilder {
 public:
  ViewBuilder(const Timeline& timeline, std::uint32_t step)
      : timeline_(timeline), window_(timeline.steps()[step].time) {
    view_.step = step;
    view_.length_ns = window_.length();
  }

  StepView Build(std::size_t most_bars) {
    AddParts();
    AddThreads();
    AddDevices();
    AddHostCommunication();
    KeepBusiest();
    AddTotals();
    Draw(most_bars);
    return std::move(view_);
  }

 private:
  std::uint32_t NameOf(StringId id) {
    const auto [at, added] = names_.try_emplace(id, static_cast<std::uint32_t>(view_.names.size()));
    if (added) view_.names.push_back(Printable(timeline_.trace().text(id), 200));
    return at->second;
  }

  std::uint32_t PlaceOf(EventRef ref) {
    const Where* const where = timeline_.where(ref);
    if (where == nullptr) return 0;
    std::string text = RelativePath(where->path, timeline_.trace().run.working_directory);
    if (where->line > 0) text += fmt::format(":{}", where->line);
    const auto [at, added] = places_.try_emplace(text, static_cast<std::uint32_t>(view_.places.size()));
    if (added) view_.places.push_back(Printable(text, 200));
    return at->second;
  }

  void Add(Source& source, std::int64_t start_ns, std::int64_t end_ns, StringId name, std::uint32_t depth,
           EventRef ref) {
    const std::int64_t start = std::max(start_ns, window_.start_ns), end = std::min(end_ns, window_.end_ns);
    if (start > end || depth >= kMostRows) return;
    if (depth == 0) source.busy_ns += end - start;
    source.pieces.push_back({start - window_.start_ns, end - window_.start_ns, name, depth, ref});
  }

  // What the training thread spent each instant on; a part instead of a name.
  void AddParts() {
    Source source{"step", "step", {}, 0};
    for (int part = 0; part < kParts; ++part) {
      const IntervalSet inside =
          timeline_.part(static_cast<Part>(part)).Intersect(IntervalSet(std::vector<Interval>{window_}));
      for (const Interval& one : inside.intervals()) {
        Add(source, one.start_ns, one.end_ns, static_cast<StringId>(part), 0, {kNone, kNone});
      }
    }
    std::ranges::sort(source.pieces, {}, &Piece::start_ns);
    sources_.push_back(std::move(source));
  }

  // Events that began before the step and still run in it, outermost first.
  std::vector<EventRef> OpenAtStart(std::uint32_t thread) const {
    const std::vector<Event>& events = timeline_.trace().threads[thread].events;
    const auto first = std::ranges::lower_bound(events, window_.start_ns, {}, &Event::start_ns);
    std::vector<EventRef> open;
    if (first == events.begin()) return open;
    for (auto at = static_cast<std::uint32_t>(first - events.begin() - 1); at != kNone;
         at = timeline_.parent({thread, at})) {
      if (events[at].end_ns > window_.start_ns) open.push_back({thread, at});
    }
    std::ranges::reverse(open);
    return open;
  }

  Source ThreadSource(std::uint32_t thread) const {
    const Thread& one = timeline_.trace().threads[thread];
    const std::uint32_t training = timeline_.training_thread();
    const std::string name = one.name.empty() ? "" : Printable(one.name, 40) + ", ";
    if (thread == training) return {"training", "training thread", {}, 0};
    const bool other_process = training != kNone && one.pid != timeline_.trace().threads[training].pid;
    if (other_process) return {"worker", fmt::format("{}worker {}", name, one.pid), {}, 0};
    return {"cpu", fmt::format("{}thread {}", name, one.tid), {}, 0};
  }

  void AddThread(std::uint32_t thread) {
    Source source = ThreadSource(thread);
    std::vector<std::uint32_t> stack;  // open events, outermost first
    const auto visit = [&](EventRef ref) {
      const std::uint32_t parent = timeline_.parent(ref);
      while (!stack.empty() && stack.back() != parent) stack.pop_back();
      const Event& event = timeline_.event(ref);
      Add(source, event.start_ns, event.end_ns, event.name, static_cast<std::uint32_t>(stack.size()), ref);
      stack.push_back(ref.index);
      Count(ref);
    };
    for (const EventRef ref : OpenAtStart(thread)) visit(ref);
    timeline_.ForEach(thread, window_, visit);
    if (!source.pieces.empty()) sources_.push_back(std::move(source));
  }

  void AddThreads() {
    if (timeline_.training_thread() != kNone) AddThread(timeline_.training_thread());
    for (std::uint32_t thread = 0; thread < timeline_.trace().threads.size(); ++thread) {
      if (thread != timeline_.training_thread()) AddThread(thread);
    }
  }

  void AddDevices() {
    for (const Device& device : timeline_.trace().devices) {
      std::map<std::pair<bool, std::uint32_t>, Source> streams;
      for (const DeviceEvent& event : device.events) {
        if (event.start_ns >= window_.end_ns) break;
        if (event.end_ns <= window_.start_ns || event.kind == DeviceKind::kWait) continue;
        const bool communication = event.kind == DeviceKind::kCommunication;
        Source& source = streams[{communication, event.stream}];
        if (source.kind.empty()) {
          source.kind = communication ? "communication" : "device";
          source.title =
              fmt::format("GPU {} stream {}{}", device.ordinal, event.stream, communication ? ", communication" : "");
        }
        Add(source, event.start_ns, event.end_ns, event.name, 0, {kNone, kNone});
      }
      for (auto& [key, source] : streams) sources_.push_back(std::move(source));
    }
  }

  void AddHostCommunication() {
    Source all{"communication", "communication (host)", {}, 0};
    for (std::uint32_t thread = 0; thread < timeline_.trace().threads.size(); ++thread) {
      timeline_.ForEach(thread, window_, [&](EventRef ref) {
        const Event& event = timeline_.event(ref);
        if (event.is_range(RangeCategory::kCommunication)) Add(all, event.start_ns, event.end_ns, event.name, 0, ref);
      });
    }
    std::ranges::sort(all.pieces, {}, &Piece::start_ns);
    if (!all.pieces.empty()) sources_.push_back(std::move(all));
  }

  void Count(EventRef ref) {
    OpTotal& total = totals_[timeline_.event(ref).name];
    ++total.count;
    total.self_ns += timeline_.self_ns(ref);
  }

  // The step and the training thread stay first, the others in their order.
  void KeepBusiest() {
    if (sources_.size() <= kMostLanes) return;
    std::vector<std::int64_t> busy;
    for (std::size_t i = 2; i < sources_.size(); ++i) busy.push_back(sources_[i].busy_ns);
    std::ranges::nth_element(busy, busy.begin() + (kMostLanes - 3), std::greater());
    const std::int64_t least = busy[kMostLanes - 3];
    std::vector<Source> kept;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const bool keep = kept.size() < kMostLanes && (i < 2 || sources_[i].busy_ns >= least);
      if (keep) kept.push_back(std::move(sources_[i]));
    }
    view_.lanes_left_out = static_cast<int>(sources_.size() - kept.size());
    sources_ = std::move(kept);
  }

  void AddTotals() {
    std::vector<std::pair<StringId, OpTotal>> totals(totals_.begin(), totals_.end());
    const std::size_t most = std::min(kMostTotals, totals.size());
    std::ranges::partial_sort(totals, totals.begin() + static_cast<std::ptrdiff_t>(most),
                              [](const auto& a, const auto& b) {
                                return std::pair(b.second.self_ns, a.first) < std::pair(a.second.self_ns, b.first);
                              });
    totals.resize(most);
    for (auto& [name, total] : totals) {
      total.name = NameOf(name);
      view_.longest.push_back(total);
    }
  }

  void Draw(std::size_t most_bars) {
    std::vector<std::vector<std::vector<Bar>>> drawn;
    std::int64_t resolution_ns = 0;
    for (std::size_t bars = most_bars + 1; bars > most_bars && resolution_ns <= 2 * view_.length_ns;
         resolution_ns = std::max(2 * resolution_ns, kFinest_ns)) {
      drawn.clear();
      bars = 0;
      for (const Source& source : sources_) {
        drawn.push_back(Join(source, resolution_ns));
        for (const auto& row : drawn.back()) bars += row.size();
      }
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) AddLane(sources_[i], std::move(drawn[i]));
  }

  void AddLane(const Source& source, std::vector<std::vector<Bar>> rows) {
    for (std::vector<Bar>& row : rows) {
      for (Bar& bar : row) {
        if (source.kind != "step") bar.name = NameOf(bar.name);
        if (bar.place != 0) bar.place = PlaceOf(source.pieces[bar.place - 1].ref);
      }
    }
    view_.lanes.push_back({source.kind, source.title, std::move(rows)});
  }

  const Timeline& timeline_;
  const Interval window_;
  StepView view_;
  std::vector<Source> sources_;
  std::unordered_map<StringId, std::uint32_t> names_;
  std::unordered_map<std::string, std::uint32_t> places_;
  std::unordered_map<StringId, OpTotal> totals_;
};

}  // namespace

StepView ViewOf(const Timeline& timeline, std::uint32_t step, std::size_t most_bars) {
  return ViewBuilder(timeline, step).Build(most_bars);
}

std::uint32_t TypicalStep(const Timeline& timeline) {
  std::vector<std::uint32_t> steps(timeline.steady().begin(), timeline.steady().end());
  if (steps.empty()) return kNone;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle, {}, [&](std::uint32_t step) { return timeline.steps()[step].time.length(); });
  return *middle;
}

std::uint32_t WorstStep(const Timeline& timeline) {
  const auto steady = timeline.steady();
  if (steady.empty()) return kNone;
  return *std::ranges::max_element(steady, {},
                                   [&](std::uint32_t step) { return timeline.steps()[step].time.length(); });
}

}  // namespace loopscope
