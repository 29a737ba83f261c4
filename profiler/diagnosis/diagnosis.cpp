#include "profiler/diagnosis/diagnosis.h"

#include <algorithm>

#include "analyzers/diagnose/diagnose.h"
#include "profiler/core/file_text.h"
#include "profiler/core/statistics/series.h"
#include "profiler/importers/importers.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {

std::string TreatmentOf(const Finding& finding, const RunInfo& run, const FactMap& facts, const Knobs& knobs) {
  const Host host{.cpu = run.cpu, .cores = run.cores, .features = run.cpu_features, .gpus = run.gpus};
  const bool known = run.source == "capture" && run.cores > 0;
  const auto fits = [&](const Treatment& one) {
    return (!known || !one.ValuesFor(finding, host).empty()) && CanApply(one, facts, knobs);
  };
  if (const Treatment* own = FindTreatment(finding.treatment_id); own && fits(*own)) return finding.treatment_id;
  for (const Treatment* one : AllTreatments()) {
    if (Cures(*one, finding.rule) && fits(*one)) return std::string(one->id);
  }
  return "";
}

Report DiagnosisOf(Trace trace) {
  return DiagnosisOf(std::make_shared<const Timeline>(Timeline::Build(std::move(trace))));
}

Report DiagnosisOf(std::shared_ptr<const Timeline> timeline) {
  Report report = ReportOf(timeline);
  const Trace& trace = timeline->trace();
  Diagnose(
      *timeline, [&](const Finding& finding) { return TreatmentOf(finding, report.run, trace.facts, trace.knobs); },
      report);
  return report;
}

int WarmupOf(const Timeline& timeline, int least) {
  std::vector<double> lengths;
  for (const Step& step : timeline.steps()) {
    if (!step.boundary && step.operators) lengths.push_back(static_cast<double>(step.time.length()));
  }
  return std::max(least, SettledAfter(lengths));
}

}  // namespace loopscope
