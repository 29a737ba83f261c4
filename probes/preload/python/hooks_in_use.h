// Who else follows the program's calls: the program itself, a debugger, a measurement of coverage. Called under the
// interpreter's lock, with no exception pending.
#pragma once

namespace loopscope {

bool HasProfileHook() noexcept;  // sys.setprofile, cProfile
bool HasTraceHook() noexcept;    // sys.settrace
bool HasMonitor() noexcept;      // from Python 3.12 on: a tool of sys.monitoring

// Whether this process's Python has what this needs.
bool FindHookGetters() noexcept;

}  // namespace loopscope
