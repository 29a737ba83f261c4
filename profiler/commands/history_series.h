// Runs of one command on one machine, in the order of time, and where their level changed.
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

  // Of the level that begins with run `i`, against the one before; empty where none begins there.
  struct Change {
    double before_ms, after_ms;
    // What the gate of the first run measured in pairs of the same day: that run's program against its base.
    std::optional<double> against_base = {};
    double pct() const { return 100 * (after_ms / before_ms - 1); }
  };
  std::optional<Change> ChangeAt(std::size_t i) const;
  double fastest_ms() const;
  double slowest_ms() const;
};

// Those that were timed, by command and machine.
std::vector<HistorySeries> SeriesOf(const std::vector<HistoryRun>& runs);

// Whether this run's program changed, or what its base has too: the machine, or an edit that no gate saw. "the program:
// +7.9 % against its base, measured beside it". "" where no gate's pairs tell.
std::string CauseText(const HistorySeries::Change& change);

// "pass (+0.8 % against its base)"; of a report the costliest findings, or `rule`'s where one is asked for.
std::string RunText(const HistoryRun& run, const std::string& rule);

}  // namespace loopscope
