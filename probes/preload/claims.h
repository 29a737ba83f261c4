// Treatments that the program, or a shim in it, applies itself: the LibTorch probe does not apply these.
#pragma once

#include <string_view>

namespace loopscope::loop {

void Claim(std::string_view key) noexcept;
bool Claimed(std::string_view key) noexcept;

// Writes the fact "program.language" ("python" where an interpreter is loaded, else "c++") and a record of each claimed
// key: which treatments something in this program can apply.
void WriteProgramFacts() noexcept;

}  // namespace loopscope::loop
