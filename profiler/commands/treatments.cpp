#include "profiler/treatments/treatments.h"

#include <fmt/format.h>

#include "profiler/commands/command_table.h"
#include "profiler/commands/option_values.h"
#include "profiler/core/host.h"

namespace loopscope {
namespace {

std::string_view MetricText(Metric metric) {
  switch (metric) {
    case Metric::kStepTime:
      return "time per step";
    case Metric::kEpochBoundary:
      return "time at the end of an epoch";
    case Metric::kPeakMemory:
      break;
  }
  return "peak memory";
}

std::string Joined(std::span<const std::string_view> items) {
  return items.empty() ? "-" : fmt::format("{}", fmt::join(items, ", "));
}

void Print(const Treatment& treatment) {
  const std::vector<std::string> values = treatment.values(Finding{}, ThisHost());
  fmt::print("{}: {}\n\n", treatment.id, treatment.summary);
  fmt::print("  values tried here  {}\n",
             values.empty() ? "none on this machine" : fmt::format("{}", fmt::join(values, ", ")));
  fmt::print("  cures              {}\n", Joined(treatment.cures));
  fmt::print("  judged by          {}\n", MetricText(treatment.metric));
  fmt::print("  same training      {}{}{}\n", ExactnessName(treatment.exactness),
             treatment.condition.empty() ? "" : ": ", treatment.condition);
  fmt::print("  applied by         {}\n", Joined(treatment.appliers));
}

}  // namespace

Result<int> TreatmentsCommand(const Options& options) {
  if (options.inputs.empty()) {
    for (const Treatment* treatment : AllTreatments()) {
      fmt::print("{:<18} {:<17} {}\n", treatment->id, ExactnessName(treatment->exactness), treatment->summary);
    }
    return 0;
  }
  const std::string& id = options.inputs.front();
  if (const Treatment* treatment = FindTreatment(id)) {
    Print(*treatment);
    return 0;
  }
  std::vector<std::string> ids;
  for (const Treatment* treatment : AllTreatments()) ids.emplace_back(treatment->id);
  const std::string nearest = Nearest(id, ids);
  return Error{"unknown treatment `" + id + "`", "treatments",
               nearest.empty() ? "`loopscope treatments` lists them" : "did you mean `" + nearest + "`?"};
}

}  // namespace loopscope
