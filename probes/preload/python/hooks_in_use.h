// Detects others that follow the program's calls: the program itself, a debugger, a coverage tool. Called under the
// interpreter's lock, with no exception pending.
#pragma once

namespace loopscope {

bool HasProfileHook() noexcept;  // sys.setprofile, cProfile
bool HasTraceHook() noexcept;    // sys.settrace, pdb, coverage
// The owner of an existing hook of any kind, as the end of a sentence; null if there is none.
const char* HookInUse() noexcept;
// Records it in the capture, once.
void SayLinesAreUnknown(const char* reason) noexcept;

// Whether this process's Python has what this needs.
bool FindHookGetters() noexcept;

}  // namespace loopscope
