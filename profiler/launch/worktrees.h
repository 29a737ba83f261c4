// Commits of the Git repository around the working folder, checked out beside it; the user's own files stay as they
// are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/core/result.h"
#include "profiler/system/signals.h"

namespace loopscope {

struct Commit {
  std::string id, author, date, subject;  // the date as YYYY-MM-DD
  std::string short_id() const { return id.substr(0, 10); }
};

// Two folders, each with one commit at a time: going from one commit to the next changes only the files that differ, so
// that a build need not begin anew.
class Worktrees {
 public:
  // Uses `folder`, which exists. Errors (exit 2): there is no Git, or the working folder is in no repository.
  static Result<Worktrees> In(std::filesystem::path folder, Signals& signals);
  Worktrees(Worktrees&& other) noexcept;
  Worktrees& operator=(Worktrees&&) = delete;
  ~Worktrees();  // removes them, and what Git knows of them

  // From `good` to `bad`, along first parents. Errors (exit 2): a name that is no commit; `good` is not before `bad`.
  Result<std::vector<Commit>> History(const std::string& good, const std::string& bad);

  // The folder named `name` at this commit; the folder inside it that is the working folder here. Error: Git's own.
  Result<std::filesystem::path> CheckOut(const std::string& name, const Commit& commit);

  // Files that differ, relative to the repository; empty where Git does not tell.
  std::vector<std::string> ChangedFiles(const Commit& before, const Commit& after);

 private:
  struct Answer {
    bool ok = false;
    std::string text;  // what it printed, without the last line's end
  };

  Worktrees(std::filesystem::path folder, Signals& signals) : folder_(std::move(folder)), signals_(&signals) {}
  Answer Git(std::vector<std::string> words);
  Result<std::string> Resolve(const std::string& name);

  std::filesystem::path folder_, prefix_;  // prefix: of the working folder in the repository
  Signals* signals_;
  std::vector<std::filesystem::path> made_;
};

}  // namespace loopscope
