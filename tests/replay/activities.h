// The activity records that a CUPTI makes of a program, as bytes in its version's layout.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/cupti/cupti_library.h"
#include "tests/replay/program.h"

namespace loopscope::replay {

struct Activity {
  std::uint64_t end_ns;     // CUPTI hands records over about as their work ends
  CUpti_ActivityKind kind;  // in front of the bytes too
  std::uint32_t callback;   // of calls
  std::vector<std::uint8_t> bytes;
};

// One version's records, walk and interface.
struct Layout {
  const char* name;
  std::uint32_t version;
  std::size_t (*bytes_of)(CUpti_ActivityKind kind);
  decltype(Cupti::next_record) next_record;
  bool enables_single_calls;
};
const Layout* FindLayout(const std::string& name);  // "12.4", "12.8", "13.0", "13.4"

// Names of calls by callback id, which is their place + 1.
struct CallNames {
  std::vector<std::string> runtime, driver;
};

// Sorted by their ends. `thread_ids`: the system's, by the program's threads. Times begin at base_ns. Names that are
// pointed to are the program's.
std::vector<Activity> ActivitiesOf(const Program& program, const Layout& layout,
                                   const std::map<std::uint32_t, std::uint32_t>& thread_ids, std::uint64_t base_ns,
                                   CallNames& names);

}  // namespace loopscope::replay
