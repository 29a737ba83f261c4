// What the preloaded library offers to the other injected libraries (torch, nvtx), so that all of them share one
// writer, one clock and one window; and what the LibTorch probe provides. Plain C functions, none throws.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "probes/capture/thread_state.h"

namespace loopscope {

enum GateBit : std::uint32_t {
  kGateOps = 1,     // ops are recorded
  kGateDetail = 2,  // with their inputs and stacks
};

// Points of the training loop at which treatments act, reported on the thread that reached them.
enum class Moment : std::uint32_t {
  kBatchBegin,      // the training loader returns a requested batch
  kLoaderEnd,       // a loader ran out
  kZeroGrad,        // zero_grad begins
  kBackwardBegin,   // torch::autograd::backward begins
  kBackwardEnd,     // … returned or threw
  kOptimizerBegin,  // an optimizer's step begins
  kStepEnd,         // the step clock ticked
  kLoopEnd,         // a bounded run of one rank is over, and the program will be ended
};

// Implemented by the LibTorch probe.
struct TorchHooks {
  void (*moment)(Moment moment);
  const std::atomic<std::uint32_t>*
      wanted;  // bits, by Moment: those that moment() is called for; may change at any time
  void (*backward_roots)(const void* roots);  // const std::vector<at::Tensor>*, before backward; when losses are kept
  std::uint64_t (*parameters)(const void* optimizer);  // how many numbers a torch::optim::Optimizer trains
  void (*finish)();                                    // read treatments back, write what is still held
};

// Implemented by the CUPTI probe.
struct DeviceHooks {
  void (*finish)();                            // the program ends and its devices are done: write what is still held
  void (*leave_cupti_to)(const char* client);  // who is about to register with CUPTI: stop, and report it
};

// Implemented by the probe of torch's CUDA side, for the LibTorch probe.
struct DeviceMemoryHooks {
  void (*step_ended)();  // while tracing: write what the devices hold
  void (*finish)();      // write peaks and counts
};

// A LibTorch function's return value of a class unknown here. Classes with a destructor are constructed at the caller's
// address, in a register that depends on the processor. Only for `return function(…)`.
struct Returned {
  Returned(const Returned&) = delete;
  ~Returned() {}  // user-provided: makes it such a class
};

// Functions of LibTorch that every op passes through. Arguments that are classes with a destructor pass by address.
struct OpCalls {
  using Callbacks = Returned(std::uint8_t scope);
  using Run = void(void* function, const void* schema, std::uint16_t key, std::uint64_t keys);
  using End = void(void* function);
  using Construct = void(void* function, std::uint8_t scope);
  using ConstructFrom = void(void* function, void* callbacks);
  using Destroy = void(void* function);
  Callbacks* callbacks;               // at::StepCallbacks at::getStepCallbacks(RecordScope)
  Callbacks* callbacks_unless_empty;  // std::optional<at::StepCallbacks> at::getStepCallbacksUnlessEmpty(RecordScope)
  Run* run;  // c10::Dispatcher::runRecordFunction(RecordFunction&, const FunctionSchema&, DispatchKey, DispatchKeySet)
  End* end;  // at::RecordFunction::end()
  Construct* construct;           // at::RecordFunction::RecordFunction(RecordScope)
  ConstructFrom* construct_from;  // at::RecordFunction::RecordFunction(StepCallbacks&&)
  Destroy* destroy;               // at::RecordFunction::~RecordFunction()
};

inline constexpr std::uint32_t kProbeApiVersion = 8;

struct ProbeApi {
  std::uint32_t version;
  const std::atomic<std::uint32_t>* gate;  // GateBit
  bool tracing, checking;                  // LOOPSCOPE_MODE; neither: only the clock
  std::uint64_t (*now_ns)();
  bool (*append)(const void* records, std::size_t bytes);
  std::uint32_t (*string_id)(const char* text, std::size_t length);
  std::uint32_t (*call_stack)();  // the caller's; 0 where it could not be taken
  void (*mark)(std::uint8_t kind, const char* name, std::uint64_t value);
  void (*fact)(const char* key, const char* value);
  void (*applied)(const char* key, const char* where, const char* old_value, const char* now, std::uint32_t flags);
  void (*user_range)(std::uint32_t name, bool is_step, std::uint64_t start_ns, std::uint64_t end_ns);  // string id
  bool (*claimed)(const char* key);         // the program applies this treatment itself
  bool (*in_backward)();                    // this thread is inside torch::autograd::backward
  capture::ThreadState* (*thread_state)();  // this thread's; the address holds as long as it
  const std::atomic<std::uint32_t>* file_generation;
  void (*set_torch_hooks)(const TorchHooks* hooks);
  void (*set_device_hooks)(const DeviceHooks* hooks);
  int (*live_state)(const char* key);   // preload/live.h, State
  void (*live_acted)(const char* key);  // …, Acted
  const OpCalls* (*real_op_calls)();    // calls/call_table.h
  void (*set_op_calls)(const OpCalls& calls, const std::atomic<std::uint32_t>& gate);
  void (*tensor_used)(const void* storage, std::uint64_t time_ns);  // preload/lifetimes.h, Used
};

}  // namespace loopscope

// Null while no capture is open in this process.
extern "C" const loopscope::ProbeApi* loopscope_probe_api();
// In the preloaded library: another client has CUPTI (devices.h).
extern "C" bool loopscope_cupti_is_taken();
// In the LibTorch probe: returns null, or why it cannot work with this program's torch.
extern "C" const char* loopscope_torch_attach(const loopscope::ProbeApi* api);
// In the LibTorch probe: seeds LibTorch's default generators. In a native program only; Python's shim seeds its own.
extern "C" void loopscope_torch_seed(std::uint64_t seed);
// In the probe of torch's CUDA side: null where it cannot work.
extern "C" const loopscope::DeviceMemoryHooks* loopscope_torch_cuda_attach(const loopscope::ProbeApi* api);
// In the CUPTI probe: begins to record where the driver, and with it that probe, came before the capture.
extern "C" void loopscope_cupti_attach();
