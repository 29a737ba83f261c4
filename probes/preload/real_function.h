// The program's own function that this library interposes.
#pragma once

namespace loopscope {

// The next one of that name in the program, or LibTorch's where that was opened outside the global scope; null when
// there is none.
void* RealFunction(const char* symbol) noexcept;

}  // namespace loopscope
