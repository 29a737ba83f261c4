#include <fmt/format.h>

#include <algorithm>

#include "analyzers/shared/evidence.h"
#include "analyzers/shared/processors.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

constexpr double kMinDelayPct = 5;  // of the step, for which the training thread waits for a processor
constexpr double kMinStartPct = 5;  // of an epoch, for which it waits for workers to start

// Where the loader is constructed, if a shim recorded it; else where batches are requested.
std::optional<Where> LoaderPlace(const Timeline& timeline) {
  const auto made = PlaceOf(FactOf(timeline.trace(), "loader.where"));
  return made ? made : LoaderAskedAt(timeline);
}

// More workers than processors, and training waits for one.
std::optional<Finding> Crowded(const Timeline& timeline, std::int64_t workers) {
  const int cores = timeline.trace().run.cores;
  const auto processors = ProcessorsOf(timeline);
  if (!processors || cores <= 0 || workers * processors->ranks_here <= cores) return std::nullopt;
  const double ms = processors->own_delay_ms;
  if (SharePct(timeline, ms) < kMinDelayPct) return std::nullopt;
  Finding finding = CostingAtMost(
      timeline, ms,
      fmt::format("{}{} compete with training for {}: the training thread waits {} per step for one ({})",
                  Counted(static_cast<std::uint64_t>(workers), "loader worker"),
                  processors->ranks_here > 1 ? fmt::format(" of each of {} ranks", processors->ranks_here) : "",
                  Counted(static_cast<std::uint64_t>(cores), "processor"), MsText(ms), ShareText(timeline, ms)));
  finding.evidence.push_back({fmt::format("ready without a processor for {} of each step, of which {:.0f} % because of "
                                          "the program itself",
                                          MsText(processors->delay_ms), 100 * processors->own_share),
                              static_cast<std::uint64_t>(workers), LoaderPlace(timeline)});
  return finding;
}

// The extra wait for the first batch of an epoch compared with any other.
struct Starts {
  double extra_ms = 0;
  std::uint64_t epochs = 0;
};

// Time until the first operator after the loader was asked, whose start is a range of its own or in none.
std::int64_t FirstBatchNs(const Timeline& timeline, std::int64_t start_ns, const Step& step) {
  std::int64_t end_ns = 0;
  bool computes = false;
  timeline.ForEach(timeline.training_thread(), {start_ns, step.time.end_ns}, [&](EventRef ref) {
    const Event& event = timeline.event(ref);
    computes |= end_ns > 0 && event.kind == EventKind::kOp && event.start_ns >= end_ns;
    if (!computes && event.is_range(RangeCategory::kLoader)) end_ns = std::max(end_ns, event.end_ns);
  });
  return end_ns == 0 ? 0 : end_ns - start_ns;
}

Starts MeasureStarts(const Timeline& timeline) {
  Starts starts, disturbed;
  for (const std::int64_t start_ns : timeline.epoch_starts()) {
    const int index = timeline.step_at(start_ns);
    if (index < 0 || timeline.steps()[static_cast<std::size_t>(index)].warmup) continue;
    const std::int64_t first_ns = FirstBatchNs(timeline, start_ns, timeline.steps()[static_cast<std::size_t>(index)]);
    if (first_ns == 0) continue;
    Starts& these = Disturbed(timeline, start_ns) ? disturbed : starts;
    these.extra_ms += std::max(0.0, Ms(first_ns) - timeline.part_ms(Part::kLoaderWait));
    ++these.epochs;
  }
  return starts.epochs > 0 ? starts : disturbed;
}

// Workers that are started anew for each epoch.
std::optional<Finding> Restarted(const Timeline& timeline) {
  if (FactOf(timeline.trace(), "loader.persistent") != "off") return std::nullopt;
  const std::uint64_t steps = timeline.steps_per_epoch();
  const Starts starts = MeasureStarts(timeline);
  if (starts.epochs == 0 || steps == 0) {
    return Finding::CannotTell("no start of an epoch was in the window, so what its workers' start costs is unknown");
  }
  const double each_ms = starts.extra_ms / static_cast<double>(starts.epochs);
  const double ms = each_ms / static_cast<double>(steps);
  if (SharePct(timeline, ms) < kMinStartPct) return std::nullopt;
  Finding finding = CostingOutside(timeline, ms, "");
  finding.title = fmt::format("the loader's workers start anew with each epoch: {} each time, {:.0f} % of the epoch",
                              MsText(each_ms), finding.cost_pct);
  finding.claims = {{.of = Time::kEpochStart}};
  finding.treatment_id = "loader.persistent";
  finding.evidence.push_back(
      {fmt::format("{} started, {} long", Counted(starts.epochs, "epoch"), Counted(steps, "step")), starts.epochs,
       LoaderPlace(timeline)});
  return finding;
}

std::vector<Finding> Run(const Timeline& timeline) {
  const auto workers = NumberFact(timeline.trace(), "loader.workers");
  if (!workers && !timeline.loader_known()) return {Finding::NotApplicable("no loader was seen")};
  if (!workers) return {Finding::CannotTell("the trace does not record how many workers the loader has")};
  if (*workers <= 0) return {};
  if (auto found = Crowded(timeline, *workers)) return {*found};
  if (auto found = Restarted(timeline)) return {*found};
  return {};
}

}  // namespace

extern const Analyzer kTooManyWorkers{
    .id = "too-many-workers", .question = "Do the loader's workers cost training more than they bring?", .run = Run};

}  // namespace loopscope
