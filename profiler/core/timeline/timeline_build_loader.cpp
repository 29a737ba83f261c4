// How long the training thread waited for its loader. A native loader range covers only the call that draws a batch's
// indices; the wait itself is inferred from what surrounds it.
#include <algorithm>
#include <map>
#include <set>

#include "profiler/core/timeline/timeline_build.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr std::int64_t kPrefetchGapNs = 1'000'000;  // between two draws of a loader that only queues them

std::int64_t StartFrom(const std::vector<Interval>& by_start, std::int64_t time_ns) {
  const Interval* found = FirstFrom(by_start, time_ns);
  return found != nullptr ? found->start_ns : INT64_MAX;
}

// Decides for each batch which part of the training thread's time was spent on getting it.
class LoaderInference {
 public:
  LoaderInference(const Trace& trace, const StepLedger& ledger, const Activity& activity) : activity_(activity) {
    for (const Activity::Loader& loader : activity.loaders) calls_.push_back(loader.time);
    for (const auto* turns : {&ledger.epoch_starts(), &ledger.epoch_ends()}) {
      for (const std::int64_t time_ns : *turns) calls_.push_back({time_ns, time_ns});
      turns_.insert(turns_.end(), turns->begin(), turns->end());
    }
    std::ranges::sort(turns_);
    std::ranges::sort(calls_, [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    FindWorkers(trace);
  }

  std::vector<Interval> Waits() const {
    std::vector<Interval> waits;
    for (std::size_t i = 0; i < activity_.loaders.size(); ++i) {
      const Activity::Loader& loader = activity_.loaders[i];
      waits.push_back(loader.time);
      if (loader.whole_wait) continue;
      waits.push_back({loader.time.start_ns, BatchReady(i)});
    }
    for (const Interval& wait : activity_.waits) {
      if (BeforeCall(wait)) waits.push_back(wait);
    }
    return waits;
  }

 private:
  std::int64_t NextLoader(std::size_t i) const {
    return i + 1 < activity_.loaders.size() ? activity_.loaders[i + 1].time.start_ns : INT64_MAX;
  }

  // The first thing after `time_ns` that needs the batch.
  std::int64_t FirstUse(std::int64_t time_ns) const {
    return std::min({StartFrom(activity_.compute, time_ns), StartFrom(activity_.backward, time_ns),
                     StartFrom(activity_.steps_taken, time_ns)});
  }

  // LibTorch's workers: the loader waits first and draws the next batch's indices when it has one.
  bool BeforeCall(const Interval& wait) const { return StartFrom(calls_, wait.end_ns) < FirstUse(wait.end_ns); }

  // The end of the last wait between the draw and the batch's first use; -1 when there was none.
  std::int64_t LastWaitAfter(std::size_t i) const {
    const std::int64_t from = activity_.loaders[i].time.end_ns;
    const std::int64_t until = std::min(FirstUse(from), NextLoader(i));
    std::int64_t end = -1;
    for (const Interval* wait = FirstFrom(activity_.waits, from);
         wait && wait != activity_.waits.data() + activity_.waits.size() && wait->start_ns < until; ++wait) {
      end = wait->end_ns;
    }
    return end;
  }

  // When the batch drawn by `loader` is ready; the end of the draw itself when nothing was waited for.
  std::int64_t BatchReady(std::size_t i) const {
    const Activity::Loader& loader = activity_.loaders[i];
    const std::int64_t waited = LastWaitAfter(i);
    if (waited >= 0) return waited;
    if (with_workers_.contains(loader.name)) return loader.time.end_ns;
    // Loaded on this thread, until the model's first op. Where no op was recorded, backward comes first: unknown.
    const std::int64_t use = StartFrom(activity_.compute, loader.time.end_ns);
    return use == FirstUse(loader.time.end_ns) && use < NextLoader(i) ? use : loader.time.end_ns;
  }

  // Whether it was drawn ahead: the next draw follows at once, and not because an epoch ended or began in between.
  bool IsQueued(std::size_t i) const {
    const Activity::Loader& loader = activity_.loaders[i];
    const std::int64_t next = NextLoader(i);
    if (next == INT64_MAX || activity_.loaders[i + 1].name != loader.name) return false;
    if (next - loader.time.end_ns >= kPrefetchGapNs || next > FirstUse(loader.time.end_ns)) return false;
    const auto turn = std::ranges::lower_bound(turns_, loader.time.start_ns);
    return turn == turns_.end() || *turn > next;
  }

  // A loader has workers if it was seen waiting for them, or draws several batches in a row; the loader.workers that
  // the program reports applies to the loader used most.
  void FindWorkers(const Trace& trace) {
    std::map<StringId, std::size_t> asked;
    for (std::size_t i = 0; i < activity_.loaders.size(); ++i) {
      const Activity::Loader& loader = activity_.loaders[i];
      ++asked[loader.name];
      if (IsQueued(i) || LastWaitAfter(i) >= 0) with_workers_.insert(loader.name);
    }
    for (const Interval& wait : activity_.waits) {
      if (!BeforeCall(wait)) continue;
      const auto next = std::ranges::partition_point(
          activity_.loaders, [&](const Activity::Loader& one) { return one.time.start_ns < wait.end_ns; });
      if (next != activity_.loaders.end()) with_workers_.insert(next->name);
    }
    const std::int64_t workers = NumberFact(trace, "loader.workers").value_or(-1);
    if (workers < 0 || asked.empty()) return;
    const auto most = std::ranges::max_element(asked, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (workers > 0) {
      with_workers_.insert(most->first);
    } else {
      with_workers_.erase(most->first);
    }
  }

  const Activity& activity_;
  std::vector<Interval> calls_;      // draws, and where epochs begin and end
  std::vector<std::int64_t> turns_;  // where epochs begin and end
  std::set<StringId> with_workers_;
};

}  // namespace

IntervalSet TimelineBuilder::LoaderWait() const {
  return IntervalSet(LoaderInference(timeline_.trace_, *ledger_, activity_).Waits());
}

}  // namespace loopscope
