// What probes recorded about the program's own settings: Trace::facts and RankSummary::facts, by key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/core/trace/trace.h"

namespace loopscope {

// As it was recorded ("on", "2", "train.py:36"); empty when no probe did.
std::string_view FactOf(const Trace& trace, std::string_view key);

// nullopt when none was recorded, or it is not a whole number.
std::optional<std::int64_t> NumberFact(const std::map<std::string, std::string>& facts, std::string_view key);
std::optional<std::int64_t> NumberFact(const Trace& trace, std::string_view key);

}  // namespace loopscope
