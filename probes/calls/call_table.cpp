#include "probes/calls/call_table.h"

#include "probes/calls/interposed.h"
#include "probes/export.h"

extern "C" LOOPSCOPE_EXPORT const loopscope::CallTable* loopscope_calls_v1() {
  using namespace loopscope;
  static constexpr CallTable table{.real_op_calls = RealOpCalls,
                                   .set_op_calls = SetOpCalls,
                                   .observe_memory = ObserveMemory,
                                   .observe_waits = ObserveWaits,
                                   .observe_calls = ObserveCalls};
  return &table;
}
