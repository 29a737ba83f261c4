#include <fmt/format.h>

#include "analyzers/shared/evidence.h"
#include "profiler/core/analyzer.h"
#include "profiler/core/trace/facts.h"

namespace loopscope {
namespace {

std::vector<Finding> Run(const Timeline& timeline) {
  const auto workers = NumberFact(timeline.trace(), "loader.workers");
  if (!workers) return {Finding::CannotTell("the trace does not tell what the loader's workers give")};
  if (*workers < 2) return {Finding::NotApplicable("the loader has fewer than two workers")};
  if (FactOf(timeline.trace(), "loader.repeats") != "workers") return {};
  const auto count = static_cast<double>(*workers);
  Finding finding = CostingAtMost(
      timeline, timeline.mean_step_ms() * (count - 1) / count,
      fmt::format("each of the loader's {} workers gives all records: an epoch trains on each record {} times",
                  *workers, *workers));
  const auto uses = static_cast<std::uint64_t>(*workers);
  finding.evidence.push_back({"the first batches of all workers are the same; the data set's iterator is defined here",
                              uses, PlaceOf(FactOf(timeline.trace(), "loader.iterates"))});
  finding.evidence.push_back({"the loader with the workers", uses, PlaceOf(FactOf(timeline.trace(), "loader.where"))});
  return {std::move(finding)};
}

}  // namespace

extern const Analyzer kRepeatedRecords{.id = "repeated-records",
                                       .question = "Do the workers of an iterable data set each give the same records?",
                                       .run = Run};

}  // namespace loopscope
