// A scope in which operators of a device compute in 16 bits where that is safe.
#pragma once

#include <ATen/autocast_mode.h>

#include <optional>
#include <string_view>

namespace loopscope::train {

// The type of the knob amp; none for "off".
inline std::optional<at::ScalarType> AutocastType(std::string_view amp) {
  if (amp == "bf16") return at::kBFloat16;
  if (amp == "fp16") return at::kHalf;
  return std::nullopt;
}

// One per outermost forward. The cache of cast weights is emptied on leaving: kept on, it would hold stale weights and
// freeze training.
class AutocastScope {
 public:
  AutocastScope(at::DeviceType device, std::optional<at::ScalarType> type)
      : on_(type.has_value()), device_(device), before_(at::autocast::is_autocast_enabled(device)) {
    if (!on_) return;
    at::autocast::set_autocast_dtype(device_, *type);
    at::autocast::set_autocast_enabled(device_, true);
    at::autocast::increment_nesting();
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
  ~AutocastScope() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, before_);
  }

 private:
  const bool on_;
  const at::DeviceType device_;
  const bool before_;
};

}  // namespace loopscope::train
