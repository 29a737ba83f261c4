#include "profiler/cli/gate_options.h"

#include <fmt/format.h>

#include "profiler/cli/option_parsers.h"
#include "profiler/cli/option_values.h"
#include "profiler/cli/options.h"
#include "profiler/core/statistics/gate_decision.h"

namespace loopscope {
namespace {

constexpr char kUsage[] = "loopscope gate --against 'CMD_A' -- CMD_B";

Error Wrong(std::string what, std::string next = kUsage) {
  return {std::move(what), "gate", std::move(next)};
}

Result<std::vector<std::vector<std::string>>> SplitCommands(const std::vector<std::string>& texts) {
  std::vector<std::vector<std::string>> commands;
  for (const std::string& text : texts) {
    auto words = SplitWords(text);
    if (!words) return words.error();
    if (words->empty() || words->front().empty()) return Wrong("a command is empty");
    commands.push_back(std::move(*words));
  }
  return commands;
}

Result<void> CheckReference(const Options& options, std::size_t workloads) {
  const GateOptions& gate = options.gate;
  const bool other_side = !options.against_dir.empty() || !options.against_env.empty();
  if (gate.accept && gate.baseline.empty())
    return Wrong("--accept records counters, but no file", "add --baseline FILE");
  if (gate.accept && (other_side || !gate.against.empty())) {
    return Wrong("--accept records counters of the command itself", "leave out --against");
  }
  if (gate.against.empty() && !other_side && gate.baseline.empty()) return Wrong("nothing to gate against");
  if (const int fewest = GateLimits().fewest_pairs; gate.pairs && *gate.pairs < fewest) {
    return Wrong(fmt::format("--pairs {}: fewer than {} decide nothing", *gate.pairs, fewest),
                 fmt::format("allow {} or more", fewest));
  }
  if (!gate.against.empty() && gate.against.size() != workloads) {
    return Wrong(fmt::format("{} commands, but {} to gate against", workloads, gate.against.size()),
                 "give one --against per command, in the same order, or none with --against-dir");
  }
  return {};
}

}  // namespace

std::optional<Undecided> ParseUndecided(std::string_view text) {
  if (text == "tell") return Undecided::kTell;
  if (text == "fail") return Undecided::kFail;
  if (text == "pass") return Undecided::kPass;
  return std::nullopt;
}

std::optional<std::pair<std::string, std::string>> ParseVariable(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == text.npos) return std::nullopt;
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

void AddOtherSide(CLI::App& app, Options& options, const char* first) {
  Last(app.add_option("--against-dir", options.against_dir, fmt::format("folder in which {} starts", first)), "DIR");
  const auto into = [&options](const CLI::results_t& given) {
    for (const std::string& one : given) {
      const auto variable = ParseVariable(one);
      if (!variable) throw CLI::ValidationError("--against-env", "'" + one + "' is not NAME=VALUE");
      options.against_env.insert_or_assign(variable->first, variable->second);
    }
    return true;
  };
  Each(app, "--against-env", into, "NAME=VALUE", "environment of that side; may be repeated");
}

void AddSensitivity(CLI::App& app, Options& options, const char* text) {
  AddParsed(app, "--max-slowdown", options.gate.max_slowdown, ParseShare, "a share such as 5%", "P", text);
}

void AddGate(CLI::App& app, Options& options) {
  GateOptions& gate = options.gate;
  const auto append = [](std::vector<std::string>& to) {
    return [&to](const CLI::results_t& given) {
      to.insert(to.end(), given.begin(), given.end());
      return true;
    };
  };
  AddOtherSide(app, options, "what is gated against");
  Each(app, "--against", append(gate.against), "CMD", "what is gated against: one per command, in the same order");
  Each(app, "--workload", append(gate.further), "CMD", "a further command to gate; may be repeated");
  AddSensitivity(app, options, "what still passes (5%)");
  AddParsed(app, "--pairs", gate.pairs, ParseCount, "a whole number", "N", "pairs of launches at most (48)");
  AddPlace(app, "--baseline", gate.baseline, "FILE", "compare counters with those recorded there");
  app.add_flag("--accept", gate.accept, "record the command's counters in --baseline FILE, and do nothing else");
  app.add_flag("--strict-counters", gate.strict_counters, "every change of a counter fails");
  AddPlace(app, "--record", gate.record, "DIR",
           "add the result to the history in DIR, which `loopscope history` shows");
  AddParsed(app, "--inconclusive", gate.undecided, ParseUndecided, "fail, pass or tell", "fail|pass|tell",
            "exit code when the result is inconclusive: 1, 0 or 3 (tell)");
}

Result<void> FindWorkloads(Options& options) {
  GateOptions& gate = options.gate;
  auto commands = SplitCommands(gate.further);
  if (!commands) return commands.error();
  if (!options.program.empty()) commands->insert(commands->begin(), options.program);
  if (commands->empty()) return Wrong("no program to run: put it after `--`");
  auto against = SplitCommands(gate.against);
  if (!against) return against.error();
  if (const auto checked = CheckReference(options, commands->size()); !checked) return checked;
  // The same command elsewhere, unless another is named.
  const bool other_side = !options.against_dir.empty() || !options.against_env.empty();
  if (against->empty() && other_side) *against = *commands;
  against->resize(commands->size());
  for (std::size_t i = 0; i < commands->size(); ++i) {
    gate.workloads.push_back({std::move((*commands)[i]), std::move((*against)[i])});
  }
  return {};
}

}  // namespace loopscope
