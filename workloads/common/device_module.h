// Modules beside the program that link CUDA, which the program itself does not, and the graphs that one of them makes.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <functional>
#include <vector>

namespace loopscope::train {

// Loads `library` from the program's folder and returns its `entry`, for dlsym. The module binds to the torch that is
// loaded, and is never unloaded. `item` is the setting that needs it, "key=value", for the message. Throws UsageError
// that says what is missing.
void* OpenDeviceModule(const char* item, const char* library, const char* entry);

// Work of a device that is recorded once and launched as a whole from then on: a CUDA graph. The programs do not link
// CUDA; recording is done by a separate module, loaded for cuda_graphs=on.
class DeviceGraph {
 public:
  using Work = std::function<std::vector<at::Tensor>()>;
  virtual ~DeviceGraph() = default;

  // Records what `work` launches, on this thread or on others on its behalf, without running it. Each launch makes what
  // `work` returns again, in the same memory. Throws c10::Error where `work` cannot be recorded.
  virtual void Record(const Work& work) = 0;

  // Queues all of it on this thread's stream.
  virtual void Launch() = 0;
};

// A new graph, whose tensors may lie beside those of `sharing`: both are then launched in the order of recording.
using MakeDeviceGraph = DeviceGraph* (*)(DeviceGraph* sharing);

// The module's entry point, for dlsym.
constexpr char kMakeDeviceGraph[] = "train_make_device_graph";

// Loads the module, and moves this thread to its own stream, since work of the default stream cannot be recorded.
// Throws UsageError that says what is missing.
MakeDeviceGraph OpenDeviceGraphs(c10::Device device);

}  // namespace loopscope::train
