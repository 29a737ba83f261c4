#include "profiler/experiments/launch_series.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/core/text.h"
#include "profiler/experiments/journal.h"

namespace loopscope {
namespace {

constexpr double kTimesLongest = 5, kSlackS = 60;

LaunchResult InterruptedLaunch() {
  LaunchResult result;
  result.status = {LaunchEnd::kInterrupted};
  return result;
}

}  // namespace

void LaunchSeries::Show(const std::string& what) {
  if (!events_.progress) return;
  const double left = expected_until_s_ < 0 ? -1 : std::max(0.0, expected_until_s_ - spent_s_);
  events_.progress({done_, done_ + std::max(expected_, 1), left, what});
}

void LaunchSeries::Count(const LaunchResult& result) {
  spent_s_ += result.wall_s;
  if (result.ok()) {
    longest_s_ = std::max(longest_s_, result.wall_s);
    slowest_ms_ = std::max(slowest_ms_, result.ms_per_step);
  }
  ++done_;
  --expected_;
}

void LaunchSeries::Note(const LaunchSpec& spec, const LaunchResult& result) {
  if (journal_ && !journal_->Append(spec, result) && warning_.empty()) {
    warning_ = "the list of finished launches could not be written: this experiment cannot be resumed";
  }
}

double LaunchSeries::TimeoutOf(const LaunchSpec& spec) const {
  if (!bounds_ || longest_s_ <= 0 || spec.target || spec.live) return spec.timeout_s;
  const double steps_s = (spec.warmup + spec.steps) * slowest_ms_ / 1e3;
  return std::min(spec.timeout_s, kSlackS + kTimesLongest * (longest_s_ + steps_s));
}

LaunchResult LaunchSeries::Launch(const LaunchSpec& spec) {
  if (journal_) {
    if (std::optional<LaunchResult> finished = journal_->Finished(spec)) return *finished;
  }
  if (stopped()) {
    stopped_ = true;
    return InterruptedLaunch();
  }
  LaunchSpec bounded = spec;
  bounded.timeout_s = TimeoutOf(spec);
  LaunchResult result = launcher_(bounded);
  if (events_.stop && events_.stop()) {
    stopped_ = true;
    return InterruptedLaunch();
  }
  Note(spec, result);
  return result;
}

LaunchResult LaunchSeries::Run(const LaunchSpec& spec) {
  Show(spec.label);
  LaunchResult result = Launch(spec);
  Count(result);
  return result;
}

void LaunchSeries::SpendBefore(const std::string& label, double seconds) {
  LaunchSpec spec;
  spec.label = label;
  std::optional<LaunchResult> noted = journal_ ? journal_->Finished(spec) : std::nullopt;
  if (!noted && seconds <= 0) return;
  if (!noted) {
    noted.emplace();
    noted->wall_s = seconds;
    Note(spec, *noted);
  }
  spent_s_ += noted->wall_s;
  longest_s_ = std::max(longest_s_, noted->wall_s);
}

std::optional<std::vector<LaunchResult>> LaunchSeries::AllFinished(std::span<const LaunchSpec> specs) const {
  std::vector<LaunchResult> results;
  for (const LaunchSpec& spec : specs) {
    std::optional<LaunchResult> finished = journal_ ? journal_->Finished(spec) : std::nullopt;
    if (!finished) return std::nullopt;
    results.push_back(std::move(*finished));
  }
  return results;
}

std::optional<std::vector<LaunchResult>> LaunchSeries::LaunchTogether(std::span<const LaunchSpec> specs) {
  std::vector<LaunchSpec> bounded(specs.begin(), specs.end());
  for (LaunchSpec& spec : bounded) spec.timeout_s = TimeoutOf(spec);
  Result<std::vector<LaunchResult>> results = launcher_.side_by_side()(bounded);
  if (!results) {
    why_no_turns_ = results.error().what;
    return std::nullopt;
  }
  if (std::ranges::any_of(*results,
                          [](const LaunchResult& one) { return one.status.end == LaunchEnd::kTookNoTurns; })) {
    why_no_turns_ = "a program went on without waiting for its turn";
    return std::nullopt;
  }
  return std::move(*results);
}

LaunchResult LaunchSeries::RepeatAlone(LaunchSpec spec, const LaunchResult& beside_others) {
  spec.turn_steps = 0;
  spec.label += ", again";
  LaunchResult result = Run(spec);
  if (result.ok()) {
    why_no_turns_ = "a program that works alone failed beside the others: " + FailureOf(beside_others);
  }
  return result;
}

std::vector<LaunchResult> LaunchSeries::RunTogether(std::span<const LaunchSpec> specs) {
  Show(specs.front().label + " and the others, in turns");
  std::optional<std::vector<LaunchResult>> results = AllFinished(specs);
  const bool replayed = results.has_value();
  if (!replayed && !stopped()) results = LaunchTogether(specs);
  stopped_ = stopped();
  if (stopped_) return std::vector<LaunchResult>(specs.size(), InterruptedLaunch());
  if (!results) {
    results.emplace();
    for (LaunchSpec spec : specs) {
      spec.turn_steps = 0;
      results->push_back(Insist(spec));
    }
    return std::move(*results);
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Count((*results)[i]);
    if (!replayed) Note(specs[i], (*results)[i]);
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!(*results)[i].ok()) (*results)[i] = RepeatAlone(specs[i], (*results)[i]);
  }
  return std::move(*results);
}

LaunchResult LaunchSeries::Insist(const LaunchSpec& spec) {
  LaunchResult result = Run(spec);
  const LaunchEnd end = result.status.end;
  if (result.ok() || end == LaunchEnd::kInterrupted) return result;
  const std::string failure = FailureOf(result);
  if (end != LaunchEnd::kTimeout && !failures_.contains(failure)) {
    LaunchSpec again = spec;
    again.label += ", again";
    result = Run(again);
    if (result.ok() || result.status.end == LaunchEnd::kInterrupted) return result;
  }
  failures_.insert(FailureOf(result));
  ShowPlan({fmt::format("{} failed: {}", spec.label, FailureOf(result))});
  return result;
}

void LaunchSeries::Expect(int launches, double seconds) {
  expected_ = launches;
  expected_until_s_ = seconds < 0 ? -1 : spent_s_ + seconds;
}

void LaunchSeries::ShowPlan(const std::vector<std::string>& lines) const {
  if (events_.plan) events_.plan(lines);
}

void LaunchSeries::ShowEnd() const {
  if (events_.progress) events_.progress({done_, done_, 0, "done"});
}

std::string FailureOf(const LaunchResult& result) {
  std::string_view tail = result.tail;
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == ' ')) tail.remove_suffix(1);
  const std::size_t line = tail.rfind('\n');
  if (line != tail.npos) tail.remove_prefix(line + 1);
  const std::string status = result.status.Text();
  return tail.empty() ? status : fmt::format("{}: {}", status, tail);
}

LaunchSpec SpecOf(const ExperimentOptions& options, const std::string& clock, LaunchWindow window, std::string label) {
  LaunchSpec spec;
  spec.warmup = window.warmup;
  spec.steps = window.steps;
  spec.whole_epochs = window.whole_epochs;
  spec.clock = clock;
  if (options.seed_programs) spec.seed = options.seed;
  spec.label = std::move(label);
  spec.timeout_s = options.launch_timeout_s;
  return spec;
}

Error CommandFailed(const std::string& command, const LaunchResult& result) {
  const bool no_steps = result.status.end == LaunchEnd::kNoSteps;
  return {.what = no_steps ? "the training command never finished the steps that were asked for"
                           : fmt::format("the training command failed ({})", result.status.Text()),
          .where = command,
          .next = result.tail.empty() ? "try `loopscope run` with it first" : result.tail,
          .exit_code = 4};
}

Error Interrupted() {
  return {"interrupted before anything was measured", "", "--resume goes on with the launches that are finished", 3};
}

namespace {

Result<std::unique_ptr<Journal>> OpenJournal(const std::filesystem::path& path, const std::string& identity,
                                             const ExperimentOptions& options) {
  if (path.empty()) return std::unique_ptr<Journal>();
  return Journal::Open(path, TextHash(identity), options.resume);
}

void Finish(const LaunchSeries& series, Report& report) {
  if (!series.warning().empty()) report.quality.warnings.push_back(series.warning());
  if (!series.why_no_turns().empty()) {
    report.quality.warnings.push_back("launches were made one after another, not side by side: " +
                                      series.why_no_turns());
  }
  series.ShowEnd();
}

}  // namespace

Result<void> RunJournaled(const std::string& identity, const std::filesystem::path& path,
                          const ExperimentOptions& options, const Launcher& launcher, const ExperimentEvents& events,
                          Report& report, const std::function<Result<void>(LaunchSeries&)>& procedure) {
  Result<std::unique_ptr<Journal>> journal = OpenJournal(path, identity, options);
  if (!journal) return journal.error();
  LaunchSeries series(launcher, events, std::move(*journal), options.bound_launches);
  Result<void> done = procedure(series);
  Finish(series, report);
  return done;
}

}  // namespace loopscope
