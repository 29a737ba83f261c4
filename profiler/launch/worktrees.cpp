#include "profiler/launch/worktrees.h"

#include <unistd.h>

#include <ranges>
#include <sstream>
#include <utility>

#include "profiler/containment/output_folder.h"
#include "profiler/core/file_text.h"
#include "profiler/core/text.h"
#include "profiler/core/write_file.h"
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

// Part of the lock reason, which protects a worktree from `git worktree prune`.
constexpr char kReason[] = "in use by loopscope bisect, process ";

// A process's start time in ticks since boot; empty if it is gone.
std::string StartOf(const std::string& pid) {
  const std::string text = FileText("/proc/" + pid + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return "";
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field; ++i) {
  }
  return field;
}

constexpr std::string_view kLink = "gitdir: ";  // begins the file `.git` of a worktree

std::string FirstLine(const fs::path& file) {
  const std::vector<std::string> lines = SplitLines(FileText(file));
  return lines.empty() ? "" : lines.front();
}

std::string MachineStart() {
  return FirstLine("/proc/sys/kernel/random/boot_id");
}

std::string Identity() {
  const std::string pid = std::to_string(getpid());
  return pid + " " + StartOf(pid) + " " + MachineStart();
}

bool IsGone(const std::string& identity) {
  std::istringstream words(identity);
  std::string pid, start, machine;
  words >> pid >> start >> machine;
  return start.empty() || machine != MachineStart() || StartOf(pid) != start;
}

}  // namespace

Worktrees::Worktrees(Worktrees&& other) noexcept
    : folder_(std::move(other.folder_)),
      prefix_(std::move(other.prefix_)),
      signals_(other.signals_),
      environment_(std::move(other.environment_)),
      repository_(std::move(other.repository_)),
      made_(std::exchange(other.made_, {})) {}

Worktrees::~Worktrees() {
  for (const auto& [tree, kept] : made_) Remove(tree);
}

Worktrees::Answer Worktrees::Git(std::vector<std::string> words, const Environment& environment) {
  // The repository's hooks are for the user's own commits.
  std::vector<std::string> command = {"git", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"};
  command.insert(command.end(), words.begin(), words.end());
  ProcessSpec spec;
  spec.command = std::move(command);
  spec.environment = AsStrings(environment);
  spec.output = folder_ / "git.txt";
  std::error_code error;
  fs::remove(spec.output, error);  // output is appended
  spec.role = Role::kTool;         // on a signal git undoes what it began; killed, it leaves it half done
  const ProcessEnd end = RunProcess(spec, *signals_);
  std::string text = FileText(spec.output);
  while (text.ends_with('\n')) text.pop_back();
  return {end.ok(), std::move(text)};
}

Worktrees::Answer Worktrees::Git(std::vector<std::string> words) {
  words.insert(words.begin(), repository_.begin(), repository_.end());
  return Git(std::move(words), environment_);
}

Worktrees::Answer Worktrees::GitIn(const fs::path& tree, std::vector<std::string> words) {
  const std::vector<std::string> where = {"-C", tree, "--git-dir=" + made_.at(tree).native(),
                                          "--work-tree=" + tree.native()};
  words.insert(words.begin(), where.begin(), where.end());
  return Git(std::move(words), environment_);
}

Result<Worktrees> Worktrees::In(fs::path folder, Signals& signals) {
  Worktrees worktrees(std::move(folder), signals);
  worktrees.environment_ = OwnEnvironment();
  if (const auto place = worktrees.CheckPlace(); !place) return place.error();
  if (const auto removed = worktrees.RemoveLeftovers(); !removed) return removed.error();
  return worktrees;
}

// Aliases, hooks and linked worktrees set variables that name a repository, and an index that we must not use;
// core.worktree may also name another folder.
Result<void> Worktrees::CheckPlace() {
  const Answer names = Git({"rev-parse", "--local-env-vars"}, environment_);
  if (!names.ok) return Error{"there is no git", "bisect", "install git"};
  const std::vector<std::string> ask = {"rev-parse", "--show-toplevel", "--absolute-git-dir"};
  const Environment before = environment_;
  for (const std::string& name : SplitLines(names.text)) environment_.erase(name);
  const Answer here = Git(ask, environment_);
  const std::vector<std::string> lines = here.ok ? SplitLines(here.text) : std::vector<std::string>();
  if (lines.size() != 2) {
    return Error{"no Git repository", fs::current_path(), "run it in a repository that has both commits (needs git)"};
  }
  if (before.size() != environment_.size()) {
    const Answer set = Git(ask, before);
    if (!set.ok || set.text != here.text) {
      return Error{"Git's variables (GIT_DIR, GIT_WORK_TREE) name another repository than the one around this folder",
                   fs::current_path(), "unset them, or run it in the folder that they name"};
    }
  }
  std::error_code error;
  const fs::path top = fs::canonical(lines[0], error), stands = fs::canonical(fs::current_path(), error);
  prefix_ = stands.lexically_relative(top);
  if (error || prefix_.empty() || *prefix_.begin() == "..") {
    return Error{"Git's work tree is " + lines[0], fs::current_path(), "run it in that folder"};
  }
  if (prefix_ == ".") prefix_.clear();
  repository_ = {"--git-dir=" + lines[1], "--work-tree=" + lines[0]};
  return {};
}

// Their lock reason names the process that made them.
Result<void> Worktrees::RemoveLeftovers() {
  fs::path tree;
  for (const std::string& line : SplitLines(Git({"worktree", "list", "--porcelain"}).text)) {
    if (line.starts_with("worktree ")) tree = line.substr(std::string_view("worktree ").size());
    const std::string locked = std::string("locked ") + kReason;
    if (!line.starts_with(locked)) continue;
    if (!IsGone(line.substr(locked.size()))) {
      if (tree.parent_path() != folder_) continue;
      return Error{"another bisect works in the output folder", folder_, "name another with -o DIR"};
    }
    Forget(tree);
  }
  return {};
}

// If git itself was killed, its records may be too incomplete for it to remove the tree.
void Worktrees::Forget(const fs::path& tree) {
  if (Git({"worktree", "remove", "--force", "--force", tree}).ok) return;
  const Answer common = Git({"rev-parse", "--git-common-dir"});
  std::error_code error;
  for (const auto& kept : fs::directory_iterator(fs::path(common.text) / "worktrees", error)) {
    if (FirstLine(kept.path() / "gitdir") != (tree / ".git").native()) continue;
    // A folder without this tree's `.git` file may now be somebody else's, unless it is empty.
    const std::string link = FirstLine(tree / ".git");
    const bool is_tree = link.starts_with(kLink) && fs::equivalent(link.substr(kLink.size()), kept.path(), error);
    if (is_tree) {
      RemoveTree(tree);
    } else if (fs::is_empty(tree, error) && !error) {
      fs::remove(tree, error);
    }
    RemoveTree(kept.path());
  }
}

Result<void> Worktrees::Add(const fs::path& tree, const Commit& commit) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(tree, error))) {
    return Error{"the output folder holds `" + tree.filename().native() + "`, which is not ours", folder_,
                 "name another with -o DIR"};
  }
  std::vector<std::string> words = {"worktree", "add",    "--quiet",  "--detach",
                                    "--force",  "--lock", "--reason", kReason + Identity()};
  words.insert(words.end(), {tree.native(), commit.id});
  Answer added = Git(words);
  if (!added.ok && added.text.find("unknown option") != added.text.npos) {  // git before 2.33
    words.erase(words.begin() + 6, words.begin() + 8);
    added = Git(words);
  }
  if (!added.ok) Forget(tree);
  const std::string link = FirstLine(tree / ".git");
  if (!added.ok || !link.starts_with(kLink)) {
    return GitFailed("commit " + commit.short_id() + " could not be checked out", tree, added.text);
  }
  const fs::path kept = fs::canonical(link.substr(kLink.size()), error);
  if (error) return GitFailed("commit " + commit.short_id() + " could not be checked out", tree, error.message());
  made_[tree] = kept;
  (void)WritePrivateFile(kept / "locked", kReason + Identity());
  return {};
}

void Worktrees::Remove(const fs::path& tree) {
  // A build may have deleted the `.git` file.
  (void)WritePrivateFile(tree / ".git", "gitdir: " + made_.at(tree).native() + "\n");
  if (Git({"worktree", "remove", "--force", "--force", tree}).ok) return;
  RemoveTree(tree);
  RemoveTree(made_.at(tree));
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
  if (!made_.contains(path)) {
    if (const auto added = Add(path, commit); !added) return added.error();
    return path / prefix_;
  }
  // Restore it for programs that call git, if a build deleted it.
  (void)WritePrivateFile(path / ".git", "gitdir: " + made_.at(path).native() + "\n");
  const Answer done = GitIn(path, {"checkout", "--quiet", "--detach", "--force", commit.id});
  if (!done.ok) return GitFailed("commit " + commit.short_id() + " could not be checked out", path, done.text);
  return path / prefix_;
}

std::vector<std::string> Worktrees::ChangedFiles(const Commit& before, const Commit& after) {
  const Answer files = Git({"diff", "--name-only", before.id, after.id});
  return files.ok ? SplitLines(files.text) : std::vector<std::string>();
}

}  // namespace loopscope
