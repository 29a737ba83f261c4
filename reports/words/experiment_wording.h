// What gates, sweeps and times to a target show, in words, the same in every format (see wording.h): texts on one line.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/report/gate.h"
#include "profiler/core/report/report.h"

namespace loopscope {

std::string GateHeadline(const GateFacts& gate);  // "FAIL: slower by 8.0 % …", of several the worst and how many passed
std::string GateText(const GateRow& row);         // "FAIL: slower by 8.0 % …"
std::string GateTimeText(const GateRow& row);     // "9 pairs, 2.3 % noise: 4 of 5 gates find a slowdown of 3.1 %; …"
std::string GateCountersText(const GateRow& row);      // "41 counters compared, 1 fails, 2 others changed"
std::string CounterText(const CounterRow& counter);    // "host reads: 1 -> 2 per step: a new synchronising call"
std::string CounterPlaceText(const CounterPlace& at);  // "train.py:41 in step: 0 -> 1 per step"
inline constexpr char kGrownText[] = "What took longer in one traced launch of each (where to look, no verdict)";
// "line train.py:41 in step: time.sleep: 0.10 ms -> 2.10 ms per step, a line that the other side does not have"
std::string GrownText(const GrownTime& grown);

std::string SweepHeadline(const SweepFacts& sweep);
std::string CellText(const SweepFacts& sweep, const SweepCell& cell);      // "2, off"; "as it is"
std::string CellTimeText(const SweepFacts& sweep, const SweepCell& cell);  // "10.4 ms/step"; why there is none
std::string CellRatioText(const SweepCell& cell);                          // "1.31x [1.28, 1.35]"; may be empty
std::string CellNoteText(const SweepCell& cell);                           // "the program's own", "best"; may be empty
std::string SweepComparisonText(const SweepFacts& sweep, const SweepComparison& one);

std::string TargetHeadline(const TargetFacts& facts);           // "accuracy >= 0.9, read from its output, within 60 s"
std::string TargetArmText(const TargetArm& arm);                // "9 of 12 reached it; median 34.1 s, 220 steps"
std::string TargetComparisonText(const TargetComparison& one);  // "2.1x [1.9, open], 12 seeds; in steps 2.0x …"

}  // namespace loopscope
