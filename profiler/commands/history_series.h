// Runs of one command on one machine, in the order of time, where their level changed, and the page that shows them.
#pragma once

#include <string>
#include <vector>

#include "profiler/experiments/gate/history_file.h"

namespace loopscope {

struct HistorySeries {
  std::string command, machine;
  std::vector<HistoryRun> runs;      // timed ones
  std::vector<std::size_t> changes;  // the first run of each level but the first
  std::vector<double> levels;        // ms per step, the geometric mean of each level's runs

  // Change of the level that begins with run `i`, against the one before; empty if none begins there.
  struct Change {
    double before_ms, after_ms;
    // What the first run's gate measured in pairs: that run's program against its base.
    std::optional<double> against_base = {};
    double pct() const { return 100 * (after_ms / before_ms - 1); }
  };
  std::optional<Change> ChangeAt(std::size_t i) const;
  double fastest_ms() const;
  double slowest_ms() const;
};

// Those that were timed, by command and machine.
std::vector<HistorySeries> SeriesOf(const std::vector<HistoryRun>& runs);

// Whether this run's program changed, or something that its base shares: the machine, or an edit that no gate saw. "the
// program: +7.9 % against its base, measured beside it". "" without a gate's pairs.
std::string CauseText(const HistorySeries::Change& change);

// "pass (+0.8 % against its base)"; for a report the costliest findings, or `rule`'s if one is given.
std::string RunText(const HistoryRun& run, const std::string& rule);

// The series of a history as one HTML page that loads nothing from elsewhere.

// `rule`: see RunText.
std::string HistoryPage(const std::vector<HistorySeries>& series, const std::string& rule);

}  // namespace loopscope
