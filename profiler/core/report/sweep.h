// What a sweep found: every cell of a grid over settings was launched in random blocks, and the quickest was compared
// with its neighbours on fresh launches. Numbers are absent where unknown.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/report/trial.h"

namespace loopscope {

struct SweepAxis {
  std::string key;                  // "loader.workers"
  std::vector<std::string> values;  // in the order in which they were given
};

enum class CellVerdict { kMeasured, kBest, kNotApplicable, kFailed, kLeftOut };
// "measured", "best", "not-applicable", "failed", "left-out" (the budget had no time for it)
std::string_view CellVerdictName(CellVerdict verdict);

struct SweepCell {
  std::vector<std::string> values;  // one per axis; empty: the unchanged program, outside the grid
  bool own = false;                 // these are the program's own settings
  CellVerdict verdict = CellVerdict::kMeasured;
  std::string reason;
  int n = 0;                                  // launches in the grid's blocks
  std::optional<double> ms;                   // per step, or per sample: SweepFacts::metric
  std::optional<double> samples_per_s;        // unknown without samples per step
  std::optional<double> epoch_ms;             // extra time at the end and start of an epoch
  std::optional<double> ratio;                // ms over the best cell's, within blocks: >= 1 except for noise
  std::optional<std::array<double, 2>> ci95;  // of the ratio, unadjusted; the best was picked from the same launches
  std::optional<double> peak_bytes;
  std::optional<double> published_s;  // what others report for these settings: SweepFacts::published
};

// The best cell against another on fresh launches.
struct SweepComparison {
  int cell = 0;                   // index of the other
  std::optional<double> speedup;  // of the best over it
  std::optional<std::array<double, 2>> ci95;
  int n = 0;
  std::optional<double> p, p_holm;
  std::string method;                          // exact | pooled
  TrialVerdict verdict = TrialVerdict::kOpen;  // faster, slower, equivalent, inconclusive or failed
  std::string reason;
};

struct SweepFacts {
  std::vector<SweepAxis> axes;
  bool loader_only = false;
  std::string metric = "step-time";  // step-time | sample-time, where the cells' steps differ in number of samples
  std::vector<SweepCell> cells;      // the last axis varies fastest; then the unchanged program, unless a cell is that
  std::optional<int> best;           // index into cells
  bool stands_out = false;           // better than every neighbour that was compared
  std::string verdict;               // one sentence
  std::vector<SweepComparison> comparisons;
  std::vector<std::string> notes;
  std::string published;  // whose figures published_s are; empty: none
};

}  // namespace loopscope
