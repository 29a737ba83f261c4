#include "profiler/commands/watch_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/core/text.h"
#include "reports/words/units.h"

namespace loopscope {
namespace {

using wire::MarkKind, wire::RangeCategory;

struct WatchedPart {
  RangeCategory category;
  const char* name;
};
// Ranges that do not lie in each other.
constexpr std::array<WatchedPart, 7> kWatched{{{RangeCategory::kLoader, "loader"},
                                               {RangeCategory::kBackward, "backward"},
                                               {RangeCategory::kOptimizer, "optimizer"},
                                               {RangeCategory::kSync, "waiting for the GPU"},
                                               {RangeCategory::kCopyToDevice, "copies to the GPU"},
                                               {RangeCategory::kCommunication, "communication"},
                                               {RangeCategory::kEvaluation, "evaluation"}}};
constexpr double kLeastSharePct = 0.5;

double Seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

}  // namespace

void WatchFigures::Process::StepEnded(std::uint64_t time_ns, std::uint32_t tid) {
  if (steps++ == 0) since_ns = time_ns;
  new_steps += time_ns > since_ns;
  last_step_ns = std::max(last_step_ns, time_ns);
  training_tid = tid;
}

void WatchFigures::Add(const NewRecords& records) {
  Process& process = processes_[records.pid];
  ForEachRecord(records.view(), [&](wire::RecordHead head, const char* at) {
    if (head.kind == wire::RecordKind::kMark) {
      const auto mark = RecordAt<wire::MarkRecord>(at);
      const auto kind = static_cast<MarkKind>(head.sub);
      if (first_ns_ == 0) first_ns_ = mark.time_ns;
      if (kind == MarkKind::kEpochEnd) ++process.epochs;
      if (kind == MarkKind::kResidentBytes) process.resident_bytes = mark.value;
      if (kind == MarkKind::kStepEnd) process.StepEnded(mark.time_ns, records.tid);
    } else if (head.kind == wire::RecordKind::kStep && head.words * 8 >= sizeof(wire::StepRecord)) {
      const auto step = RecordAt<wire::StepRecord>(at);
      if (first_ns_ == 0) first_ns_ = step.end_ns;
      process.StepEnded(step.end_ns, records.tid);
    } else if (head.kind == wire::RecordKind::kRange) {
      const auto part = std::ranges::find(kWatched, static_cast<RangeCategory>(head.sub), &WatchedPart::category);
      if (part == kWatched.end()) return;
      process.parts_ns[records.tid][static_cast<std::size_t>(part - kWatched.begin())] +=
          RecordAt<wire::RangeRecord>(at).duration_ns;
    }
  });
}

std::string WatchFigures::Take(std::uint64_t now_ns) {
  const auto most = std::ranges::max_element(processes_, {}, [](const auto& one) { return one.second.steps; });
  if (most == processes_.end() || most->second.steps == 0) {
    if (first_ns_ == 0 || now_ns < first_ns_) return "no step yet";
    return fmt::format("no step yet, {:.0f} s after the start", Seconds(now_ns - first_ns_));
  }
  Process& process = most->second;
  std::string text = Counted(static_cast<double>(process.steps), "step");
  if (process.epochs > 0) text += ", " + Counted(static_cast<double>(process.epochs), "epoch");
  if (process.resident_bytes > 0) text += ", " + HumanBytes(static_cast<double>(process.resident_bytes));
  const std::uint64_t passed_ns = process.last_step_ns - process.since_ns;
  if (process.new_steps > 0 && passed_ns > 0) {
    text += fmt::format("; {} per step", HumanMs(Seconds(passed_ns) * 1e3 / static_cast<double>(process.new_steps)));
    for (std::size_t i = 0; i < kParts; ++i) {
      const double pct =
          100 * static_cast<double>(process.parts_ns[process.training_tid][i]) / static_cast<double>(passed_ns);
      if (pct >= kLeastSharePct) text += fmt::format(", {} {}", kWatched[i].name, HumanPct(std::min(pct, 100.0)));
    }
    process.since_ns = process.last_step_ns;
    process.new_steps = 0;
    process.parts_ns.clear();
  } else if (now_ns > process.last_step_ns) {
    text += fmt::format("; the last one ended {:.0f} s ago", Seconds(now_ns - process.last_step_ns));
  }
  return text;
}

}  // namespace loopscope
