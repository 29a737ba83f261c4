#include "tests/replay/device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace loopscope::replay {
namespace {

void Switch(std::set<std::uint32_t>& calls, CUpti_CallbackId id, std::uint8_t on) {
  on ? void(calls.insert(id)) : void(calls.erase(id));
}

}  // namespace

PlayedDevice& PlayedDevice::Instance() {
  static PlayedDevice device;
  return device;
}

Cupti PlayedDevice::Functions(const Layout& layout, const CallNames& names) {
  names_ = &names;
  Cupti cupti;
  cupti.version = layout.version;
  cupti.next_record = layout.next_record;
  cupti.callback_name = [](CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
    const CallNames& all = *Instance().names_;
    const std::vector<std::string>& known = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? all.runtime : all.driver;
    if (id == 0 || id > known.size()) return CUPTI_ERROR_INVALID_PARAMETER;
    *name = known[id - 1].c_str();
    return CUPTI_SUCCESS;
  };
  cupti.result_string = [](CUptiResult, const char** text) { return *text = "an error", CUPTI_SUCCESS; };
  cupti.set_thread_id_type = [](CUpti_ActivityThreadIdType) { return CUPTI_SUCCESS; };
  cupti.set_attribute = [](CUpti_ActivityAttribute, std::size_t*, void*) { return CUPTI_SUCCESS; };
  cupti.register_timestamp = [](CUpti_TimestampCallbackFunc) { return CUPTI_SUCCESS; };
  cupti.register_callbacks = [](CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
    Instance().request_ = request, Instance().complete_ = complete;
    return CUPTI_SUCCESS;
  };
  cupti.enable = [](CUpti_ActivityKind kind) { return Instance().kinds_.insert(kind), CUPTI_SUCCESS; };
  cupti.disable = [](CUpti_ActivityKind kind) { return Instance().kinds_.erase(kind), CUPTI_SUCCESS; };
  cupti.dropped_records = [](CUcontext, std::uint32_t, std::size_t* count) {
    *count = std::exchange(Instance().dropped_, 0);
    return CUPTI_SUCCESS;
  };
  cupti.flush_all = [](std::uint32_t) { return Instance().Flush(), CUPTI_SUCCESS; };
  if (!layout.enables_single_calls) return cupti;
  cupti.enable_runtime = [](CUpti_CallbackId id, std::uint8_t on) {
    return Switch(Instance().runtime_calls_, id, on), CUPTI_SUCCESS;
  };
  cupti.enable_driver = [](CUpti_CallbackId id, std::uint8_t on) {
    return Switch(Instance().driver_calls_, id, on), CUPTI_SUCCESS;
  };
  return cupti;
}

bool PlayedDevice::IsWanted(const Activity& activity) const {
  if (kinds_.contains(activity.kind)) return true;
  if (activity.kind == CUPTI_ACTIVITY_KIND_RUNTIME) return runtime_calls_.contains(activity.callback);
  if (activity.kind == CUPTI_ACTIVITY_KIND_DRIVER) return driver_calls_.contains(activity.callback);
  return false;
}

void PlayedDevice::RunUntil(std::uint64_t until_ns) {
  for (;;) {
    const std::lock_guard guard(lock_);
    if (next_ == activities_.size() || activities_[next_].end_ns > until_ns) return;
    const Activity& activity = activities_[next_];
    if (IsWanted(activity)) {
      if (used_ + activity.bytes.size() > kFilledBytes) HandOver();
      if (buffer_ == nullptr) {
        std::size_t most_records = 0;
        request_(&buffer_, &size_, &most_records);
        // The collector promises zeros (CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER).
        if (buffer_ == nullptr || std::any_of(buffer_, buffer_ + size_, [](std::uint8_t byte) { return byte != 0; })) {
          std::fputs("no buffer, or one that was used before\n", stderr);
          std::abort();
        }
      }
      std::memcpy(buffer_ + used_, activity.bytes.data(), activity.bytes.size());
      used_ += activity.bytes.size();
      ++in_buffer_;
    }
    ++next_;
  }
}

void PlayedDevice::Flush() {
  const std::lock_guard guard(lock_);
  HandOver();
}

void PlayedDevice::HandOver() {
  if (buffer_ == nullptr) return;
  handed_over_ += std::exchange(in_buffer_, 0);
  complete_(nullptr, 0, std::exchange(buffer_, nullptr), size_, std::exchange(used_, 0));
}

}  // namespace loopscope::replay
