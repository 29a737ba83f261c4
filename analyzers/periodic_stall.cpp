#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/line_places.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/statistics/statistics.h"
#include "profiler/core/timeline/line_pieces.h"

namespace loopscope {
namespace {

constexpr double kTimesMedian = 3;        // a longer step is a stall
constexpr std::size_t kMinSeen = 2;       // stalls with recorded operators: a single one proves nothing
constexpr double kMinAlike = 2.0 / 3;     // of the stalls have the same cause
constexpr double kMostByChance = 0.01;    // probability that stalls from elsewhere met the same work
constexpr double kMinSharePct = 2;        // of the steps' work
constexpr std::size_t kMostCauses = 3;    // named in the evidence
constexpr double kMinCauseShare = 0.1;    // of the stalls' excess
constexpr std::int64_t kMinGapNs = 1000;  // between two events; shorter ones belong to the probe

// What the training thread did in a step, by name: outermost operators and ranges, and the time between them.
struct Doing {
  std::int64_t ns = 0;
  std::uint64_t times = 0;
  bool outside_operators = false;
};
using Doings = std::map<std::string, Doing>;

// A step's time without loader waits, which input-starvation reports.
std::int64_t OwnNs(const Step& step) {
  return step.time.length() - step.parts_ns[static_cast<std::size_t>(Part::kLoaderWait)];
}

class Stalls {
 public:
  explicit Stalls(const Timeline& timeline) : timeline_(timeline) { Find(); }

  // Timed steps that took long at a regular distance; empty when there are none.
  const std::vector<std::uint32_t>& indices() const { return indices_; }
  double median_ns() const { return median_ns_; }
  std::int64_t distance() const { return distance_; }

  double ExcessNs(std::uint32_t index) const {
    return static_cast<double>(OwnNs(timeline_.steps()[index])) - median_ns_;
  }

 private:
  void Find() {
    std::vector<std::int64_t> lengths;
    for (const std::uint32_t index : timeline_.timed()) lengths.push_back(OwnNs(timeline_.steps()[index]));
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    median_ns_ = static_cast<double>(*middle);
    for (const std::uint32_t index : timeline_.timed()) {
      const auto own_ns = static_cast<double>(OwnNs(timeline_.steps()[index]));
      if (own_ns > kTimesMedian * median_ns_) indices_.push_back(index);
    }
    const auto distance = StepDistance(timeline_, indices_);
    if (!distance) indices_.clear();
    distance_ = distance.value_or(0);
  }

  const Timeline& timeline_;
  std::vector<std::uint32_t> indices_;
  double median_ns_ = 0;
  std::int64_t distance_ = 0;
};

// Names what a step's time went to, and remembers where the longest of each name was called.
class Causes {
 public:
  explicit Causes(const Timeline& timeline) : timeline_(timeline) {}

  Doings Of(const Step& step) {
    Doings doings;
    std::int64_t done_to = step.time.start_ns;
    std::string last = "the step's begin";
    EventRef last_ref{kNone, kNone};
    const auto gap = [&](std::int64_t until, EventRef next) {
      if (until - done_to < kMinGapNs) return;
      const std::string name = fmt::format("code outside any operator after {}", last);
      Note(doings, name, until - done_to, Exists(last_ref) ? last_ref : next);
      doings[name].outside_operators = true;
    };
    timeline_.ForEach(timeline_.training_thread(), step.time, [&](EventRef ref) {
      const Event& event = timeline_.event(ref);
      if (event.start_ns < done_to || event.is_range(RangeCategory::kLoader) || IsFrame(event)) return;
      gap(event.start_ns, ref);
      last = timeline_.name(ref);
      last_ref = ref;
      const std::int64_t end_ns = std::min(event.end_ns, step.time.end_ns);
      Note(doings, last, end_ns - event.start_ns, ref);
      done_to = end_ns;
    });
    gap(step.time.end_ns, {kNone, kNone});
    return doings;
  }

  std::optional<Where> PlaceOf(const std::string& name) const {
    const auto found = places_.find(name);
    const Where* where =
        found == places_.end() || !Exists(found->second.ref) ? nullptr : timeline_.where(found->second.ref);
    return where != nullptr ? std::optional(*where) : std::nullopt;
  }

 private:
  struct Longest {
    std::int64_t ns = 0;
    EventRef ref{kNone, kNone};
  };

  // A range around much of the loop, such as the program's own "epoch" or "forward": what runs inside is more specific.
  static bool IsFrame(const Event& event) {
    return event.is_range(RangeCategory::kUser) || event.is_range(RangeCategory::kForward) ||
           event.is_range(RangeCategory::kModule);
  }

  // Places are recorded in few steps only: the longest one whose place is known is kept.
  void Note(Doings& doings, const std::string& name, std::int64_t ns, EventRef ref) {
    doings[name].ns += ns;
    ++doings[name].times;
    Longest& longest = places_[name];
    const bool known = Exists(ref) && timeline_.where(ref) != nullptr;
    const bool had = Exists(longest.ref) && timeline_.where(longest.ref) != nullptr;
    if ((known && !had) || (known == had && ns > longest.ns)) longest = {ns, ref};
  }

  const Timeline& timeline_;
  std::map<std::string, Longest> places_;
};

struct Cause {
  std::string name;
  bool outside_operators = false;
  double excess_ns = 0;          // over all those stalls, beyond an ordinary step's
  double usual_share = 0;        // of an ordinary step
  std::uint64_t first = 0;       // stalls of which it is the largest part
  std::uint64_t more_often = 0;  // … and in which it ran more often than in an ordinary step
};

// Mean activities of an ordinary step.
class Ordinary {
 public:
  void Add(const Doings& doings) {
    ++steps_;
    for (const auto& [name, doing] : doings) {
      sums_[name].ns += doing.ns;
      sums_[name].times += doing.times;
      sum_ns_ += doing.ns;
    }
  }
  double ns(const std::string& name) const { return Mean(Of(name).ns); }
  double times(const std::string& name) const { return Mean(Of(name).times); }
  double share(const std::string& name) const {
    return sum_ns_ == 0 ? 0 : static_cast<double>(Of(name).ns) / static_cast<double>(sum_ns_);
  }

 private:
  Doing Of(const std::string& name) const {
    const auto found = sums_.find(name);
    return found == sums_.end() ? Doing{} : found->second;
  }
  template <class Sum>
  double Mean(Sum sum) const {
    return steps_ == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(steps_);
  }

  std::map<std::string, Doing> sums_;
  std::int64_t sum_ns_ = 0;
  std::uint64_t steps_ = 0;
};

// The causes of the `stalled` steps, all of them steady.
std::vector<Cause> CausesOf(const Timeline& timeline, const std::set<std::uint32_t>& stalled, Causes& causes) {
  Ordinary ordinary;
  for (const std::uint32_t index : timeline.steady()) {
    if (!stalled.contains(index)) ordinary.Add(causes.Of(timeline.steps()[index]));
  }
  std::map<std::string, Cause> by_name;
  for (const std::uint32_t index : stalled) {
    Cause* first = nullptr;
    double most = 0;
    bool more_often = false;
    for (const auto& [name, doing] : causes.Of(timeline.steps()[index])) {
      const double excess_ns = static_cast<double>(doing.ns) - ordinary.ns(name);
      Cause& cause = by_name[name];
      cause.name = name;
      cause.outside_operators = doing.outside_operators;
      cause.usual_share = ordinary.share(name);
      cause.excess_ns += excess_ns;
      if (excess_ns <= most) continue;
      most = excess_ns;
      first = &cause;
      more_often = static_cast<double>(doing.times) > ordinary.times(name) + 0.5;
    }
    if (first == nullptr) continue;
    ++first->first;
    first->more_often += more_often ? 1 : 0;
  }
  std::vector<Cause> ordered;
  for (auto& [name, cause] : by_name) ordered.push_back(std::move(cause));
  std::ranges::sort(ordered, std::greater(), &Cause::excess_ns);
  return ordered;
}

// A machine busy with other programs stalls whatever runs, most often what takes longest anyway. The program's own
// stalls share work that runs more often in them, or more of it than chance explains.
bool ShareWork(const Cause& cause, std::size_t stalls) {
  const double least = kMinAlike * static_cast<double>(stalls);
  if (static_cast<double>(cause.first) < least) return false;
  if (static_cast<double>(cause.more_often) >= least) return true;
  return BinomialTail(static_cast<int>(stalls), static_cast<int>(cause.first), cause.usual_share) <= kMostByChance;
}

// Places outside of operators, with their ms of a step of these.
std::vector<PlaceTime> PlacesOutsideOperators(const Timeline& timeline, std::span<const Interval> steps) {
  std::vector<LineShare> lines = LinesIn(timeline, steps);
  std::erase_if(lines, [](const LineShare& line) { return line.in_operator || line.part == Part::kLoaderWait; });
  std::vector<PlaceTime> places = PlacesOf(timeline, lines);
  for (PlaceTime& place : places) place.ms /= static_cast<double>(steps.size());
  return places;
}

// The line outside of operators at which steps with known lines take at least `ms` more than ordinary ones; absent if
// none is known. The operator before such a gap may have been called some lines earlier.
std::optional<Where> LineOutsideOperators(const Timeline& timeline, const std::set<std::uint32_t>& stalled, double ms) {
  std::vector<Interval> in_stalls, in_others;
  const bool any_followed =
      std::ranges::any_of(stalled, [&](std::uint32_t index) { return timeline.steps()[index].followed; });
  for (const std::uint32_t index : timeline.steady()) {
    const Step& step = timeline.steps()[index];
    if (any_followed ? step.followed : step.detail)
      (stalled.contains(index) ? in_stalls : in_others).push_back(step.time);
  }
  if (in_stalls.empty()) return std::nullopt;
  std::vector<PlaceTime> usual;
  if (!in_others.empty()) usual = PlacesOutsideOperators(timeline, in_others);
  for (const PlaceTime& place : PlacesOutsideOperators(timeline, in_stalls)) {
    const auto ordinary = std::ranges::find(usual, place.where, &PlaceTime::where);
    if (place.where && place.ms - (ordinary == usual.end() ? 0 : ordinary->ms) >= ms) return place.where;
  }
  return std::nullopt;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Stalls stalls(timeline);
  double excess_ns = 0;
  for (const std::uint32_t index : stalls.indices()) excess_ns += stalls.ExcessNs(index);
  const double ms = excess_ns / 1e6 / static_cast<double>(timeline.timed().size());
  if (stalls.indices().empty() || SharePct(timeline, ms) < kMinSharePct) return {};
  std::set<std::uint32_t> seen;  // steps whose operators were recorded: only there is it known what ran
  std::ranges::copy_if(stalls.indices(), std::inserter(seen, seen.end()),
                       [&](std::uint32_t index) { return timeline.steps()[index].operators; });
  Causes causes(timeline);
  const std::vector<Cause> found = CausesOf(timeline, seen, causes);
  const auto count = seen.size();
  if (count < kMinSeen || found.empty() || !ShareWork(found.front(), count)) return {};
  const double each_ms = excess_ns / 1e6 / static_cast<double>(stalls.indices().size());
  Finding finding = Costing(timeline, ms,
                            fmt::format("every {} steps one takes {} longer than the others: {} per step ({})",
                                        stalls.distance(), MsText(each_ms), MsText(ms), ShareText(timeline, ms)));
  for (const Cause& cause : found) {
    const double cause_ms = cause.excess_ns / 1e6 / static_cast<double>(count);
    if (finding.evidence.size() == kMostCauses || cause_ms < kMinCauseShare * each_ms) break;
    std::optional<Where> where;
    if (cause.outside_operators) where = LineOutsideOperators(timeline, seen, cause_ms / 2);
    finding.evidence.push_back({fmt::format("{} more in {} than in an ordinary step", MsText(cause_ms), cause.name),
                                count, where ? where : causes.PlaceOf(cause.name)});
  }
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kLongSteps, Standing::kGivesWay}, Claim{Time::kAnyLine, Standing::kDoubted},
                                Claim{Time::kOther}};

}  // namespace

extern const Analyzer kPeriodicStall{.id = "periodic-stall",
                                     .question = "Does a step take much longer now and then?",
                                     .run = Run,
                                     .needs = kNeedsOps | kNeedsQuiet,
                                     .claims = kClaims};

}  // namespace loopscope
