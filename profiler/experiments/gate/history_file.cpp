#include "profiler/experiments/gate/history_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

#include "profiler/core/statistics/statistics.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 2;  // 1: no reports
constexpr int kBusyMs = 10'000;
constexpr char kRuns[] =
    "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, time TEXT NOT NULL, command TEXT NOT NULL, "
    "machine TEXT NOT NULL, verdict TEXT NOT NULL, ms_per_step REAL, slowdown REAL, upper95 REAL, "
    "pairs INTEGER NOT NULL, failed_counters INTEGER NOT NULL)";
constexpr char kReports[] =
    "ALTER TABLE runs ADD COLUMN report TEXT; "
    "CREATE UNIQUE INDEX reports ON runs (report); "
    "CREATE TABLE findings (run INTEGER NOT NULL REFERENCES runs (id), rule TEXT NOT NULL, severity TEXT NOT NULL, "
    "title TEXT NOT NULL, ms_per_step REAL NOT NULL, pct REAL NOT NULL); "
    "CREATE INDEX findings_of_run ON findings (run)";
constexpr char kInsert[] =
    "INSERT OR IGNORE INTO runs (time, command, machine, verdict, ms_per_step, slowdown, upper95, pairs, "
    "failed_counters, report) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr char kInsertFinding[] =
    "INSERT INTO findings (run, rule, severity, title, ms_per_step, pct) VALUES (?, ?, ?, ?, ?, ?)";
constexpr char kSelect[] =
    "SELECT time, command, machine, verdict, ms_per_step, slowdown, upper95, pairs, failed_counters, id, {} FROM runs "
    "ORDER BY id";
constexpr char kSelectFindings[] =
    "SELECT run, rule, severity, title, ms_per_step, pct FROM findings ORDER BY ms_per_step DESC, rowid";

using Database = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

fs::path FileIn(const fs::path& folder) {
  return folder / "history.sqlite";
}

Error Failed(const fs::path& file, const std::string& why) {
  return {"the history cannot be used: " + why, file, "name another folder, or move this file away"};
}

Error Failed(const fs::path& file, sqlite3* database) {
  return Failed(file, database ? sqlite3_errmsg(database) : "no memory");
}

// SQLite would wait for the other end of a FIFO.
bool IsNoFile(const fs::path& file) {
  std::error_code error;
  const fs::file_status there = fs::status(file, error);
  return fs::exists(there) && !fs::is_regular_file(there);
}

Database Open(const fs::path& file, int flags) {
  sqlite3* database = nullptr;
  sqlite3_open_v2(file.c_str(), &database, flags, nullptr);
  if (database) sqlite3_busy_timeout(database, kBusyMs);
  return {database, sqlite3_close};
}

Statement Prepare(sqlite3* database, const char* text) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, text, -1, &statement, nullptr);
  return {statement, sqlite3_finalize};
}

bool Execute(sqlite3* database, const std::string& text) {
  return sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
}

// 0 for a file that was just made; -1 when it is not a database.
int VersionOf(sqlite3* database) {
  const Statement statement = Prepare(database, "PRAGMA user_version");
  if (statement == nullptr || sqlite3_step(statement.get()) != SQLITE_ROW) return -1;
  return sqlite3_column_int(statement.get(), 0);
}

void Bind(sqlite3_stmt* statement, int at, const std::string& text) {
  sqlite3_bind_text(statement, at, text.c_str(), -1, SQLITE_TRANSIENT);
}

void Bind(sqlite3_stmt* statement, int at, const std::optional<double>& value) {
  if (value) sqlite3_bind_double(statement, at, *value);
}

bool InsertFinding(sqlite3* database, std::int64_t run, const HistoryFinding& finding) {
  const Statement statement = Prepare(database, kInsertFinding);
  if (statement == nullptr) return false;
  sqlite3_bind_int64(statement.get(), 1, run);
  Bind(statement.get(), 2, finding.rule);
  Bind(statement.get(), 3, finding.severity);
  Bind(statement.get(), 4, finding.title);
  sqlite3_bind_double(statement.get(), 5, finding.ms_per_step);
  sqlite3_bind_double(statement.get(), 6, finding.pct);
  return sqlite3_step(statement.get()) == SQLITE_DONE;
}

// Counts the runs that were added.
bool Insert(sqlite3* database, const HistoryRun& run, int& added) {
  const Statement statement = Prepare(database, kInsert);
  if (statement == nullptr) return false;
  sqlite3_stmt* const into = statement.get();
  Bind(into, 1, run.time);
  Bind(into, 2, run.command);
  Bind(into, 3, run.machine);
  Bind(into, 4, run.verdict);
  Bind(into, 5, run.ms_per_step);
  Bind(into, 6, run.slowdown);
  Bind(into, 7, run.upper95);
  sqlite3_bind_int(into, 8, run.pairs);
  sqlite3_bind_int(into, 9, run.failed_counters);
  if (!run.report.empty()) Bind(into, 10, run.report);
  if (sqlite3_step(into) != SQLITE_DONE) return false;
  if (sqlite3_changes(database) == 0) return true;
  ++added;
  const std::int64_t id = sqlite3_last_insert_rowid(database);
  return std::ranges::all_of(run.findings, [&](const HistoryFinding& one) { return InsertFinding(database, id, one); });
}

std::string TextAt(sqlite3_stmt* statement, int column) {
  const unsigned char* const text = sqlite3_column_text(statement, column);
  return text != nullptr ? reinterpret_cast<const char*>(text) : "";
}

std::optional<double> NumberAt(sqlite3_stmt* statement, int column) {
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement, column);
}

}  // namespace

std::vector<HistoryRun> HistoryOf(const GateFacts& gate, const RunInfo& run) {
  std::vector<HistoryRun> runs;
  for (const GateRow& row : gate.workloads) {
    HistoryRun one{run.started, row.command, MachineText(run), std::string(GateVerdictName(row.verdict)), {}, {}, {}};
    std::vector<double> ms;
    for (const LaunchRow& launch : row.launches) {
      if (launch.arm == "B" && launch.ms_per_step) ms.push_back(*launch.ms_per_step);
    }
    if (!ms.empty()) one.ms_per_step = Median(ms);
    if (row.time && row.time->pairs > 0) {
      one.slowdown = row.time->slowdown;
      one.upper95 = row.time->upper95;
      one.pairs = row.time->pairs;
    }
    for (const CounterRow& counter : row.counters) one.failed_counters += counter.fails;
    runs.push_back(std::move(one));
  }
  return runs;
}

std::string MachineText(const RunInfo& run) {
  std::vector<std::string> facts = {run.cpu.empty() ? "unknown CPU" : run.cpu, fmt::format("{} cores", run.cores)};
  facts.insert(facts.end(), run.gpus.begin(), run.gpus.end());
  if (const auto torch = run.versions.find("torch"); torch != run.versions.end())
    facts.push_back("torch " + torch->second);
  return fmt::format("{}", fmt::join(facts, ", "));
}

Result<int> AppendHistory(const fs::path& folder, const std::vector<HistoryRun>& runs) {
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path file = FileIn(folder);
  if (error) return Failed(file, error.message());
  if (IsNoFile(file)) return Failed(file, "it is not a file");
  const Database database = Open(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!Execute(database.get(), "BEGIN IMMEDIATE")) return Failed(file, database.get());
  const int version = VersionOf(database.get());
  if (version > kVersion) return Failed(file, "it is of a newer version of Loopscope");
  bool written = version >= 0 && (version > 0 || Execute(database.get(), kRuns)) &&
                 (version == kVersion || Execute(database.get(), kReports)) &&
                 Execute(database.get(), fmt::format("PRAGMA user_version = {}", kVersion));
  int added = 0;
  for (const HistoryRun& run : runs) written = written && Insert(database.get(), run, added);
  if (!written || !Execute(database.get(), "COMMIT")) return Failed(file, database.get());
  return added;
}

Result<std::vector<HistoryRun>> ReadHistory(const fs::path& folder) {
  const fs::path file = FileIn(folder);
  std::error_code error;
  if (!fs::exists(file, error)) {
    return Error{"holds no history", folder,
                 "`loopscope gate --record DIR …` writes one, `loopscope history DIR REPORT…` adds to one"};
  }
  if (IsNoFile(file)) return Failed(file, "it is not a file");
  const Database database = Open(file, SQLITE_OPEN_READONLY);
  const int version = VersionOf(database.get());
  if (version > kVersion) return Failed(file, "it is of a newer version of Loopscope");
  const bool has_reports = version == kVersion;
  const Statement statement = Prepare(database.get(), fmt::format(kSelect, has_reports ? "report" : "NULL").c_str());
  if (statement == nullptr) return Failed(file, database.get());
  std::vector<HistoryRun> runs;
  std::map<std::int64_t, std::size_t> places;  // by id
  int state = 0;
  while ((state = sqlite3_step(statement.get())) == SQLITE_ROW) {
    sqlite3_stmt* const row = statement.get();
    places[sqlite3_column_int64(row, 9)] = runs.size();
    runs.push_back({TextAt(row, 0), TextAt(row, 1), TextAt(row, 2), TextAt(row, 3), NumberAt(row, 4), NumberAt(row, 5),
                    NumberAt(row, 6), sqlite3_column_int(row, 7), sqlite3_column_int(row, 8), TextAt(row, 10)});
  }
  if (state != SQLITE_DONE) return Failed(file, database.get());
  if (!has_reports) return runs;
  const Statement findings = Prepare(database.get(), kSelectFindings);
  while (findings && (state = sqlite3_step(findings.get())) == SQLITE_ROW) {
    sqlite3_stmt* const row = findings.get();
    const auto place = places.find(sqlite3_column_int64(row, 0));
    if (place == places.end()) continue;
    runs[place->second].findings.push_back(
        {TextAt(row, 1), TextAt(row, 2), TextAt(row, 3), NumberAt(row, 4).value_or(0), NumberAt(row, 5).value_or(0)});
  }
  if (!findings || state != SQLITE_DONE) return Failed(file, database.get());
  return runs;
}

}  // namespace loopscope
