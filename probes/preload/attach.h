// Starts the probes in a process: in a native program at load time; in an interpreter, which imports torch later, by
// its shim (script.h).
#pragma once

#include <cstddef>

namespace loopscope {

// The path of `name` in the folder of this library, cut off at `size`. False when that folder is unknown.
bool PathBesideLibrary(const char* name, char* path, std::size_t size) noexcept;

// Opens the capture and starts the loop's bookkeeping. Returns null, or why not.
const char* StartCapture() noexcept;

// Loads the LibTorch probe at `path`; null: the one beside this library. Returns null, or why it is off; then
// the capture says so.
const char* AttachTorchProbe(const char* path = nullptr) noexcept;

}  // namespace loopscope
