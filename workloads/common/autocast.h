// A scope in which CPU operators compute in bfloat16 where that is safe.
#pragma once

#include <ATen/autocast_mode.h>

namespace loopscope::train {

// One per outermost forward. The cache of cast weights is emptied on leaving: kept on, it would hold stale weights and
// freeze training.
class AutocastScope {
 public:
  explicit AutocastScope(bool on) : on_(on), before_(at::autocast::is_autocast_enabled(at::kCPU)) {
    if (!on_) return;
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::increment_nesting();
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
  ~AutocastScope() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, before_);
  }

 private:
  const bool on_;
  const bool before_;
};

}  // namespace loopscope::train
