// What the rules about devices share: when they abstain, idle time by cause, what an operator costs on a device, copies
// to it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/core/report/finding.h"
#include "profiler/core/timeline/timeline.h"

namespace loopscope {

// kNotApplicable without a device, kCannotTell where the trace does not show what it did; empty where rules can judge.
std::optional<Finding> WhyNotDevices(const Timeline& timeline);
// The same, and kCannotTell where idle time cannot be split by cause.
std::optional<Finding> WhyNotCauses(const Timeline& timeline);
bool DevicesKnown(const Timeline& timeline);
// kCannotTell where the program computed on a device and the trace does not show what that did; empty on the CPU, too.
std::optional<Finding> WhyDevicesUnknown(const Timeline& timeline);
// The program computed on a device, whether or not the trace shows what that did: the host's times are not the CPU's.
bool OnDevice(const Timeline& timeline);

// Mean per steady step and device, ms.
double IdleMs(const Timeline& timeline, IdleCause cause);
double IdleMs(const Timeline& timeline);

// The same for one interval, in total: idle time of that cause inside `within`, mean over the devices.
double IdleMs(const Timeline& timeline, IdleCause cause, Interval within);
double IdleMs(const Timeline& timeline, Interval within);  // of any cause

// By step: the devices' work that it launches, and their idle time inside it; ms, mean over the devices.
std::vector<double> DeviceMsByStep(const Timeline& timeline);

// What an operator costs the loop, ms. On a device: the device's work that was launched inside it, and the time for
// which the device was idle meanwhile, since the host's own time is hidden behind a busy device. Else its duration.
class OpCost {
 public:
  explicit OpCost(const Timeline& timeline);
  double Ms(EventRef ref) const;
  bool on_device() const { return devices_; }

 private:
  const Timeline& timeline_;
  bool devices_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> work_ns_;  // by thread << 32 | index of the call
};

// Copies from the host to a device in the steady steps, and what each cost.

// Larger than what CUDA passes through a buffer of its own without waiting (64 KiB, CUDA C++ Programming Guide, "API
// synchronization behavior"): a batch, not the argument of an operator.
inline constexpr std::uint64_t kBatchBytes = 64 * 1024;

struct CopyToDevice {
  const DeviceEvent* event = nullptr;
  EventRef call;
  bool waited_for = false;  // the host synchronised right after it
  double exposed_ms = 0;    // of the copy, without compute or communication beside it
  double idle_ms = 0;       // the device was idle because of it, up to the next copy to the device
  std::optional<Where> where;
};

// Copies of kBatchBytes or more whose call is in the trace, by the time of the call.
std::vector<CopyToDevice> BatchCopies(const Timeline& timeline);

}  // namespace loopscope
