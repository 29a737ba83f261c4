// What a gate says in words, the same in every format (see wording.h).
#pragma once

#include <string>

#include "profiler/core/report/gate.h"

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

}  // namespace loopscope
