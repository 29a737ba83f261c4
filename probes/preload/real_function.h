// The program's own function that this library interposes.
#pragma once

namespace loopscope {

// The next function of that name in the program, or LibTorch's if that was opened outside the global scope; null if
// there is none.
void* RealFunction(const char* symbol) noexcept;

// Whether the library containing this function calls another library's function of that name.
bool LibraryCalls(void* function, const char* name) noexcept;

}  // namespace loopscope
