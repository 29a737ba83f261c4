// Bringing the probes to life in a process. A native program's are started when it is loaded; an interpreter's, whose
// torch comes later, by its shim (script.h).
#pragma once

namespace loopscope {

// Opens the capture and starts the loop's bookkeeping. Returns null, or why not.
const char* StartCapture() noexcept;

// Loads the LibTorch probe at `path`; null: the one that lies beside this library. Returns null, or why it is off; then
// the capture says so.
const char* AttachTorchProbe(const char* path = nullptr) noexcept;

}  // namespace loopscope
