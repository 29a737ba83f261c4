// std::condition_variable::wait(std::unique_lock<std::mutex>&): where a loader's consumer waits for its workers.
// Reimplements the C++ library's function, which cannot be found in every program that calls it.
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "probes/calls/interposed.h"
#include "probes/export.h"

namespace loopscope {
namespace {

constexpr std::uint64_t kWorthRecordingNs = 20'000;

std::atomic<const WaitObserver*> wait_observer{nullptr};

}  // namespace

void ObserveWaits(const WaitObserver* observer) noexcept {
  wait_observer.store(observer, std::memory_order_release);
}

}  // namespace loopscope

extern "C" LOOPSCOPE_EXPORT void ConditionVariableWait(std::condition_variable*, std::unique_lock<std::mutex>*) asm(
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void ConditionVariableWait(std::condition_variable* self, std::unique_lock<std::mutex>* held) {
  const loopscope::WaitObserver* const observer = loopscope::wait_observer.load(std::memory_order_acquire);
  const std::uint64_t begin_ns = observer != nullptr ? observer->now_ns() : 0;
  pthread_cond_wait(self->native_handle(), held->mutex()->native_handle());
  if (observer == nullptr) return;
  const std::uint64_t end_ns = observer->now_ns();
  if (end_ns - begin_ns >= loopscope::kWorthRecordingNs) observer->waited(begin_ns, end_ns);
}
