#include "profiler/core/steps/step_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace loopscope {
namespace {

constexpr std::size_t kMinUndisturbed = 5;  // fewer do not stand for the loop: slowed steps count too

bool AnyIn(const std::vector<std::int64_t>& sorted, const Interval& time) {
  const auto found = std::ranges::lower_bound(sorted, time.start_ns);
  return found != sorted.end() && *found < time.end_ns;
}

}  // namespace

StepTable::StepTable(const Trace& trace, const StepLedger& ledger, std::span<const StepEnd> ends,
                     std::int64_t first_start_ns)
    : closes_ns_(ledger.closes_ns().value_or(INT64_MAX)) {
  AddSteps(trace, ends, first_start_ns);
  if (steps_.empty()) return;
  MarkRecorded(trace, ledger);
  MarkEpochs(ledger);
}

void StepTable::AddSteps(const Trace& trace, std::span<const StepEnd> ends, std::int64_t first_start_ns) {
  const Interval& skipped = trace.quality.skipped.time;
  for (const StepEnd& end : ends) {
    Step step;
    step.time = {steps_.empty() ? first_start_ns : steps_.back().time.end_ns, end.time_ns};
    if (step.time.start_ns < skipped.end_ns && end.time_ns > skipped.start_ns) step.time.start_ns = skipped.end_ns;
    step.samples = end.samples;
    step.record = end.record;
    if (step.time.length() > 0 || steps_.empty()) steps_.push_back(step);
  }
  if (!steps_.empty() && steps_.front().time.length() <= 0) steps_.erase(steps_.begin());
  // The last name wins: the primary optimizer is chosen in warm-up.
  if (!ends.empty()) clock_ = trace.text(ends.back().clock);
}

// By its record. Without one, by marks, which are written a moment after a step's end: 2 % of it may be recorded
// otherwise than the rest. Of following, the end of a bounded run's is written later still: less than 5 % of a step do
// not count.
void StepTable::MarkRecorded(const Trace& trace, const StepLedger& ledger) {
  const bool all_detail = ledger.detailed().intervals().empty() && !trace.details.empty();
  // Without a mark where the window opens the first 10 steps are warm-up, or a fifth of them.
  const std::size_t unmarked = std::min<std::size_t>(10, (steps_.size() + 4) / 5);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    const std::int64_t length = step.time.length();
    step.operators = ledger.without_operators().total_ns(step.time) * 50 <= length;
    if (step.record != kNone) {
      const unsigned bits = trace.steps[step.record].bits;
      step.operators &= (bits & wire::kStepOperators) != 0;  // what was recorded may be left out
      step.detail = (bits & wire::kStepDetailed) != 0;
      step.followed = (bits & wire::kStepFollowed) != 0;
      step.warmup = (bits & wire::kStepWarmUp) != 0;
      continue;
    }
    step.detail = all_detail || ledger.detailed().total_ns(step.time) * 50 >= length * 49;
    step.followed = ledger.followed().total_ns(step.time) * 20 > length;
    step.warmup = ledger.opens_ns() ? step.time.middle_ns() < *ledger.opens_ns() : i < unmarked;
  }
}

// The first epoch is whole where its start was seen; one with steps left out of the recording is not.
void StepTable::MarkEpochs(const StepLedger& ledger) {
  const std::int64_t first_end_ns = steps_.front().time.end_ns;
  epoch_turns_ = ledger.EpochTurns(first_end_ns);
  bool whole = !ledger.epoch_starts().empty() && ledger.epoch_starts().front() < first_end_ns;
  std::size_t from = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (i > 0 && steps_[i - 1].time.end_ns < steps_[i].time.start_ns) whole = false;
    steps_[i].boundary = AnyIn(epoch_turns_, steps_[i].time);
    if (!steps_[i].boundary) continue;
    if (whole && i > from) steps_per_epoch_ = i - from;
    whole = true;
    from = i;
  }
}

int StepTable::At(std::int64_t time_ns) const {
  const auto after =
      std::ranges::partition_point(steps_, [&](const Step& step) { return step.time.start_ns <= time_ns; });
  if (after == steps_.begin() || time_ns >= (after - 1)->time.end_ns) return -1;
  return static_cast<int>(after - 1 - steps_.begin());
}

void StepTable::MarkEvaluations(const IntervalSet& evaluation) {
  for (Step& step : steps_) step.evaluates = evaluation.total_ns(step.time) > 0;
}

double StepTable::MedianNs(std::span<const std::uint32_t> of) const {
  std::vector<double> lengths;
  for (const std::uint32_t i : of) lengths.push_back(static_cast<double>(steps_[i].time.length()));
  const auto middle = lengths.begin() + std::ssize(lengths) / 2;
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

// The loop has not settled while step after step, from the first of the window on, takes much longer than those of the
// window's second half do: caches fill, a compiler or an allocator warms up.
void StepTable::MarkTransient() {
  constexpr double kMuchLonger = 1.5;
  constexpr std::size_t kFewestSteps = 12;
  std::vector<std::uint32_t> plain;
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].plain() && steps_[i].time.middle_ns() <= closes_ns_) plain.push_back(i);
  }
  if (plain.size() < kFewestSteps) return;
  const double settled_ns = kMuchLonger * MedianNs(std::span(plain).subspan(plain.size() / 2));
  // Where details slow a step down, it proves nothing, unless all are recorded in detail.
  const bool all_detail = std::ranges::all_of(plain, [&](std::uint32_t i) { return steps_[i].detail; });
  std::size_t count = 0, proofs = 0;
  while (count < plain.size() / 2 && static_cast<double>(steps_[plain[count]].time.length()) > settled_ns) {
    proofs += all_detail || !steps_[plain[count]].disturbed();
    ++count;
  }
  if (proofs < 2) return;
  // Those that details slowed down are in no mean anyway, and rules need them.
  for (std::size_t i = 0; i < count; ++i) {
    steps_[plain[i]].transient = all_detail || !steps_[plain[i]].disturbed();
  }
}

// After the window not everything is recorded.
void StepTable::Choose() {
  MarkTransient();
  std::erase_if(steps_, [&](const Step& step) {
    return step.time.middle_ns() > closes_ns_ && !step.boundary && !step.evaluates;
  });
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    if (!steps_[i].plain() || steps_[i].time.middle_ns() > closes_ns_) continue;
    if (!steps_[i].disturbed()) undisturbed_.push_back(i);
    if (steps_[i].followed && !steps_[i].detail) continue;
    timed_.push_back(i);
    if (steps_[i].operators) steady_.push_back(i);
  }
  if (undisturbed_.size() < std::min(kMinUndisturbed, timed_.size())) undisturbed_ = timed_;
  ChooseParted();
  Summarize();
}

// Usual steps that details or followed calls slowed down, and that took `times` the median of their like.
std::vector<std::uint32_t> StepTable::LongDisturbed(double times) const {
  std::map<std::pair<bool, bool>, std::vector<std::uint32_t>> alike;
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.plain() && step.disturbed() && step.operators) alike[{step.detail, step.followed}].push_back(i);
  }
  std::vector<std::uint32_t> found;
  for (const auto& [recorded, of] : alike) {
    const double bar_ns = times * MedianNs(of);
    std::ranges::copy_if(of, std::back_inserter(found),
                         [&](std::uint32_t i) { return static_cast<double>(steps_[i].time.length()) > bar_ns; });
  }
  return found;
}

// Where the operators of some steps only were recorded, these stand for the others: long ones for long ones, so that
// what every tenth step holds is neither missed nor counted too often.
void StepTable::ChooseParted() {
  constexpr double kLong = 2, kVeryLong = 10;  // times the median
  constexpr double kMuch = 0.3;                // of all steps' time, in very long ones
  for (const std::uint32_t i : undisturbed_) {
    if (steps_[i].operators) parted_.push_back({i});
  }
  if (parted_.empty()) {
    for (const std::uint32_t i : steady_.empty() ? undisturbed_ : steady_) parted_.push_back({i});
    return;
  }
  if (parted_.size() == undisturbed_.size()) return;
  const double median_ns = MedianNs(undisturbed_);
  const auto length = [&](std::uint32_t i) { return static_cast<double>(steps_[i].time.length()); };
  const auto kind = [&](std::uint32_t i) {
    return (length(i) > kLong * median_ns) + (length(i) > kVeryLong * median_ns);
  };
  std::array<double, 3> all{}, known{};  // ns of usual steps, of long and of very long ones
  for (const std::uint32_t i : undisturbed_) all[kind(i)] += length(i);
  const auto add = [&](std::uint32_t i) {
    parted_.push_back({i});
    known[kind(i)] += length(i);
  };
  for (const PartedStep& one : parted_) known[kind(one.index)] += length(one.index);
  const auto missing = [&](int of) { return all[of] > 0 && known[of] == 0; };
  const std::array<bool, 3> missed{false, missing(1), missing(2)};
  for (const std::uint32_t i : LongDisturbed(kLong)) {
    if (missed[kind(i)]) add(i);
  }
  const bool much = all[2] > kMuch * (all[0] + all[1] + all[2]);
  if (missing(2) && much) {
    // Their time is nobody's: what others do, they do not do for so long.
    for (const std::uint32_t i : undisturbed_) {
      if (kind(i) == 2) add(i);
    }
  }
  // One kind of long steps stands for the other.
  const bool apart = !missing(1) && !missing(2) && all[2] > 0;
  if (!apart) all = {all[0], all[1] + all[2], 0}, known = {known[0], known[1] + known[2], 0};
  if (known[0] == 0 || missing(1)) return;
  for (PartedStep& one : parted_) {
    const int of = apart ? kind(one.index) : std::min(kind(one.index), 1);
    one.weight = all[of] / known[of];
  }
}

void StepTable::KeepSteady(std::size_t count) {
  steady_.resize(count);
  Summarize();
}

void StepTable::Summarize() {
  if (steady_.empty()) return;
  detail_steps_ = static_cast<int>(std::ranges::count_if(steady_, [&](std::uint32_t i) { return steps_[i].detail; }));
  double total_ns = 0, boundary_ns = 0;
  int boundaries = 0;
  for (const std::uint32_t i : undisturbed_) total_ns += static_cast<double>(steps_[i].time.length());
  for (const Step& step : steps_) {
    if (!step.boundary || step.warmup) continue;
    boundary_ns += static_cast<double>(step.time.length());
    ++boundaries;
  }
  mean_ms_ = total_ns / static_cast<double>(undisturbed_.size()) / 1e6;
  if (boundaries > 0) per_epoch_ms_ = boundary_ns / boundaries / 1e6 - mean_ms_;
}

}  // namespace loopscope
