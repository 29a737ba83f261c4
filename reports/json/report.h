// The members of a report's JSON, by reports/schema.json.
#pragma once

#include "profiler/core/report/report.h"
#include "reports/json/compare.h"
#include "reports/json/fields.h"
#include "reports/json/findings.h"
#include "reports/json/gate.h"
#include "reports/json/gpu.h"
#include "reports/json/headroom.h"
#include "reports/json/run.h"
#include "reports/json/steps.h"
#include "reports/json/sweep.h"
#include "reports/json/target.h"
#include "reports/json/trials.h"

namespace loopscope {

template <>
struct JsonFields<Report> {
  template <class Fields, class Row>
  static void List(Fields& fields, Row& report) {
    fields("run", report.run);
    fields("steps", report.steps);
    fields("whole", report.whole);
    fields.Object("breakdown", [&](auto& breakdown) {
      for (int part = 0; part < kParts; ++part) {
        breakdown(PartName(static_cast<Part>(part)), report.breakdown_ms[part]);
      }
    });
    fields("lines", report.lines);
    fields("whole_lines", report.whole_lines);
    fields("worker_lines", report.worker_lines);
    fields("gpu", report.gpu);
    fields("headroom", report.headroom);
    fields("forms", report.forms);
    fields("collectives", report.collectives);
    fields("quality", report.quality);
    fields("rules", report.rules);
    fields("findings", report.findings);
    fields("trials", report.trials);
    fields("combined", report.combined);
    fields("noise", report.noise);
    fields("plan", report.plan);
    fields.TextOrNull("output_directory", report.output_directory);
    fields.IfWithWholePaths(report.gate && !report.gate->workloads.empty(), "gate", report.gate);
    fields("sweep", report.sweep);
    fields("target", report.target);
    fields("compare", report.compare);
    fields("per_rank", report.per_rank);
  }
};

}  // namespace loopscope
