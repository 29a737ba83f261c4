#include "profiler/commands/commit_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "profiler/cli/command.h"
#include "profiler/containment/containment.h"
#include "profiler/core/file_text.h"
#include "profiler/core/json_members.h"
#include "profiler/core/write_file.h"
#include "profiler/launch/process.h"
#include "profiler/system/environment.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

// The gate's report as written; without one, its last output.
Gated ReadGated(const fs::path& file, int exit_code, const std::string& printed) {
  Gated gated{.reason = printed, .exit_code = exit_code};
  const auto report = nlohmann::json::parse(FileText(file), nullptr, false);
  if (report.is_discarded() || !report.contains("gate") || !report["gate"].is_object()) return gated;
  const nlohmann::json& gate = report["gate"];
  gated.reason = json_members::Text(gate, "reason");
  gated.slowdown = json_members::Number(gate, "slowdown");
  gated.pairs = json_members::Whole<int>(gate, "pairs");
  if (exit_code == 0) gated.verdict = CommitVerdict::kNotSlower;
  if (exit_code == kExitFailed) gated.verdict = CommitVerdict::kSlower;
  return gated;
}

// Options that are passed on to each gate.
std::vector<std::string> GateWords(const Options& options, double budget_s) {
  std::vector<std::string> words = {"--quiet",
                                    "--budget",
                                    fmt::format("{:.0f}s", budget_s),
                                    "--min-window",
                                    fmt::format("{}ms", std::lround(1e3 * options.min_window_s)),
                                    "--warmup",
                                    options.warmup ? std::to_string(*options.warmup) : "auto",
                                    "--max-slowdown",
                                    fmt::format("{:g}%", 100 * options.gate.max_slowdown),
                                    "--time",
                                    fmt::format("{:g}s", options.time_s),
                                    "--seed",
                                    std::to_string(options.seed)};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (options.steps) add({"--steps", std::to_string(*options.steps)});
  if (options.gate.pairs) add({"--pairs", std::to_string(*options.gate.pairs)});
  if (options.launch_timeout_s) add({"--launch-timeout", fmt::format("{:g}s", *options.launch_timeout_s)});
  if (!options.prepare.empty()) add({"--prepare", options.prepare});
  if (options.yes) add({"--yes"});
  if (options.no_seed) add({"--no-seed"});
  if (options.no_turns) add({"--no-turns"});
  if (options.allow_writes) add({"--allow-writes"});
  if (options.keep) add({"--keep"});
  return words;
}

std::string LastLine(const fs::path& file) {
  std::string text = FileText(file);
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// The first line of the last error that a gate printed; without one, its last line.
std::string ErrorIn(const fs::path& file) {
  constexpr std::string_view kOurs = "loopscope: ";
  const std::string text = FileText(file);
  const std::size_t at = text.rfind(kOurs);
  if (at == text.npos) return LastLine(file);
  return text.substr(at + kOurs.size(), text.find('\n', at) - at - kOurs.size());
}

}  // namespace

int GatesExpected(int commits) {
  return 2 + static_cast<int>(std::ceil(std::log2(std::max(commits, 1))));
}

const Gated& CommitGates::Judge(int base, int commit) {
  const auto [known, is_new] = gated_.try_emplace({base, commit});
  Gated& gated = known->second;
  if (!is_new || fault_ || signals_->interrupted()) return gated;
  const auto begin = std::chrono::steady_clock::now();
  gated = Gate(base, commit);
  spent_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return gated;
}

Gated CommitGates::Gate(int base, int commit) {
  const fs::path folder = output_ / "gates" / (at(base).short_id() + "-" + at(commit).short_id());
  const fs::path file = folder / "gate.json", ended = folder / "exit.txt";
  std::error_code error;
  if (options_->resume && fs::exists(ended, error)) {
    return ReadGated(file, std::atoi(FileText(ended).c_str()), ErrorIn(folder / "printed.txt"));
  }
  RemoveTree(folder);
  fs::create_directories(folder, error);
  const auto base_folder = Prepared("base", base, folder), folder_of_commit = Prepared("candidate", commit, folder);
  for (const auto* one : {&base_folder, &folder_of_commit}) {
    if (!*one) return {.reason = one->error().what + ": " + one->error().next, .exit_code = one->error().exit_code};
  }
  std::vector<std::string> command = {"env",
                                      "-C",
                                      *folder_of_commit,
                                      fs::read_symlink("/proc/self/exe", error),
                                      "gate",
                                      "-o",
                                      folder / "launches",
                                      "--json",
                                      file,
                                      "--against-dir",
                                      *base_folder};
  for (std::string& word : GateWords(*options_, BudgetOfNext())) command.push_back(std::move(word));
  command.push_back("--");
  command.insert(command.end(), options_->program.begin(), options_->program.end());
  const ProcessEnd end = Run(std::move(command), folder / "printed.txt", Role::kTool);
  if (end.how != ProcessEnd::How::kExited) return {.reason = "the gate did not end by itself", .exit_code = 4};
  if (end.status == 2) {
    fault_ = Error{ErrorIn(folder / "printed.txt"), "gate", "see " + (folder / "printed.txt").native()};
  }
  (void)WritePrivateFile(ended, std::to_string(end.status));
  return ReadGated(file, end.status, ErrorIn(folder / "printed.txt"));
}

// The remaining budget is shared by the remaining gates.
double CommitGates::BudgetOfNext() const {
  const int to_come = std::max(1, GatesExpected(last()) - static_cast<int>(gated_.size()) + 1);
  return std::max(1.0, (options_->budget_s - spent_s_) / to_come);
}

// A worktree with the commit, built; the folder in it that is the working folder here.
Result<fs::path> CommitGates::Prepared(const std::string& name, int commit, const fs::path& folder) {
  auto inside = trees_.CheckOut(name, at(commit));
  if (!inside) return inside;
  std::error_code error;
  if (!fs::is_directory(*inside, error)) {
    return Error{"the commit has no such folder", *inside, "run it from a folder that all of the commits have"};
  }
  const auto built = built_.find(name);
  if (options_->build.empty() || (built != built_.end() && built->second == commit)) return inside;
  built_.erase(name);
  const fs::path printed = folder / (name + "-build.txt");
  const ProcessEnd end = Run({"env", "-C", *inside, "sh", "-c", options_->build}, printed, Role::kTrial);
  if (!end.ok()) {
    const std::string said = LastLine(printed);
    return Error{"it does not build", at(commit).short_id(),
                 said.empty() ? fmt::format("--build ended with status {}", end.status) : said};
  }
  built_[name] = commit;
  return inside;
}

ProcessEnd CommitGates::Run(std::vector<std::string> command, const fs::path& printed, Role role) {
  ProcessSpec spec;
  spec.command = std::move(command);
  spec.environment = AsStrings(trees_.environment());
  spec.output = printed;
  spec.role = role;
  return RunProcess(spec, *signals_);
}

std::vector<std::string> CommitGates::FilesOf(int commit) {
  return trees_.ChangedFiles(commits_[static_cast<std::size_t>(commit) - 1], at(commit));
}

}  // namespace loopscope
