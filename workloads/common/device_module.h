// Modules beside the program that link CUDA, which the program itself does not.
#pragma once

namespace loopscope::train {

// Loads `library` from the program's folder and returns its `entry`, for dlsym. The module binds to the torch that is
// loaded, and is never unloaded. `item` is the setting that needs it, "key=value", for the message. Throws UsageError
// that says what is missing.
void* OpenDeviceModule(const char* item, const char* library, const char* entry);

}  // namespace loopscope::train
