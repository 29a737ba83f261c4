#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/line_places.h"
#include "analyzers/shared/processors.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/timeline/line_pieces.h"

namespace loopscope {
namespace {

constexpr double kLonger = 1.2;                               // than the median: a step with other work in it
constexpr double kMinSharePct = 5;                            // of all steps' time, together
constexpr double kMinUnseenPct = 30, kMuchLongerUnseen = 10;  // where no line is known, or one step is long
constexpr double kMinShown = 0.4;       // of the long steps' excess lies at places that take much longer there:
constexpr double kMuchLonger = 3;       // so many times as long as in an ordinary step
constexpr std::size_t kOneLong = 2;     // one step in so many may be long: with more, the short ones are the exception
constexpr std::size_t kMinRegular = 4;  // long steps at one distance, with a line that takes long in them alone
constexpr std::size_t kMinSteps = 12, kMostPlaces = 4;
constexpr std::size_t kNeighbours = 16;  // on either side, of which a step's usual length is the median: steps may grow
constexpr double kUsualOfCaught = 0.25;  // quantile of steps followed to catch a long one: some are long
constexpr double kLongerThanItsLike = 1.5;  // such a step, of which few are known
constexpr double kMoreUpdates = 0.5;        // optimizers' steps in a long step beyond those of an ordinary one
constexpr double kAsMany = 1.02;  // operators in a long step as in an ordinary one: the same work, on larger inputs

struct Long {
  std::uint32_t step = 0;
  double excess_ms = 0;
};

double Quantile(std::vector<double> of, double share) {
  if (of.empty()) return 0;
  const auto place = of.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(of.size() - 1));
  std::ranges::nth_element(of, place);
  return *place;
}

// Steps in pieces: without the evaluations inside.
struct Pieces {
  std::vector<Interval> times;
  double steps = 0;
};

// Recording details or following calls makes a step longer. Its length is compared with steps of its kind, and scaled
// to an undisturbed step with the same ratio.
class Steps {
 public:
  explicit Steps(const Timeline& timeline) : timeline_(timeline), evaluations_(timeline.whole().evaluations) {
    for (std::uint32_t i = 0; i < timeline.steps().size(); ++i) {
      const StepKind kind = timeline.steps()[i].kind();
      if (kind == StepKind::kUsual || kind == StepKind::kEvaluation) plain_.push_back(i);
    }
    std::vector<double> undisturbed;
    for (const std::uint32_t i : timeline.undisturbed()) undisturbed.push_back(OwnMs(i));
    median_ms_ = Quantile(undisturbed, 0.5);
    std::vector<double> lengths;
    for (const std::uint32_t i : plain_) lengths.push_back(OwnMs(i) * Scale(i));
    for (const double one : lengths) all_ms_ += one;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::size_t first = i < kNeighbours ? 0 : i - kNeighbours;
      const std::size_t end = std::min(first + 2 * kNeighbours + 1, lengths.size());
      const auto begin = lengths.begin();
      const double usual_ms =
          Quantile({begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end)}, 0.5);
      const double bar = Counted(plain_[i]) ? kLonger : kLongerThanItsLike;
      if (lengths[i] > bar * usual_ms) long_.push_back({plain_[i], lengths[i] - usual_ms});
    }
  }

  std::size_t count() const { return plain_.size(); }
  std::uint32_t first() const { return plain_.front(); }
  double all_ms() const { return all_ms_; }
  double median_ms() const { return median_ms_; }
  const std::vector<Long>& long_ones() const { return long_; }
  bool IsLong(std::uint32_t step) const { return std::ranges::find(long_, step, &Long::step) != long_.end(); }
  // Steps with known lines, either the long or the ordinary ones.
  Pieces Shown(bool long_ones) const { return Joined(Of(long_ones, true)); }
  // The others.
  Pieces Undisturbed(bool long_ones) const { return Joined(Of(long_ones, false)); }
  // The long ones that show lines, each by itself.
  std::vector<Pieces> EachShown() const { return Of(true, true); }

 private:
  std::vector<Pieces> Of(bool long_ones, bool disturbed) const {
    std::vector<Pieces> found;
    for (const std::uint32_t i : plain_) {
      const Step& step = timeline_.steps()[i];
      if (step.disturbed() != disturbed || !step.operators || IsLong(i) != long_ones) continue;
      const IntervalSet pieces = IntervalSet({step.time}).Subtract(evaluations_);
      found.push_back({{pieces.intervals().begin(), pieces.intervals().end()}, 1});
    }
    return found;
  }

  static Pieces Joined(const std::vector<Pieces>& each) {
    Pieces all;
    for (const Pieces& one : each) {
      all.times.insert(all.times.end(), one.times.begin(), one.times.end());
      all.steps += one.steps;
    }
    return all;
  }

  // A step's time without loader waits and evaluations, which other rules report.
  double OwnMs(std::uint32_t i) const {
    const Step& step = timeline_.steps()[i];
    const std::int64_t wait_ns = step.parts_ns[static_cast<std::size_t>(Part::kLoaderWait)];
    const std::int64_t evaluated_ns = evaluations_.total_ns(step.time);
    return Ms(std::max<std::int64_t>(step.time.length() - wait_ns - evaluated_ns, 0));
  }

  bool Counted(std::uint32_t step) const { return std::ranges::binary_search(timeline_.undisturbed(), step); }

  double Scale(std::uint32_t step) {
    if (Counted(step)) return 1;
    const Step& like = timeline_.steps()[step];
    double& scale = scales_[{like.detail, like.followed}];
    if (scale > 0) return scale;
    std::vector<double> lengths;
    for (const std::uint32_t i : plain_) {
      const Step& one = timeline_.steps()[i];
      if (one.detail == like.detail && one.followed == like.followed) lengths.push_back(OwnMs(i));
    }
    const double usual_ms = Quantile(std::move(lengths), like.detail ? 0.5 : kUsualOfCaught);
    return scale = usual_ms > 0 ? std::min(median_ms_ / usual_ms, 1.0) : 1;
  }

  const Timeline& timeline_;
  const IntervalSet evaluations_;
  std::vector<std::uint32_t> plain_;  // and those that evaluate
  std::vector<Long> long_;
  std::map<std::pair<bool, bool>, double> scales_;  // by whether details were recorded, and calls followed
  double all_ms_ = 0, median_ms_ = 0;
};

// Long steps also update another network, which is trained less often: that is training, not other work.
bool TrainsMore(const Timeline& timeline, const Steps& steps) {
  const Pieces of_long = steps.Shown(true), of_ordinary = steps.Shown(false);
  return UpdatesIn(timeline, of_long.times) / of_long.steps >
         UpdatesIn(timeline, of_ordinary.times) / of_ordinary.steps + kMoreUpdates;
}

double MeanMs(const Pieces& of) {
  double ms = 0;
  for (const Interval& one : of.times) ms += Ms(one.length());
  return ms / of.steps;
}

// Excess of a long step over an ordinary one, by lines that were seen occasionally in steps without details; ms per
// long step.
std::vector<PlaceTime> SampledExcess(const Timeline& timeline, const Steps& steps) {
  const Pieces of_long = steps.Undisturbed(true), of_ordinary = steps.Undisturbed(false);
  if (of_long.steps == 0 || of_ordinary.steps == 0) return {};
  std::vector<PlaceTime> places = SampledPlaces(timeline, of_long.times);
  const std::vector<PlaceTime> usual = SampledPlaces(timeline, of_ordinary.times);
  for (PlaceTime& place : places) {
    const auto known = std::ranges::find(usual, place.where, &PlaceTime::where);
    const double usual_ms = known == usual.end() ? 0 : known->ms / of_ordinary.steps;
    const double long_ms = place.ms / of_long.steps;
    place.ms = long_ms > kMuchLonger * usual_ms ? long_ms - usual_ms : 0;
  }
  std::erase_if(places, [](const PlaceTime& place) { return place.ms <= 0 || !place.where; });
  std::ranges::stable_sort(places, std::ranges::greater{}, &PlaceTime::ms);
  return places;
}

// Excess of a long step over an ordinary one, by place; ms per long step with known lines.
std::vector<PlaceTime> Excess(const Timeline& timeline, const Steps& steps) {
  const Pieces of_long = steps.Shown(true), of_ordinary = steps.Shown(false);
  if (of_long.steps == 0 || of_ordinary.steps == 0) return {};
  const bool trains_more = TrainsMore(timeline, steps);
  std::vector<PlaceTime> places = PlacesOf(timeline, LinesOfWork(timeline, of_long.times, trains_more));
  const bool same_work = OperatorsIn(timeline, of_long.times) / of_long.steps <=
                         kAsMany * OperatorsIn(timeline, of_ordinary.times) / of_ordinary.steps;
  std::map<std::optional<Where>, double> usual;
  for (const PlaceTime& place : PlacesOf(timeline, LinesOfWork(timeline, of_ordinary.times, trains_more)))
    usual[place.where] = place.ms;
  for (PlaceTime& place : places) {
    const auto known = usual.find(place.where);
    const double usual_ms = known == usual.end() ? 0 : known->second / of_ordinary.steps;
    const double long_ms = place.ms / of_long.steps;
    const bool larger_inputs = same_work && place.operators_ms > place.ms / 2;
    place.ms = long_ms > kMuchLonger * usual_ms && !larger_inputs ? long_ms - usual_ms : 0;
  }
  // A longer wait for a lock is not other work.
  std::erase_if(
      places, [](const PlaceTime& place) { return place.ms <= 0 || !place.where || place.what == wire::kThreadWait; });
  std::ranges::stable_sort(places, std::ranges::greater{}, &PlaceTime::ms);
  return places;
}

// The long steps whose lines are known and that spend much of their excess at this place.
std::ptrdiff_t StepsThatShow(const Timeline& timeline, const Steps& steps, const PlaceTime& place) {
  return std::ranges::count_if(steps.EachShown(), [&](const Pieces& step) {
    const std::vector<PlaceTime> places = PlacesOf(timeline, LinesOfWork(timeline, step.times, false));
    const auto here = std::ranges::find(places, place.where, &PlaceTime::where);
    return here != places.end() && here->ms > place.ms / 2;
  });
}

std::optional<std::uint32_t> Distance(const Timeline& timeline, std::span<const Long> of) {
  std::vector<std::uint32_t> steps;
  for (const Long& one : of) steps.push_back(one.step);
  return StepDistance(timeline, steps);
}

std::string HowOften(std::optional<std::uint32_t> distance, const Steps& steps, std::span<const Long> of) {
  if (of.size() == 1) return fmt::format("once in {} steps", steps.count());
  if (distance) return fmt::format("every {} steps", *distance);
  return fmt::format("in {} of {} steps", of.size(), steps.count());
}

// Excess of the long steps that cost most: half of all excess lies in steps at least this long. One disturbed step
// hardly moves it.
double TypicalExcessMs(const Steps& steps) {
  std::vector<double> excess;
  double all = 0, longer = 0;
  for (const Long& one : steps.long_ones()) {
    excess.push_back(one.excess_ms);
    all += one.excess_ms;
  }
  std::ranges::sort(excess, std::ranges::greater{});
  for (const double one : excess) {
    longer += one;
    if (longer >= all / 2) return one;
  }
  return 0;
}

// The long steps of that kind: with at least half of that excess.
std::vector<Long> Dearest(const Steps& steps) {
  const double typical_ms = TypicalExcessMs(steps);
  std::vector<Long> kind;
  std::ranges::copy_if(steps.long_ones(), std::back_inserter(kind),
                       [&](const Long& one) { return one.excess_ms >= typical_ms / 2; });
  return kind;
}

// From undisturbed long steps if there are any: for the others it is an estimate that assumes recording slows waits as
// it slows code.
double MeanExcessMs(const Timeline& timeline, std::span<const Long> of) {
  double quiet_ms = 0, all_ms = 0, quiet = 0;
  for (const Long& one : of) {
    all_ms += one.excess_ms;
    if (timeline.steps()[one.step].disturbed()) continue;
    quiet_ms += one.excess_ms;
    ++quiet;
  }
  return quiet > 0 ? quiet_ms / quiet : all_ms / static_cast<double>(of.size());
}

// Other programs, or the program's own threads and ranks, compete: a wait for a processor makes a step that much
// longer, and again if another rank waits for this one.
bool WaitsMayExplain(const Timeline& timeline, double share_pct) {
  const auto processors = ProcessorsOf(timeline);
  return OthersInterfere(timeline) || (processors && share_pct <= 2 * processors->delay_pct);
}

std::vector<Finding> Run(const Timeline& timeline) {
  const Steps steps(timeline);
  if (steps.count() < kMinSteps) {
    return {Finding::CannotTell(fmt::format("only {} are plain ones: too few to tell an uneven loop from a noisy one",
                                            Counted(steps.count(), "step")))};
  }
  double excess_ms = 0;
  for (const Long& one : steps.long_ones()) excess_ms += one.excess_ms;
  const double share_pct = steps.all_ms() > 0 ? 100 * excess_ms / steps.all_ms() : 0;
  if (steps.long_ones().empty() || kOneLong * steps.long_ones().size() > steps.count()) return {};
  const std::vector<Long> dearest = Dearest(steps);
  const bool alone = dearest.size() == 1;
  if (alone && dearest.front().step == steps.first()) return {};  // the first step sets things up
  if (share_pct < (alone ? kMinUnseenPct : kMinSharePct)) return {};
  const auto disturbed = [&](const Long& one) { return timeline.steps()[one.step].disturbed(); };
  const bool seen = std::ranges::any_of(dearest, disturbed);
  const std::vector<PlaceTime> places = seen ? Excess(timeline, steps) : SampledExcess(timeline, steps);
  if (places.empty() && (seen || share_pct < kMinUnseenPct)) return {};
  double shown_ms = 0;
  for (const PlaceTime& place : places) shown_ms += place.ms;
  if (seen && shown_ms < kMinShown * (MeanMs(steps.Shown(true)) - MeanMs(steps.Shown(false)))) return {};
  const std::optional<std::uint32_t> distance = Distance(timeline, dearest);
  if (!distance && WaitsMayExplain(timeline, share_pct)) {
    return {
        Finding::CannotTell("some steps take longer, at no regular distance, while the training thread waited for a "
                            "processor")};
  }
  const double each_ms = MeanExcessMs(timeline, dearest);
  const double dearest_ms = each_ms * static_cast<double>(dearest.size());
  if (!distance && each_ms < steps.median_ms()) {
    return {
        Finding::CannotTell("some steps take longer, at no regular distance, and not twice as long as others: a busy "
                            "machine does that too")};
  }
  const bool regular = distance && dearest.size() >= kMinRegular && shown_ms >= kMinShown * each_ms;
  if ((alone || (!seen && !regular)) && each_ms < kMuchLongerUnseen * steps.median_ms()) return {};
  if (!alone && !distance && seen && StepsThatShow(timeline, steps, places.front()) < 2) {
    return {Finding::CannotTell(
        "some steps take longer, at no regular distance, and no two of them are known to do so at the same line")};
  }
  const double cost_ms = dearest_ms / static_cast<double>(steps.count());
  const std::string title = fmt::format(
      "some steps hold other work: {} one takes {} more than the {} of an ordinary one, {:.0f} % of all steps' time",
      HowOften(distance, steps, dearest), MsText(each_ms), MsText(steps.median_ms()), SharePct(timeline, cost_ms));
  // A single long step may be a one-off.
  Finding finding = alone ? CostingAtMost(timeline, cost_ms, title) : Costing(timeline, cost_ms, title);
  for (const PlaceTime& place : places) {
    if (finding.evidence.size() == kMostPlaces || place.ms < places.front().ms / 10) break;
    finding.evidence.push_back(
        {fmt::format("{} more per long step: {}{}", MsText(place.ms), WhatText(place), HintFor(place)),
         steps.long_ones().size(), place.where, cost_ms * place.ms / shown_ms});
  }
  if (places.empty())
    finding.evidence.push_back({"no line of them is known: more steps show more of them (--steps)", 1, {}});
  return {std::move(finding)};
}

constexpr std::array kClaims = {Claim{Time::kLongSteps}, Claim{Time::kAnyLine, Standing::kDoubted}};

}  // namespace

extern const Analyzer kUnevenSteps{.id = "uneven-steps",
                                   .question = "Do some steps hold work that others do not?",
                                   .run = Run,
                                   .needs = kNeedsOps | kNeedsQuiet,
                                   .claims = kClaims,
                                   .whatever_runs = true};

}  // namespace loopscope
