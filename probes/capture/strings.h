// Ids for the strings and call stacks of the capture: defined in the file once, at their first use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loopscope::capture {

// The id of `text`, cut to wire::kMaxStringBytes. 0 for the empty string, and where the definition was not written.
// A thread that asks again for the same text takes no lock.
std::uint32_t StringId(std::string_view text) noexcept;

// The id of a stack of `count` frames (at most 256), innermost first. `is_new` (may be null) says whether this call
// wrote its definition. 0 where it was not written.
std::uint32_t StackId(const std::uint64_t* frames, std::size_t count, bool* is_new = nullptr) noexcept;

// The tables: locked around fork(), emptied when a file is opened.
void LockStrings() noexcept;
void UnlockStrings() noexcept;
void ForgetStrings() noexcept;
bool HoldsStrings() noexcept;  // this thread is defining one

}  // namespace loopscope::capture
