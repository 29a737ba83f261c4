// The functions of LibTorch that every op passes through: by mangled name and without a torch header, as in
// probes/preload/interpose.cpp.
#include <atomic>

#include "probes/calls/interposed.h"
#include "probes/export.h"
#include "probes/preload/real_function.h"

#define LOOPSCOPE_CALLBACKS "_ZN2at16getStepCallbacksENS_11RecordScopeE"
#define LOOPSCOPE_CALLBACKS_UNLESS_EMPTY "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE"
#define LOOPSCOPE_RUN                                                                                            \
  "_ZN3c1010Dispatcher17runRecordFunctionERN2at14RecordFunctionESt17reference_wrapperIKNS_14FunctionSchemaEENS_" \
  "11DispatchKeyENS_14DispatchKeySetE"
#define LOOPSCOPE_END "_ZN2at14RecordFunction3endEv"
#define LOOPSCOPE_CONSTRUCT "_ZN2at14RecordFunctionC1ENS_11RecordScopeE"
#define LOOPSCOPE_CONSTRUCT_FROM "_ZN2at14RecordFunctionC1EONS_13StepCallbacksE"
#define LOOPSCOPE_DESTROY "_ZN2at14RecordFunctionD1Ev"

namespace loopscope {
namespace {

template <class Function>
void Resolve(Function*& function, const char* symbol) noexcept {
  function = reinterpret_cast<Function*>(RealFunction(symbol));
}

const OpCalls& Real() noexcept {
  static const OpCalls real = [] {
    OpCalls found{};
    Resolve(found.callbacks, LOOPSCOPE_CALLBACKS);
    Resolve(found.callbacks_unless_empty, LOOPSCOPE_CALLBACKS_UNLESS_EMPTY);
    Resolve(found.run, LOOPSCOPE_RUN);
    Resolve(found.end, LOOPSCOPE_END);
    Resolve(found.construct, LOOPSCOPE_CONSTRUCT);
    Resolve(found.construct_from, LOOPSCOPE_CONSTRUCT_FROM);
    Resolve(found.destroy, LOOPSCOPE_DESTROY);
    return found;
  }();
  return real;
}

Returned RealCallbacks(std::uint8_t scope) {
  return Real().callbacks(scope);
}
Returned RealCallbacksUnlessEmpty(std::uint8_t scope) {
  return Real().callbacks_unless_empty(scope);
}
void RealRun(void* function, const void* schema, std::uint16_t key, std::uint64_t keys) {
  Real().run(function, schema, key, keys);
}
void RealEnd(void* function) {
  Real().end(function);
}
void RealConstruct(void* function, std::uint8_t scope) {
  Real().construct(function, scope);
}
void RealConstructFrom(void* function, void* callbacks) {
  Real().construct_from(function, callbacks);
}
void RealDestroy(void* function) {
  Real().destroy(function);
}

constinit const std::atomic<std::uint32_t> closed{0};

// Where calls go: those of every op in one cache line.
struct alignas(64) Targets {
  std::atomic<const std::atomic<std::uint32_t>*> gate{&closed};
  std::atomic<OpCalls::Callbacks*> callbacks_while_closed{RealCallbacksUnlessEmpty};
  std::atomic<OpCalls::Callbacks*> callbacks_unless_empty{RealCallbacksUnlessEmpty};
  std::atomic<OpCalls::ConstructFrom*> construct_from{RealConstructFrom};
  std::atomic<OpCalls::Run*> run{RealRun};
  std::atomic<OpCalls::Destroy*> destroy{RealDestroy};
  std::atomic<OpCalls::End*> end{RealEnd};
  std::atomic<OpCalls::Callbacks*> callbacks{RealCallbacks};
  std::atomic<OpCalls::Construct*> construct{RealConstruct};
};
constinit Targets targets;

}  // namespace

const OpCalls* RealOpCalls() noexcept {
  return &Real();
}

void SetOpCalls(const OpCalls& calls, const std::atomic<std::uint32_t>& gate) noexcept {
  targets.callbacks_while_closed.store(Real().callbacks_unless_empty, std::memory_order_relaxed);
  targets.construct.store(calls.construct, std::memory_order_relaxed);
  targets.construct_from.store(calls.construct_from, std::memory_order_relaxed);
  targets.run.store(calls.run, std::memory_order_relaxed);
  targets.end.store(calls.end, std::memory_order_relaxed);
  targets.destroy.store(calls.destroy, std::memory_order_relaxed);
  targets.callbacks.store(calls.callbacks, std::memory_order_relaxed);
  // Last: what these callbacks make of an op, only the functions above can take apart.
  targets.callbacks_unless_empty.store(calls.callbacks_unless_empty, std::memory_order_release);
  targets.gate.store(&gate, std::memory_order_release);
}

}  // namespace loopscope

using loopscope::targets;

LOOPSCOPE_EXPORT loopscope::Returned StepCallbacks(std::uint8_t) asm(LOOPSCOPE_CALLBACKS);
loopscope::Returned StepCallbacks(std::uint8_t scope) {
  return targets.callbacks.load(std::memory_order_relaxed)(scope);
}

// Every op comes here first: before ops are recorded, and in a step whose ops are not, this is all it passes.
[[gnu::hot]] LOOPSCOPE_EXPORT loopscope::Returned StepCallbacksUnlessEmpty(std::uint8_t) asm(
    LOOPSCOPE_CALLBACKS_UNLESS_EMPTY);
loopscope::Returned StepCallbacksUnlessEmpty(std::uint8_t scope) {
  const std::uint32_t gate = targets.gate.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
  const bool recorded = (gate & loopscope::kGateOps) != 0;
  const auto& target = recorded ? targets.callbacks_unless_empty : targets.callbacks_while_closed;
  return target.load(std::memory_order_acquire)(scope);
}

extern "C" [[gnu::hot]] LOOPSCOPE_EXPORT void RecordFunctionConstructFrom(void*, void*) asm(LOOPSCOPE_CONSTRUCT_FROM);
void RecordFunctionConstructFrom(void* function, void* callbacks) {
  targets.construct_from.load(std::memory_order_relaxed)(function, callbacks);
}

extern "C" [[gnu::hot]] LOOPSCOPE_EXPORT void RunRecordFunction(void*, const void*, std::uint16_t,
                                                                std::uint64_t) asm(LOOPSCOPE_RUN);
void RunRecordFunction(void* function, const void* schema, std::uint16_t key, std::uint64_t keys) {
  targets.run.load(std::memory_order_relaxed)(function, schema, key, keys);
}

extern "C" [[gnu::hot]] LOOPSCOPE_EXPORT void RecordFunctionDestroy(void*) asm(LOOPSCOPE_DESTROY);
void RecordFunctionDestroy(void* function) {
  targets.destroy.load(std::memory_order_relaxed)(function);
}

extern "C" LOOPSCOPE_EXPORT void RecordFunctionEnd(void*) asm(LOOPSCOPE_END);
void RecordFunctionEnd(void* function) {
  targets.end.load(std::memory_order_relaxed)(function);
}

extern "C" LOOPSCOPE_EXPORT void RecordFunctionConstruct(void*, std::uint8_t) asm(LOOPSCOPE_CONSTRUCT);
void RecordFunctionConstruct(void* function, std::uint8_t scope) {
  targets.construct.load(std::memory_order_relaxed)(function, scope);
}
