// All treatments, in the order of treatments.def.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "profiler/core/treatment.h"

namespace loopscope {

std::span<const Treatment* const> AllTreatments();

// Null when none has that id.
const Treatment* FindTreatment(std::string_view id);

// Whether something in the program can apply it: the facts of its trace ("program.language", "program.knobs") say what
// there is. True where they do not say.
bool CanApply(const Treatment& treatment, const std::map<std::string, std::string>& facts);

bool Cures(const Treatment& treatment, std::string_view rule);

// The first treatment that cures the rule; null when none does.
const Treatment* TreatmentFor(std::string_view rule);

}  // namespace loopscope
