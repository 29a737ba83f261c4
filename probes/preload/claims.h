// Treatments that the program, or a shim in it, applies itself: the LibTorch probe leaves those alone.
#pragma once

#include <string_view>

namespace loopscope::loop {

void Claim(std::string_view key) noexcept;
bool Claimed(std::string_view key) noexcept;

}  // namespace loopscope::loop
