#include "profiler/experiments/journaled.h"

#include "profiler/core/text.h"
#include "profiler/experiments/journal.h"

namespace loopscope {
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
