// The text of each rule (analyzers/<stem>.md), embedded at build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/report/finding.h"

namespace loopscope {

// The whole text, in Markdown; empty when there is no such rule.
std::string_view RuleText(std::string_view id);

// The first line without "# <id>: ".
std::string RuleTitle(std::string_view id);

// The first paragraph below "## Fix", on one line: what a finding advises.
std::string RuleAdvice(std::string_view id);

// The code blocks below "## Fix", ```cpp and ```python. Where the paragraph above one says "before and after", its
// first half is before: up to the first empty line, or the first of two lines. Else the whole is after.
std::vector<CodeExample> RuleExamples(std::string_view id);

}  // namespace loopscope
