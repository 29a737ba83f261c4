#include <ATen/record_function.h>

#include <cstdint>
#include <new>
#include <optional>

#include "probes/torch/api.h"
#include "probes/torch/op_names.h"
#include "probes/torch/open_ops.h"
#include "probes/torch/ops.h"

namespace loopscope {
namespace {

using at::RecordScope;

constexpr at::StepCallbacks::StartEndPair kOurs{OnStart, OnEnd};
OpCalls real{};

// In place of a thread's number, in callbacks that are for nobody but us: a RecordFunction that is made from these is
// left bare. To make all of one, and to take it apart again, costs more than recording an op.
constexpr std::uint64_t kOursAlone = ~std::uint64_t{0};

// What there is of a bare one: the beginning of any.
struct Bare {
  const void* virtual_functions;
  at::StepCallbacks callbacks;
};
const void* virtual_functions = nullptr;

// The same function under its typed or its untyped signature: both pass their arguments alike.
template <class To, class From>
To* As(From* function) {
  return reinterpret_cast<To*>(reinterpret_cast<void (*)()>(function));
}

// This thread's state, where it records what is called in this scope while ops are recorded.
OpenOps* Records(RecordScope scope) {
  if (scope != RecordScope::FUNCTION && scope != RecordScope::USER_SCOPE) return nullptr;
  OpenOps* open = MyOpenOps();
  return open != nullptr && open->enabled ? open : nullptr;
}

bool GateIsOpen() {
  return (api->gate->load(std::memory_order_relaxed) & kGateOps) != 0;
}

at::StepCallbacks Callbacks(RecordScope scope) {
  at::StepCallbacks callbacks = As<at::StepCallbacks(RecordScope)>(real.callbacks)(scope);
  const OpenOps* open = GateIsOpen() ? Records(scope) : nullptr;
  if (open == nullptr) return callbacks;
  // Omits ours if it would be the only one: Construct does its work.
  if (open->node_begins == nullptr || !callbacks.empty()) callbacks.callbacks_.push_back(kOurs);
  return callbacks;
}

// Asked by the dispatcher for every op, while ops are recorded.
[[gnu::hot]] std::optional<at::StepCallbacks> CallbacksUnlessEmpty(RecordScope scope) {
  using UnlessEmpty = std::optional<at::StepCallbacks>(RecordScope);
  std::optional<at::StepCallbacks> callbacks = As<UnlessEmpty>(real.callbacks_unless_empty)(scope);
  const OpenOps* open = Records(scope);
  if (open == nullptr) return callbacks;
  if (!callbacks.has_value() && scope == RecordScope::FUNCTION) [[likely]] {
    callbacks.emplace(kOursAlone, scope);  // without a callback: Run and Destroy, which every op calls, do its work
    return callbacks;
  }
  if (!callbacks.has_value()) callbacks.emplace(open->thread_id, scope);
  callbacks->callbacks_.push_back(kOurs);
  return callbacks;
}

[[gnu::hot]] void ConstructFrom(void* function, void* callbacks) {
  if (static_cast<const at::StepCallbacks*>(callbacks)->thread_id_ != kOursAlone) [[unlikely]] {
    return real.construct_from(function, callbacks);
  }
  ::new (function) Bare{virtual_functions, at::StepCallbacks(kOursAlone, RecordScope::FUNCTION)};
}

[[gnu::hot]] void Run(at::RecordFunction* function, const c10::FunctionSchema* schema, std::uint16_t key,
                      std::uint64_t keys) {
  if (function->threadId() != kOursAlone) [[unlikely]]
    return real.run(function, schema, key, keys);
  BeginDirectly(*function, *schema, c10::DispatchKeySet(c10::DispatchKeySet::RAW, keys));
}

[[gnu::hot]] void Destroy(at::RecordFunction* function) {
  if (function->threadId() != kOursAlone) [[unlikely]]
    return real.destroy(function);
  OnEnd(*function, nullptr);
}

// For recorded functions that are not operators: mostly the engine's nodes.
void Construct(void* function, std::uint8_t scope) {
  const bool recorded = static_cast<RecordScope>(scope) == RecordScope::FUNCTION && GateIsOpen();
  OpenOps* open = recorded ? Records(RecordScope::FUNCTION) : nullptr;
  const void* node = open != nullptr ? NodeThatBegins(*open) : nullptr;
  const Known* name = node != nullptr ? NameOfNode(*open) : nullptr;
  if (name == nullptr) return real.construct(function, scope);
  open->node_begins = node;
  real.construct(function, scope);
  open->node_begins = nullptr;
  const auto& made = *static_cast<const at::RecordFunction*>(function);
  if (!made.isActive()) BeginNode(made, *name, node);
}

void EndDirectly(at::RecordFunction* function) {
  if (function->isActive()) return real.end(function);
  OnEnd(*function, nullptr);
}

bool asked = false, ended = false, destroyed = false;  // by LibTorch, in the trial

void SetTrial() {
  OpCalls trial = real;
  trial.callbacks = [](std::uint8_t scope) -> Returned {
    asked = true;
    return real.callbacks(scope);
  };
  trial.end = [](void* function) {
    ended = true;
    real.end(function);
  };
  trial.destroy = [](void* function) {
    destroyed = true;
    real.destroy(function);
  };
  api->set_op_calls(trial, *api->gate);
}

// Whether a RecordFunction begins as a bare one does.
bool LearnLayout() {
  constexpr std::uint64_t kNumber = 0x6c6f6f7073636f70;
  const at::RecordFunction made(at::StepCallbacks(kNumber, RecordScope::USER_SCOPE));
  const auto* beginning = reinterpret_cast<const Bare*>(&made);
  virtual_functions = beginning->virtual_functions;
  return made.threadId() == kNumber && beginning->callbacks.thread_id_ == kNumber;
}

}  // namespace

bool RecordOpsDirectly() {
  real = *api->real_op_calls();
  const bool complete = real.callbacks != nullptr && real.callbacks_unless_empty != nullptr && real.run != nullptr &&
                        real.end != nullptr && real.construct != nullptr && real.construct_from != nullptr &&
                        real.destroy != nullptr;
  if (!complete) return false;
  SetTrial();
  const auto* trial = new at::RecordFunction(RecordScope::USER_SCOPE);
  delete trial;  // by LibTorch, which calls its destructor for that
  const bool bound = asked && ended && destroyed && LearnLayout();
  OpCalls calls = real;
  if (bound) {
    calls = {As<OpCalls::Callbacks>(Callbacks),
             As<OpCalls::Callbacks>(CallbacksUnlessEmpty),
             As<OpCalls::Run>(Run),
             As<OpCalls::End>(EndDirectly),
             Construct,
             ConstructFrom,
             As<OpCalls::Destroy>(Destroy)};
  }
  api->set_op_calls(calls, *api->gate);
  return bound;
}

}  // namespace loopscope
