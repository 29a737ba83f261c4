// Who else follows the program's calls: the program itself, a debugger, a measurement of coverage. Called under the
// interpreter's lock, with no exception pending.
#pragma once

namespace loopscope {

bool HasProfileHook() noexcept;  // sys.setprofile, cProfile
bool HasTraceHook() noexcept;    // sys.settrace, pdb, coverage
// Whose hook there is, of any kind, as the end of a sentence; null where there is none.
const char* HookInUse() noexcept;
// The capture says so, once.
void SayLinesAreUnknown(const char* reason) noexcept;

// Whether this process's Python has what this needs.
bool FindHookGetters() noexcept;

}  // namespace loopscope
