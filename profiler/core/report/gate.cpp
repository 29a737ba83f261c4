#include "profiler/core/report/gate.h"

#include <algorithm>

namespace loopscope {
namespace {

int Badness(const GateRow& row) {
  switch (row.verdict) {
    case GateVerdict::kFail:
      return 3;
    case GateVerdict::kInconclusive:
      return row.error.empty() ? 1 : 2;
    case GateVerdict::kPass:
      break;
  }
  return 0;
}

}  // namespace

std::string_view CounterKindName(CounterKind kind) {
  switch (kind) {
    case CounterKind::kSync:
      return "sync";
    case CounterKind::kDebug:
      return "debug";
    case CounterKind::kFinding:
      return "finding";
    case CounterKind::kCount:
      break;
  }
  return "count";
}

std::string_view GrownKindName(GrownKind kind) {
  switch (kind) {
    case GrownKind::kPart:
      return "part";
    case GrownKind::kLine:
      return "line";
    case GrownKind::kOperator:
      return "operator";
    case GrownKind::kKernel:
      break;
  }
  return "kernel";
}

const GateRow& DecidingRow(const GateFacts& gate) {
  return *std::ranges::max_element(gate.workloads, {}, Badness);
}

}  // namespace loopscope
