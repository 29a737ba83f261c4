// Keeps the shim's folder on PYTHONPATH if a launcher resets that variable.
#pragma once

namespace loopscope {

// In a process that runs a Python interpreter: puts the shim's folder back at the front of PYTHONPATH if a launcher
// or a shell script has dropped it (`PYTHONPATH=src python train.py`). Runs before the interpreter reads the
// variable.
void PutShimInReach() noexcept;

}  // namespace loopscope
