#include <fmt/format.h>

#include <algorithm>

#include "analyzers/analyzers.h"
#include "analyzers/diagnose/rule_texts.h"
#include "analyzers/ranks/rank_analyzers.h"
#include "profiler/cli/command.h"
#include "profiler/core/text.h"
#include "profiler/system/terminal.h"
#include "profiler/treatments/treatments.h"
#include "reports/text/page.h"
#include "reports/words/reflow.h"

namespace loopscope {

namespace {

constexpr std::size_t kTitleColumn = 25;

// Rules on one rank's trace, then those over ranks.
std::vector<std::string> RuleIds() {
  std::vector<std::string> ids;
  for (const Analyzer* rule : AllAnalyzers()) ids.emplace_back(rule->id);
  for (const RankAnalyzer* rule : AllRankAnalyzers()) ids.emplace_back(rule->id);
  return ids;
}

Result<int> RulesCommand(const Options& options) {
  const std::vector<std::string> ids = RuleIds();
  if (options.inputs.empty()) {
    Output output = StandardOutput();
    Page page(output);
    for (const std::string& id : ids) {
      const Treatment* const cure = TreatmentFor(id);
      page.Entry(kTitleColumn, {id}, {cure ? fmt::format("{}; try {}", RuleTitle(id), cure->id) : RuleTitle(id)});
    }
    page.Blank();
    page.Line({{"`loopscope rules ID` prints one: when it fires, what to do, where that is from."}});
    Print(output);
    return 0;
  }
  const std::string& id = options.inputs.front();
  if (std::ranges::find(ids, id) == ids.end()) {
    const std::string nearest = Nearest(id, ids);
    return Error{"unknown rule `" + id + "`", "rules",
                 nearest.empty() ? "`loopscope rules` lists them" : "did you mean `" + nearest + "`?"};
  }
  Write(stdout, Reflowed(RuleText(id), static_cast<std::size_t>(StandardOutput().columns)));
  return 0;
}

}  // namespace

extern const Command kRulesCommand{.id = "rules",
                                   .summary = "What the rules look for, or the text of one.",
                                   .usage = "rules [ID]",
                                   .example = "loopscope rules input-starvation",
                                   .inputs = 1,
                                   .run = RulesCommand};

}  // namespace loopscope
