#include "probes/preload/follow/following.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "probes/capture/records.h"
#include "probes/preload/follow/plan.h"

namespace loopscope::following {
namespace {

std::atomic<const Follower*> follower{nullptr};
bool wanted = false;  // by the settings
FollowPlan plan;
pid_t thread = 0;  // that is followed; 0: none

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
  if (thread != 0 || known == nullptr || !known->start()) return;
  thread = gettid();
  capture::WriteMark(wire::MarkKind::kFollowBegin, why);
}

}  // namespace

void Start(const Settings& settings) noexcept {
  wanted = settings.mode == Mode::kTrace && settings.window.detail > 0;
  // Ranks wait for each other: all follow the same steps.
  plan.OnlyDetails(settings.several_ranks);
  pthread_atfork(nullptr, nullptr, [] {
    thread = 0;
    wanted = false;
  });
}

void Use(const Follower* given) noexcept {
  if (given->only_details) plan.OnlyDetails(true);
  follower.store(given, std::memory_order_release);
}

bool Next(std::uint64_t time_ns, const Window& window) noexcept {
  if (!wanted || follower.load(std::memory_order_relaxed) == nullptr) return false;
  return plan.Next(time_ns, window.detail_index(), window.measuring(), window.at_boundary());
}

void Turn(bool follow) noexcept {
  if (!wanted) return;
  Stop();
  if (follow) Begin("step");
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
