// Keeps the shim's folder on PYTHONPATH where whatever starts Python resets that variable.
#pragma once

namespace loopscope {

// In a process that runs a Python interpreter: puts the folder of the shim back at the front of PYTHONPATH where a
// launcher or a shell script has left it out (`PYTHONPATH=src python train.py`). Before the interpreter starts, which
// reads the variable once.
void PutShimInReach() noexcept;

}  // namespace loopscope
