// The program's own function that this library interposes.
#pragma once

namespace loopscope {

// The next one of that name in the program, or LibTorch's where that was opened outside the global scope; null when
// there is none.
void* RealFunction(const char* symbol) noexcept;

// Whether the library that this function lies in calls another one's function of that name.
bool LibraryCalls(void* function, const char* name) noexcept;

}  // namespace loopscope
