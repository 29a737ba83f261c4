// Structures that CUPTI's headers have had since 12.4: newer ones have another name in each version, but begin the same
// way.
#include "probes/cupti/activity_layout.h"

#include <cupti.h>

#include <climits>

namespace loopscope::activity {
namespace {

template <class Ours, class Theirs>
constexpr bool kFits = sizeof(Ours) <= sizeof(Theirs);

#define SAME(Ours, field, Theirs, theirs) \
  static_assert(offsetof(Ours, field) == offsetof(Theirs, theirs) && sizeof(Ours::field) == sizeof(Theirs::theirs))

static_assert(kFits<Kernel, CUpti_ActivityKernel9>);
SAME(Kernel, kind, CUpti_ActivityKernel9, kind);
SAME(Kernel, start, CUpti_ActivityKernel9, start);
SAME(Kernel, end, CUpti_ActivityKernel9, end);
SAME(Kernel, device, CUpti_ActivityKernel9, deviceId);
SAME(Kernel, stream, CUpti_ActivityKernel9, streamId);
SAME(Kernel, correlation, CUpti_ActivityKernel9, correlationId);
SAME(Kernel, name, CUpti_ActivityKernel9, name);

static_assert(kFits<Memcpy, CUpti_ActivityMemcpy5>);
SAME(Memcpy, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SAME(Memcpy, from, CUpti_ActivityMemcpy5, srcKind);
SAME(Memcpy, to, CUpti_ActivityMemcpy5, dstKind);
SAME(Memcpy, flags, CUpti_ActivityMemcpy5, flags);
SAME(Memcpy, bytes, CUpti_ActivityMemcpy5, bytes);
SAME(Memcpy, start, CUpti_ActivityMemcpy5, start);
SAME(Memcpy, end, CUpti_ActivityMemcpy5, end);
SAME(Memcpy, device, CUpti_ActivityMemcpy5, deviceId);
SAME(Memcpy, stream, CUpti_ActivityMemcpy5, streamId);
SAME(Memcpy, correlation, CUpti_ActivityMemcpy5, correlationId);

static_assert(kFits<Memset, CUpti_ActivityMemset4>);
SAME(Memset, bytes, CUpti_ActivityMemset4, bytes);
SAME(Memset, start, CUpti_ActivityMemset4, start);
SAME(Memset, end, CUpti_ActivityMemset4, end);
SAME(Memset, device, CUpti_ActivityMemset4, deviceId);
SAME(Memset, stream, CUpti_ActivityMemset4, streamId);
SAME(Memset, correlation, CUpti_ActivityMemset4, correlationId);

static_assert(kFits<GraphTrace, CUpti_ActivityGraphTrace2> && kHost == INT_MAX);
SAME(GraphTrace, correlation, CUpti_ActivityGraphTrace2, correlationId);
SAME(GraphTrace, start, CUpti_ActivityGraphTrace2, start);
SAME(GraphTrace, end, CUpti_ActivityGraphTrace2, end);
SAME(GraphTrace, device, CUpti_ActivityGraphTrace2, deviceId);
SAME(GraphTrace, stream, CUpti_ActivityGraphTrace2, streamId);
SAME(GraphTrace, end_device, CUpti_ActivityGraphTrace2, endDeviceId);

static_assert(kFits<Synchronization, CUpti_ActivitySynchronization>);
SAME(Synchronization, start, CUpti_ActivitySynchronization, start);
SAME(Synchronization, end, CUpti_ActivitySynchronization, end);
SAME(Synchronization, correlation, CUpti_ActivitySynchronization, correlationId);
SAME(Synchronization, context, CUpti_ActivitySynchronization, contextId);
SAME(Synchronization, stream, CUpti_ActivitySynchronization, streamId);

static_assert(kFits<Api, CUpti_ActivityAPI>);
SAME(Api, callback, CUpti_ActivityAPI, cbid);
SAME(Api, start, CUpti_ActivityAPI, start);
SAME(Api, end, CUpti_ActivityAPI, end);
SAME(Api, thread, CUpti_ActivityAPI, threadId);
SAME(Api, correlation, CUpti_ActivityAPI, correlationId);

static_assert(kFits<Device, CUpti_ActivityDevice5>);
SAME(Device, memory_bytes, CUpti_ActivityDevice5, globalMemorySize);
SAME(Device, multiprocessors, CUpti_ActivityDevice5, numMultiprocessors);
SAME(Device, compute_major, CUpti_ActivityDevice5, computeCapabilityMajor);
SAME(Device, compute_minor, CUpti_ActivityDevice5, computeCapabilityMinor);
SAME(Device, id, CUpti_ActivityDevice5, id);
SAME(Device, uuid, CUpti_ActivityDevice5, uuid);
SAME(Device, name, CUpti_ActivityDevice5, name);
SAME(Device, mig_enabled, CUpti_ActivityDevice5, isMigEnabled);
SAME(Device, gpu_instance, CUpti_ActivityDevice5, gpuInstanceId);
SAME(Device, compute_instance, CUpti_ActivityDevice5, computeInstanceId);

static_assert(kFits<Context, CUpti_ActivityContext>);
SAME(Context, context, CUpti_ActivityContext, contextId);
SAME(Context, device, CUpti_ActivityContext, deviceId);

static_assert(kFits<Overhead, CUpti_ActivityOverhead3>);
SAME(Overhead, start, CUpti_ActivityOverhead3, start);
SAME(Overhead, end, CUpti_ActivityOverhead3, end);

#undef SAME

}  // namespace
}  // namespace loopscope::activity
