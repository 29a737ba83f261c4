// Counts as people write them: "1 call", "2.5 calls", "160 times". Counts that are not finite give "?".
#pragma once

#include <string>
#include <string_view>

namespace loopscope {

// Three digits, never an exponent: "1", "3.25", "160", "12,300".
std::string CountText(double count);
// "once", "twice", "160 times", "2.5 times".
std::string TimesText(double count);
// "1 call", "1.5 calls"; the plural is the singular with an s unless it is given.
std::string Counted(double count, std::string_view singular, std::string_view plural = {});

}  // namespace loopscope
