// Call stacks of this process, as return addresses, and the map of modules for symbolising them later.
#pragma once

#include <cstdint>

namespace loopscope {

// Id of the calling thread's stack, at most 64 frames, innermost first; 0 where it could not be taken. The first call
// is slow (it loads unwind tables): WarmUpCallStacks() does it ahead of time.
std::uint32_t CallStackId() noexcept;
void WarmUpCallStacks() noexcept;

// From now on CallStackId() calls `taker`: an interpreter's stacks instead of native ones.
void TakeStacksWith(std::uint32_t (*taker)() noexcept) noexcept;

// Writes a record for every executable mapping of a file that has none yet.
void WriteModules() noexcept;

}  // namespace loopscope
