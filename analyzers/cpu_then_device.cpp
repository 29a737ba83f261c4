#include <fmt/format.h>

#include <array>
#include <utility>

#include "analyzers/shared/devices.h"
#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/devices/device_links.h"
#include "profiler/core/trace/op_names.h"

namespace loopscope {
namespace {

constexpr double kMinTimesPerStep = 0.5;
constexpr double kMinSharePct = 1;  // of the step's work

// Finds pairs of consecutive operators on the training thread: one makes a tensor on the host, and the very next one
// copies to the device.
class Pairs {
 public:
  explicit Pairs(const Timeline& timeline)
      : timeline_(timeline),
        makers_(timeline.trace(), ops::IsRandomOrFill),
        copies_(timeline.trace()),
        cost_(timeline) {}

  CallSites Collect() {
    timeline_.ForEachSteady([&](EventRef ref) {
      if (ref.thread == timeline_.training_thread()) Visit(ref);
    });
    sites_.FoldUnknown();
    return std::move(sites_);
  }

 private:
  void Visit(EventRef ref) {
    const Event& event = timeline_.event(ref);
    if (timeline_.outermost_op(ref)) {
      previous_ = last_;
      last_ = ref;
      previous_called_ = last_called_;
      last_called_ = false;
    }
    if (!event.is_range(RangeCategory::kDeviceCall) || !Exists(last_)) return;
    if (event.start_ns >= timeline_.event(last_).end_ns) return;
    const bool first = !std::exchange(last_called_, true);
    const DeviceEvent* copy = copies_.Find(event.value);
    if (!first || copy == nullptr || copy->copy != CopyKind::kHostToDevice) return;
    if (Exists(previous_) && MadeOnTheHost()) {
      sites_.Add(timeline_.where(last_), cost_.Ms(previous_) + cost_.Ms(last_));
    }
  }

  // An operator that called the device runtime filled a tensor on the device.
  bool MadeOnTheHost() const {
    const Event& maker = timeline_.event(previous_);
    return makers_.Has(maker) && !previous_called_ && !timeline_.inside(previous_, RangeCategory::kLoader) &&
           timeline_.event(last_).start_ns - maker.end_ns <= kMaxIssueGapNs;
  }

  const Timeline& timeline_;
  NameSet makers_;
  DeviceCopies copies_;
  OpCost cost_;
  CallSites sites_;
  EventRef last_{kNone, kNone}, previous_{kNone, kNone};  // outermost operators
  bool last_called_ = false, previous_called_ = false;    // whether each called the device runtime
};

std::vector<Finding> Run(const Timeline& timeline) {
  if (const auto why_not = WhyNotCauses(timeline)) return {*why_not};
  const CallSites sites = Pairs(timeline).Collect();
  const double ms = MsPerStep(timeline, sites.ms());
  const double times = CountPerStep(timeline, static_cast<double>(sites.count()));
  if (times < kMinTimesPerStep || SharePct(timeline, ms) < kMinSharePct) return {};
  Finding finding = Costing(timeline, ms,
                            fmt::format("tensors are made on the host and copied to the GPU: {} per step ({})",
                                        MsText(ms), ShareText(timeline, ms)));
  finding.evidence = sites.Describe([&](const CallSites::Site& site) {
    return fmt::format("made and copied {}, {}", TimesPerStep(CountPerStep(timeline, static_cast<double>(site.count))),
                       MsText(MsPerStep(timeline, site.ms)));
  });
  return {finding};
}

constexpr std::array kClaims = {Claim{Time::kIdleDevices}};

}  // namespace

extern const Analyzer kCpuThenDevice{.id = "cpu-then-device",
                                     .question = "Are tensors made on the host that the GPU could make itself?",
                                     .run = Run,
                                     .claims = kClaims};

}  // namespace loopscope
