#include <fmt/format.h>

#include "analyzers/analyzers.h"
#include "analyzers/rule_texts.h"
#include "profiler/commands/command_table.h"
#include "profiler/commands/option_values.h"
#include "profiler/treatments/treatments.h"

namespace loopscope {

Result<int> RulesCommand(const Options& options) {
  if (options.inputs.empty()) {
    for (const Analyzer* rule : AllAnalyzers()) {
      const Treatment* const cure = TreatmentFor(rule->id);
      fmt::print("{:<24} {:<22} {}\n", rule->id, cure ? cure->id : "-", RuleTitle(rule->id));
    }
    return 0;
  }
  const std::string& id = options.inputs.front();
  if (!FindAnalyzer(id)) {
    std::vector<std::string> ids;
    for (const Analyzer* rule : AllAnalyzers()) ids.emplace_back(rule->id);
    const std::string nearest = Nearest(id, ids);
    return Error{"unknown rule `" + id + "`", "rules",
                 nearest.empty() ? "`loopscope rules` lists them" : "did you mean `" + nearest + "`?"};
  }
  fmt::print("{}", RuleText(id));
  return 0;
}

}  // namespace loopscope
