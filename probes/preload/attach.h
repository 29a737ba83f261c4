// Starts the probes in a process: in a native program at load time; in an interpreter, which imports torch later, by
// its shim (script.h).
#pragma once

#include <cstddef>

#include "probes/preload/probe_api.h"

namespace loopscope {

// The path of `name` in the folder of this library, cut off at `size`. False when that folder is unknown.
bool PathBesideLibrary(const char* name, char* path, std::size_t size) noexcept;

// Opens the capture and starts the loop's bookkeeping. Returns null, or why not.
const char* StartCapture() noexcept;

// Loads the LibTorch probe at `path`; null: the one beside this library. Returns null, or why it is off; then
// the capture says so.
const char* AttachTorchProbe(const char* path = nullptr) noexcept;

// Keeps the shim's folder on PYTHONPATH if a launcher resets that variable.

// In a process that runs a Python interpreter: puts the shim's folder back at the front of PYTHONPATH if a launcher
// or a shell script has dropped it (`PYTHONPATH=src python train.py`). Runs before the interpreter reads the
// variable.
void PutShimInReach() noexcept;

}  // namespace loopscope

namespace loopscope::loop {

// What this library offers to the other injected libraries.
const ProbeApi* Api() noexcept;  // null while no capture is open in this process

}  // namespace loopscope::loop
