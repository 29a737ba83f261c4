// Treatments that the program, or a shim in it, applies itself: the LibTorch probe does not apply these.
#pragma once

#include <string_view>

namespace loopscope::loop {

void Claim(std::string_view key) noexcept;
bool Claimed(std::string_view key) noexcept;

// Writes the facts "program.language" ("python" where an interpreter is loaded, else "c++") and "program.knobs" (the
// claimed keys, with commas): which treatments something in this program can apply.
void WriteProgramFacts() noexcept;

}  // namespace loopscope::loop
