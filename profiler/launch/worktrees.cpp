#include "profiler/launch/worktrees.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "profiler/containment/output_folder.h"
#include "profiler/core/file_text.h"
#include "profiler/core/text.h"
#include "profiler/launch/process.h"
#include "profiler/system/environment.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr char kBetween = '\x1f';  // fields of a commit, which hold none

Commit CommitOf(const std::string& line) {
  std::vector<std::string> fields;
  for (const auto& field : std::views::split(line, kBetween)) fields.emplace_back(field.begin(), field.end());
  fields.resize(4);
  return {fields[0], fields[1], fields[2], fields[3]};
}

Error GitFailed(const std::string& what, const std::string& where, const std::string& said) {
  return {what, where, said.empty() ? "try the same with git itself" : "git: " + said};
}

}  // namespace

Worktrees::Worktrees(Worktrees&& other) noexcept
    : folder_(std::move(other.folder_)),
      prefix_(std::move(other.prefix_)),
      signals_(other.signals_),
      made_(std::exchange(other.made_, {})) {}

Worktrees::~Worktrees() {
  for (const fs::path& path : made_) {
    (void)Git({"worktree", "remove", "--force", path});
    RemoveTree(path);
  }
  if (!made_.empty()) (void)Git({"worktree", "prune"});
}

Worktrees::Answer Worktrees::Git(std::vector<std::string> words) {
  // The repository's hooks are for the user's own commits.
  std::vector<std::string> command = {"git", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"};
  command.insert(command.end(), words.begin(), words.end());
  ProcessSpec spec;
  spec.command = std::move(command);
  spec.environment = AsStrings(OwnEnvironment());
  spec.output = folder_ / "git.txt";
  std::error_code error;
  fs::remove(spec.output, error);  // what is printed is added to what is there
  spec.throw_away = true;
  const ProcessEnd end = RunProcess(spec, *signals_);
  std::string text = FileText(spec.output);
  while (text.ends_with('\n')) text.pop_back();
  return {end.ok(), std::move(text)};
}

Result<Worktrees> Worktrees::In(fs::path folder, Signals& signals) {
  Worktrees worktrees(std::move(folder), signals);
  const Answer prefix = worktrees.Git({"rev-parse", "--show-prefix"});
  if (!prefix.ok) {
    return Error{"no Git repository", fs::current_path(), "run it in a repository that has both commits (needs git)"};
  }
  worktrees.prefix_ = prefix.text;
  return worktrees;
}

Result<std::string> Worktrees::Resolve(const std::string& name) {
  const Answer id = Git({"rev-parse", "--verify", "--quiet", name + "^{commit}"});
  if (name.starts_with("-") || !id.ok || id.text.empty())
    return Error{"no such commit", name, "name one that `git log` shows"};
  return id.text;
}

Result<std::vector<Commit>> Worktrees::History(const std::string& good, const std::string& bad) {
  const auto first = Resolve(good), last = Resolve(bad);
  if (!first) return first.error();
  if (!last) return last.error();
  if (*first == *last) return Error{"both are the same commit", good + " and " + bad, "name two"};
  if (!Git({"merge-base", "--is-ancestor", *first, *last}).ok) {
    return Error{"the good commit is not before the bad one", good + " and " + bad,
                 "name the earlier one first, on the same line of history"};
  }
  const std::string format = std::string("--format=%H") + kBetween + "%an" + kBetween + "%as" + kBetween + "%s";
  const Answer log = Git({"log", "--reverse", "--first-parent", format, *first + ".." + *last});
  const Answer itself = Git({"log", "-1", format, *first});
  if (!log.ok || !itself.ok) return GitFailed("the history could not be read", good + ".." + bad, log.text);
  std::vector<Commit> commits = {CommitOf(itself.text)};
  for (const std::string& line : SplitLines(log.text)) commits.push_back(CommitOf(line));
  return commits;
}

Result<fs::path> Worktrees::CheckOut(const std::string& name, const Commit& commit) {
  const fs::path path = folder_ / name;
  const bool made = std::ranges::find(made_, path) != made_.end();
  if (!made) made_.push_back(path);
  const Answer done = made ? Git({"-C", path, "checkout", "--quiet", "--detach", "--force", commit.id})
                           : Git({"worktree", "add", "--quiet", "--detach", "--force", path, commit.id});
  if (!done.ok) return GitFailed("commit " + commit.short_id() + " could not be checked out", path, done.text);
  return path / prefix_;
}

std::vector<std::string> Worktrees::ChangedFiles(const Commit& before, const Commit& after) {
  const Answer files = Git({"diff", "--name-only", before.id, after.id});
  return files.ok ? SplitLines(files.text) : std::vector<std::string>();
}

}  // namespace loopscope
