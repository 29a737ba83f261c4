#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/cli/command.h"
#include "profiler/cli/gate_options.h"
#include "profiler/cli/option_parsers.h"
#include "profiler/cli/option_values.h"
#include "profiler/commands/commit_gates.h"
#include "profiler/commands/progress_bar.h"
#include "profiler/containment/output_folder.h"
#include "profiler/core/printable.h"
#include "profiler/core/text.h"
#include "profiler/core/write_file.h"
#include "profiler/experiments/gate/bisection.h"
#include "profiler/launch/worktrees.h"
#include "profiler/system/terminal.h"
#include "reports/text/page.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr double kBisectSeconds = 3600, kBisectTraceSeconds = 30;
constexpr std::size_t kMostFiles = 8;

class BisectRun {
 public:
  BisectRun(const Options& options, fs::path output, Signals& signals, CommitGates gates)
      : options_(options),
        output_(std::move(output)),
        signals_(signals),
        gates_(std::move(gates)),
        bar_(options.quiet, options.no_color) {}

  Result<int> Run() {
    bar_.Say(fmt::format("{} after {}, up to {}: {} gates or more, {:.0f} s in all at most", CommitsText(),
                         gates_.at(0).short_id(), gates_.at(gates_.last()).short_id(), GatesExpected(gates_.last()),
                         options_.budget_s));
    const Bisection found = Bisect(gates_.last(), [this](int base, int commit) { return Judge(base, commit); });
    bar_.Clear();
    if (gates_.fault()) return *gates_.fault();
    if (signals_.interrupted()) {
      return Error{"interrupted", "", "--resume goes on with the gates that are finished", kExitInconclusive};
    }
    if (found.whole != CommitVerdict::kSlower) return NothingToSearch(found.whole);
    if (!options_.json.empty()) {
      if (const auto written = WriteOutputFile(options_.json, JsonText(found)); !written) return written.error();
    }
    Output output = StandardOutput(options_.no_color);
    Page page(output);
    for (const SlowCommit& one : found.found) WriteFound(one, page);
    WriteEnd(found, page);
    Print(output);
    return 0;
  }

 private:
  std::string CommitsText() const { return Counted(gates_.last(), "commit"); }

  CommitVerdict Judge(int base, int commit) {
    const bool known = gates_.all().contains({base, commit});
    const Gated& gated = gates_.Judge(base, commit);
    if (known || gates_.fault() || signals_.interrupted()) return gated.verdict;
    const std::string by =
        gated.slowdown ? fmt::format(" ({:+.1f} %, {})", 100 * *gated.slowdown, Counted(gated.pairs, "pair")) : "";
    bar_.Say(fmt::format("{} against {}: {}{}: {}", gates_.at(commit).short_id(), gates_.at(base).short_id(),
                         CommitVerdictName(gated.verdict), by, Printable(gates_.at(commit).subject, 60)));
    if (gated.verdict == CommitVerdict::kUnknown) bar_.Say("  " + Printable(gated.reason, 300));
    return gated.verdict;
  }

  Error NothingToSearch(CommitVerdict whole) const {
    const Gated& gated = gates_.all().at({0, gates_.last()});
    const bool same = whole == CommitVerdict::kNotSlower;
    return {same ? "the last commit is not slower than the first: " + gated.reason
                 : "whether the last commit is slower than the first is unknown: " + gated.reason,
            gates_.at(0).short_id() + ".." + gates_.at(gates_.last()).short_id(),
            same ? "name commits between which it got slower"
                 : "what the gate printed is in " + (output_ / "gates").native(),
            gated.exit_code > kExitInconclusive ? gated.exit_code : kExitInconclusive};
  }

  const Gated& GateOf(const SlowCommit& one) const { return gates_.all().at({one.base, one.commit}); }

  void WriteFound(const SlowCommit& one, Page& page) {
    const Commit& commit = gates_.at(one.commit);
    page.Heading(fmt::format("{} slows it down: {}", commit.short_id(), Printable(commit.subject, 200)));
    page.Entry(2, {""}, {fmt::format("by {}, {}", Printable(commit.author, 60), commit.date), Style::kDim});
    page.Entry(2, {""}, {Printable(GateOf(one).reason, 500)});
    std::vector<std::string> files = gates_.FilesOf(one.commit);
    const std::size_t count = files.size();
    files.resize(std::min(count, kMostFiles));
    std::string text = Printable(fmt::format("{}", fmt::join(files, ", ")), 500);
    if (count > kMostFiles) text += fmt::format(" and {} more", count - kMostFiles);
    if (count > 0) page.Entry(2, {""}, {"it changes " + text});
    if (one.maybe.empty()) return;
    std::vector<std::string> maybe;
    for (const int other : one.maybe) maybe.push_back(gates_.at(other).short_id());
    page.Entry(2, {""}, {fmt::format("or one just before it that could not be judged: {}", fmt::join(maybe, ", "))});
  }

  void WriteEnd(const Bisection& found, Page& page) const {
    int pairs = 0;
    for (const auto& [of, gated] : gates_.all()) pairs += gated.pairs;
    page.Blank();
    if (found.rest_unknown) {
      page.Entry(2, {""}, {"Whether commits after that slow it down further is unknown: the gate was inconclusive."});
    }
    page.Entry(2, {""},
               {fmt::format("{}, {} and {} of launches in {}", CommitsText(),
                            Counted(static_cast<double>(gates_.all().size()), "gate"), Counted(pairs, "pair"),
                            TimeText(gates_.spent_s()))});
  }

  std::string JsonText(const Bisection& found) {
    const auto commit_json = [&](int place) {
      const Commit& one = gates_.at(place);
      return nlohmann::json{{"commit", one.id}, {"author", one.author}, {"date", one.date}, {"subject", one.subject}};
    };
    nlohmann::json gates = nlohmann::json::array(), slow = nlohmann::json::array();
    for (const auto& [of, gated] : gates_.all()) {
      gates.push_back({{"base", gates_.at(of.first).id},
                       {"commit", gates_.at(of.second).id},
                       {"verdict", CommitVerdictName(gated.verdict)},
                       {"slowdown", gated.slowdown ? nlohmann::json(*gated.slowdown) : nlohmann::json(nullptr)},
                       {"pairs", gated.pairs},
                       {"reason", gated.reason}});
    }
    for (const SlowCommit& one : found.found) {
      nlohmann::json row = commit_json(one.commit);
      row["reason"] = GateOf(one).reason;
      row["files"] = gates_.FilesOf(one.commit);
      row["maybe"] = nlohmann::json::array();
      for (const int other : one.maybe) row["maybe"].push_back(gates_.at(other).id);
      slow.push_back(std::move(row));
    }
    const nlohmann::json json = {{"schema", "loopscope.bisect/1"},    {"good", commit_json(0)},
                                 {"bad", commit_json(gates_.last())}, {"commits", gates_.last()},
                                 {"slow", std::move(slow)},           {"rest_unknown", found.rest_unknown},
                                 {"gates", std::move(gates)},         {"seconds", gates_.spent_s()}};
    return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  const Options& options_;
  fs::path output_;
  Signals& signals_;
  CommitGates gates_;
  ProgressBar bar_;
};

Result<int> BisectCommand(const Options& options) {
  auto output = MakeOutputFolder(options.output, options.resume);
  if (!output) return output.error();
  Signals signals;
  auto trees = Worktrees::In(fs::absolute(*output), signals);
  if (!trees) return trees.error();
  auto commits = trees->History(options.inputs[0], options.inputs[1]);
  if (!commits) return commits.error();
  CommitGates gates(options, fs::absolute(*output), signals, std::move(*trees), std::move(*commits));
  return BisectRun(options, fs::absolute(*output), signals, std::move(gates)).Run();
}

void AddBisect(CLI::App& app, Options& options) {
  Last(app.add_option("--build", options.build, "shell command that builds a commit, in its folder"), "CMD");
  AddSensitivity(app, options, "what is still not slower (5%)");
  AddParsed(app, "--pairs", options.gate.pairs, ParseCount, "a whole number", "N",
            "pairs of launches of a gate at most (48)");
  AddPlace(app, "--json", options.json, "FILE", "also write to FILE: everything, for the next program");
  app.add_flag("--quiet", options.quiet, "no progress on standard error");
  app.add_flag("--no-color", options.no_color, "no colours, even on a terminal");
}

}  // namespace

extern const Command kBisectCommand{
    .id = "bisect",
    .summary = "Find the commit that slowed the program down, by gates of commits.",
    .usage = "bisect [options] GOOD BAD -- CMD…",
    .example = "loopscope bisect v1.2 HEAD --build 'make -j8' -- ./train",
    .takes = kTakesLaunching | kTakesDiagnosing | kTakesExperiment | kTakesProgram,
    .inputs = kAnyInputs,
    .inputs_text = "the commit that was fast enough, and a later one that is not",
    .set_defaults = [](Options& options) { options.budget_s = kBisectSeconds, options.time_s = kBisectTraceSeconds; },
    .add = AddBisect,
    .check = [](const Command& command, Options& options) -> Result<void> {
      if (options.inputs.size() == 2) return {};
      return WrongWords(command, fmt::format("{} instead of two: GOOD and BAD",
                                             Counted(static_cast<double>(options.inputs.size()), "commit")));
    },
    .run = BisectCommand};

}  // namespace loopscope
