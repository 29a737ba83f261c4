#include <ATen/record_function.h>

#include <atomic>
#include <initializer_list>
#include <optional>

#include "probes/torch/api.h"
#include "probes/torch/open_ops.h"
#include "probes/torch/ops.h"

namespace loopscope {
namespace {

// One in this many recorded steps has shapes: passing inputs costs more per op than everything else recorded.
constexpr std::uint32_t kShapesInterval = 32;

// A callback that is switched on and off between ops.
class CallbackSwitch {
 public:
  explicit CallbackSwitch(at::CallbackHandle callback) : callback_(callback) {}
  void Set(bool on) {
    if (on_.exchange(on) == on) return;
    on ? at::reenableCallback(callback_) : at::disableCallback(callback_);
  }

 private:
  at::CallbackHandle callback_;
  std::atomic<bool> on_{true};
};

CallbackSwitch* ops = nullptr;       // where they are not recorded directly
CallbackSwitch* inputs = nullptr;    // makes ops pass their inputs
CallbackSwitch* backward = nullptr;  // records what autograd's nodes call

bool ShapesAreDue(bool step_begins) {
  static std::atomic<std::uint32_t> steps{0};
  if (step_begins) steps.fetch_add(1, std::memory_order_relaxed);
  return steps.load(std::memory_order_relaxed) % kShapesInterval == 0 && ShapesSeen();
}

}  // namespace

void RecordOps() {
  using at::RecordScope;
  const auto add = [](at::RecordFunctionCallback callback, std::initializer_list<RecordScope> scopes) {
    return at::addGlobalCallback(callback.scopes(scopes));
  };
  const auto nothing = [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; };
  if (!RecordOpsDirectly()) {
    const at::RecordFunctionCallback recording(OnStart, OnEnd);
    ops = new CallbackSwitch(add(recording, {RecordScope::FUNCTION, RecordScope::USER_SCOPE}));
  }
  at::RecordFunctionCallback nodes(OnStart, OnEnd), asking(nothing);
  backward = new CallbackSwitch(add(nodes.needsInputs(true), {RecordScope::BACKWARD_FUNCTION}));
  inputs = new CallbackSwitch(add(asking.needsInputs(true), {RecordScope::FUNCTION}));
}

void ChooseCallbacks(Moment moment) {
  const std::uint32_t gate = api->gate->load(std::memory_order_relaxed);
  const bool recorded = (gate & kGateOps) != 0, detail = (gate & kGateDetail) != 0;
  const bool shapes = recorded && ShapesAreDue(moment == Moment::kStepEnd);
  if (ops != nullptr) ops->Set(recorded);
  backward->Set(detail);
  inputs->Set(detail || shapes);
}

}  // namespace loopscope
