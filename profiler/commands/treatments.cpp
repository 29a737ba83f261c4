#include "profiler/treatments/treatments.h"

#include <fmt/format.h>

#include "profiler/cli/command.h"
#include "profiler/core/host.h"
#include "profiler/core/text.h"
#include "profiler/system/terminal.h"
#include "reports/text/page.h"

namespace loopscope {
namespace {

constexpr std::size_t kSummaryColumn = 37, kDetailColumn = 21;

std::string_view MetricText(Metric metric) {
  switch (metric) {
    case Metric::kStepTime:
      return "time per step";
    case Metric::kEpochBoundary:
      return "time at the end of an epoch";
    case Metric::kSampleTime:
      return "time per sample";
    case Metric::kTimeToTarget:
      return "time to a target (prove --target)";
    case Metric::kPeakMemory:
      break;
  }
  return "peak memory";
}

std::string Joined(std::span<const std::string_view> items) {
  return items.empty() ? "-" : fmt::format("{}", fmt::join(items, ", "));
}

std::string SamenessText(const Treatment& treatment) {
  const std::string name(ExactnessName(treatment.exactness));
  return treatment.condition.empty() ? name : name + ": " + std::string(treatment.condition);
}

void Write(const Treatment& treatment, Page& page) {
  const std::vector<std::string> values = treatment.ValuesFor(Finding{}, ThisHost());
  page.Entry(0, {""}, {fmt::format("{}: {}", treatment.id, treatment.summary)});
  page.Blank();
  const auto row = [&page](std::string_view label, const std::string& text) {
    page.Entry(kDetailColumn, {"  " + std::string(label)}, {text});
  };
  row("values tried here", values.empty() ? "none on this machine" : fmt::format("{}", fmt::join(values, ", ")));
  row("cures", Joined(treatment.cures));
  row("judged by", std::string(MetricText(treatment.metric)));
  row("same training", SamenessText(treatment));
  row("applied by", Joined(treatment.appliers));
  row("live pairs", treatment.live ? "yes, it can be switched between steps" : "no, it needs launches");
}

void WriteAll(Page& page) {
  for (const Treatment* treatment : AllTreatments()) {
    page.Entry(kSummaryColumn, {fmt::format("{:<18} {:<17}", treatment->id, ExactnessName(treatment->exactness))},
               {treatment->summary});
  }
  page.Blank();
  page.Line({{"`loopscope treatments ID` prints one: the values tried, and who applies them."}});
}

Result<int> TreatmentsCommand(const Options& options) {
  Output output = StandardOutput();
  Page page(output);
  const std::string id = options.inputs.empty() ? "" : options.inputs.front();
  const Treatment* const found = FindTreatment(id);
  if (found != nullptr || options.inputs.empty()) {
    found ? Write(*found, page) : WriteAll(page);
    Print(output);
    return 0;
  }
  std::vector<std::string> ids;
  for (const Treatment* treatment : AllTreatments()) ids.emplace_back(treatment->id);
  const std::string nearest = Nearest(id, ids);
  return Error{"unknown treatment `" + id + "`", "treatments",
               nearest.empty() ? "`loopscope treatments` lists them" : "did you mean `" + nearest + "`?"};
}

}  // namespace

extern const Command kTreatmentsCommand{.id = "treatments",
                                        .summary = "What `prove` can try, or one of them.",
                                        .usage = "treatments [ID]",
                                        .example = "loopscope treatments loader.workers",
                                        .inputs = 1,
                                        .run = TreatmentsCommand};

}  // namespace loopscope
