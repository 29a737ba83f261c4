// Every launch of an experiment passes here: replayed from the journal or made, counted against the budget, shown.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "profiler/core/launch.h"
#include "profiler/core/report/report.h"
#include "profiler/core/result.h"
#include "profiler/experiments/journal.h"
#include "profiler/experiments/launch_window.h"
#include "profiler/experiments/options.h"

namespace loopscope {

// Launches that start up at the same time if they take turns: a start-up mostly keeps one processor busy.
inline constexpr std::size_t kStartAtOnce = 2;

class LaunchSeries {
 public:
  // `journal` may be null.
  // With `bounds`, a launch that takes much longer than those before it is ended early (TimeoutOf).
  LaunchSeries(const Launcher& launcher, const ExperimentEvents& events, std::unique_ptr<Journal> journal, bool bounds)
      : launcher_(launcher), events_(events), journal_(std::move(journal)), bounds_(bounds) {}

  LaunchResult Run(const LaunchSpec& spec);
  // A failed launch is repeated once, since failures may be sporadic; not if it hung, or if an earlier repetition
  // failed with the same message. Failures are shown.
  LaunchResult Insist(const LaunchSpec& spec);

  // Side by side, in turns (Launcher::SideBySide); only where takes_turns(). What fails there is repeated alone. Where
  // the programs cannot run so, they are launched one after another, now and from then on, and a warning says why.
  std::vector<LaunchResult> RunTogether(std::span<const LaunchSpec> specs);
  bool takes_turns() const { return launcher_.side_by_side() && why_no_turns_.empty(); }

  // Time spent before the first launch counts against the budget; a resumed experiment keeps its recorded
  // time.
  void SpendBefore(const std::string& label, double seconds);

  bool stopped() const { return stopped_ || (events_.stop && events_.stop()); }
  double spent_s() const { return spent_s_; }
  // Timeout in seconds: the spec's, or less if earlier launches show that it would have hung long before.
  double TimeoutOf(const LaunchSpec& spec) const;
  void Expect(int launches, double seconds);  // what is still to come
  void ShowPlan(const std::vector<std::string>& lines) const;
  void ShowEnd() const;
  const std::string& warning() const { return warning_; }  // of the journal; empty when all is well
  const std::string& why_no_turns() const { return why_no_turns_; }

 private:
  LaunchResult Launch(const LaunchSpec& spec);
  std::optional<std::vector<LaunchResult>> LaunchTogether(std::span<const LaunchSpec> specs);
  LaunchResult RepeatAlone(LaunchSpec spec, const LaunchResult& beside_others);
  std::optional<std::vector<LaunchResult>> AllFinished(std::span<const LaunchSpec> specs) const;
  void Show(const std::string& what);
  void Count(const LaunchResult& result);
  void Note(const LaunchSpec& spec, const LaunchResult& result);

  const Launcher& launcher_;
  const ExperimentEvents& events_;
  std::unique_ptr<Journal> journal_;
  bool bounds_ = false, stopped_ = false;
  int done_ = 0, expected_ = 0;
  double spent_s_ = 0, expected_until_s_ = -1;
  double longest_s_ = 0, slowest_ms_ = 0;  // a launch that ended well, and its steps
  std::set<std::string> failures_;         // FailureOf launches that also failed when repeated
  std::string warning_, why_no_turns_;
};

// Describes a failed launch: its status and the last line it printed.
std::string FailureOf(const LaunchResult& result);

// Settings shared by all launches of an experiment.
LaunchSpec SpecOf(const ExperimentOptions& options, const std::string& clock, LaunchWindow window, std::string label);

Error CommandFailed(const std::string& command, const LaunchResult& result);  // exit 4
Error Interrupted();                                                          // exit 3

// Frame of every experiment: its journal, the series of its launches, and the errors of
// both.

// Runs `procedure` on a series of launches whose journal is the file at `path`, none where that is empty. `identity`:
// all that must be the same for an interrupted experiment to go on. Errors: Journal::Open's, else the procedure's.
Result<void> RunJournaled(const std::string& identity, const std::filesystem::path& path,
                          const ExperimentOptions& options, const Launcher& launcher, const ExperimentEvents& events,
                          Report& report, const std::function<Result<void>(LaunchSeries&)>& procedure);

}  // namespace loopscope
