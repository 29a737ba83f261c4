// All treatments, in the order of treatments.def.
#pragma once

#include <span>
#include <string_view>

#include "profiler/core/trace/trace.h"
#include "profiler/core/treatment.h"

namespace loopscope {

std::span<const Treatment* const> AllTreatments();

// Null when none has that id.
const Treatment* FindTreatment(std::string_view id);

// Whether something in the program can apply it: its language (the fact "program.language") and its knobs say what
// there is. True where the language is not known.
bool CanApply(const Treatment& treatment, const FactMap& facts, const Knobs& knobs);

bool Cures(const Treatment& treatment, std::string_view rule);

// The first treatment that cures the rule; null when none does.
const Treatment* TreatmentFor(std::string_view rule);

}  // namespace loopscope
