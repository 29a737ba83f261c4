// What reports say about a sweep and about times to a target, the same in every format: texts on one line.
#pragma once

#include <string>
#include <vector>

#include "profiler/core/report/report.h"

namespace loopscope {

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
