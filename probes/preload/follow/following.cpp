#include "probes/preload/follow/following.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "probes/capture/records.h"
#include "probes/preload/follow/plan.h"

namespace loopscope::following {
namespace {

std::atomic<const Follower*> follower{nullptr};
std::atomic<void (*)()> looking{nullptr};
bool wanted = false;  // by the settings
FollowPlan plan;
pid_t thread = 0;                         // that is followed; 0: none
std::uint64_t began_ns = 0, step_ns = 0;  // of the current step, and the length of the previous one

void Stop() noexcept {
  const Follower* known = follower.load(std::memory_order_acquire);
  if (thread == 0 || thread != gettid() || known == nullptr) return;
  const std::uint64_t calls = known->stop();
  plan.Followed(calls);
  capture::WriteMark(wire::MarkKind::kFollowEnd, {}, calls);
  thread = 0;
}

void Begin(const char* why) noexcept {
  const Follower* known = follower.load(std::memory_order_acquire);
  if (thread != 0 || known == nullptr || !known->start(step_ns)) return;
  thread = gettid();
  capture::WriteMark(wire::MarkKind::kFollowBegin, why);
}

}  // namespace

void Start(const Settings& settings) noexcept {
  wanted = settings.mode == Mode::kTrace && settings.window.detail > 0;
  // Ranks wait for each other, so all must follow the same steps.
  if (settings.several_ranks) plan.OnlyDetails();
  pthread_atfork(nullptr, nullptr, [] {
    looking = nullptr;
    thread = 0;
    wanted = false;
  });
}

void Use(const Follower* given) noexcept {
  if (given->only_details) plan.AllDetails();
  follower.store(given, std::memory_order_release);
}

void CallBefore(void (*look)()) noexcept {
  looking.store(look, std::memory_order_release);
}

bool Next(std::uint64_t time_ns, const RunWindow& window) noexcept {
  if (!wanted || follower.load(std::memory_order_relaxed) == nullptr) return false;
  step_ns = began_ns == 0 ? 0 : time_ns - began_ns;
  began_ns = time_ns;
  return plan.Next(time_ns, window.detail_index(), window.measuring(), window.at_boundary());
}

void Prepare() noexcept {
  if (!wanted) return;
  static std::atomic<const Follower*> prepared{nullptr};
  const Follower* known = follower.load(std::memory_order_acquire);
  if (known == nullptr || known == prepared.exchange(known) || known->prepare == nullptr) return;
  known->prepare();
}

void Turn(bool follow) noexcept {
  if (!wanted) return;
  Stop();
  if (!follow) return;
  if (auto* look = looking.load(std::memory_order_acquire)) look();
  Begin("step");
}

bool Follows() noexcept {
  return thread != 0;
}

void EpochEnds() noexcept {
  if (!wanted || thread != 0) return;
  plan.TakeIn();
  Begin("epoch");
}

void End() noexcept {
  if (!wanted) return;
  Stop();
}

}  // namespace loopscope::following
