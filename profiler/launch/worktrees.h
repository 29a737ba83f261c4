// Commits of the Git repository around the working folder, checked out beside it; the user's own files stay as they
// are.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/system/environment.h"
#include "profiler/system/signals.h"

namespace loopscope {

struct Commit {
  std::string id, author, date, subject;  // the date as YYYY-MM-DD
  std::string short_id() const { return id.substr(0, 10); }
};

// Two folders, each with one commit at a time: going from one commit to the next changes only the files that differ, so
// that builds are incremental. Each call of git names the repository explicitly, so that none can fall back to the
// user's own work tree.
class Worktrees {
 public:
  // Uses `folder`, which exists, and removes what processes that were killed left registered. Errors (exit 2): there is
  // no Git; the working folder is in no repository; what Git takes for its work tree is not where the user stands, or
  // its variables (GIT_DIR …) name another repository; another process uses worktrees in `folder`.
  static Result<Worktrees> In(std::filesystem::path folder, Signals& signals);
  Worktrees(Worktrees&& other) noexcept;
  Worktrees& operator=(Worktrees&&) = delete;
  ~Worktrees();  // removes them, and what Git knows of them

  // From `good` to `bad`, along first parents. Errors (exit 2): not a commit; `good` is not before `bad`.
  Result<std::vector<Commit>> History(const std::string& good, const std::string& bad);

  // The folder named `name` at this commit; the folder inside it that is the working folder here. Error: Git's own.
  Result<std::filesystem::path> CheckOut(const std::string& name, const Commit& commit);

  // Our own environment without Git's variables that name a repository: for everything that runs in these folders.
  const Environment& environment() const { return environment_; }

  // Files that differ, relative to the repository; empty if Git fails.
  std::vector<std::string> ChangedFiles(const Commit& before, const Commit& after);

 private:
  struct Answer {
    bool ok = false;
    std::string text;  // what it printed, without the last line's end
  };

  Worktrees(std::filesystem::path folder, Signals& signals) : folder_(std::move(folder)), signals_(&signals) {}
  Answer Git(std::vector<std::string> words, const Environment& environment);
  Answer Git(std::vector<std::string> words);
  Answer GitIn(const std::filesystem::path& tree, std::vector<std::string> words);
  Result<void> CheckPlace();
  Result<void> RemoveLeftovers();
  Result<void> Add(const std::filesystem::path& tree, const Commit& commit);
  void Remove(const std::filesystem::path& tree);
  void Forget(const std::filesystem::path& tree);
  Result<std::string> Resolve(const std::string& name);

  std::filesystem::path folder_, prefix_;  // prefix: of the working folder in the repository
  Signals* signals_;
  Environment environment_;
  std::vector<std::string> repository_;                          // the options that name the user's repository
  std::map<std::filesystem::path, std::filesystem::path> made_;  // worktree → what Git keeps of it
};

}  // namespace loopscope
