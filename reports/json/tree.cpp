#include "reports/json/tree.h"

#include <nlohmann/json.hpp>

#include "profiler/core/report/headline.h"
#include "reports/json/read.h"
#include "reports/json/report.h"
#include "reports/json/writer.h"
#include "reports/words/headline_wording.h"

namespace loopscope {
namespace {

using Json = JsonWriter::Json;

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json HeadlineJson(const Report& report) {
  const Headline headline = HeadlineOf(report);
  return {{"text", HeadlineText(report)},
          {"kind", HeadlineKindName(headline.kind)},
          {"part", TextOrNull(headline.part)},
          {"rule", headline.finding ? Json(headline.finding->rule) : Json()},
          {"where", JsonWriter::Of(headline.where, report.run)},
          {"library", JsonWriter::Of(headline.library, report.run)},
          {"what", TextOrNull(headline.what)},
          {"of", headline.of_run ? "run" : "step"},
          {"ms", JsonWriter::Of(headline.ms)},
          {"share_pct", JsonWriter::Of(headline.share_pct)}};
}

}  // namespace

Json ReportTree(const Report& report) {
  Json tree = {{"schema", std::string(kReportSchemaPrefix) + std::to_string(kReportSchemaVersion)},
               {"headline", HeadlineJson(report)}};
  tree.update(JsonWriter::Of(report, report.run));
  return tree;
}

}  // namespace loopscope
