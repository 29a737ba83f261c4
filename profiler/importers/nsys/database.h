// An Nsight Systems export as an untrusted SQLite file: read-only, tables and columns are checked before they are used,
// work and lengths are bounded (https://www.sqlite.org/security.html).
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/core/result.h"

namespace loopscope {

// One row of a query; columns by their position in the requested list. NULL, a column that the table lacks and a value
// of another type return `otherwise`.
class NsysRow {
 public:
  explicit NsysRow(sqlite3_stmt* statement) : statement_(statement) {}

  bool has(int column) const { return sqlite3_column_type(statement_, column) != SQLITE_NULL; }
  std::int64_t whole(int column, std::int64_t otherwise = 0) const;
  // Both are valid until the next row, and of at most 4 KiB.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;

 private:
  sqlite3_stmt* statement_;
};

class NsysDatabase {
 public:
  // Errors (exit 2): cannot be read, not an SQLite database, damaged beyond its schema.
  static Result<NsysDatabase> Open(const std::filesystem::path& path);

  bool HasTable(std::string_view table) const { return tables_.contains(table); }
  // 0 when there is no such table.
  std::int64_t Rows(std::string_view table);
  // Calls `visit` for each row of `table` with these columns, in the order of the file; one that the table lacks is
  // NULL throughout. A name may hold alternatives ("globalPid|pid"): the first that the table has. Without one of the
  // first `required` columns nothing is read. Damage ends the reading of the table and is noted in damage().
  void Read(std::string_view table, std::span<const std::string_view> columns, int required,
            const std::function<void(const NsysRow&)>& visit);
  // The string of StringIds with that id, cut to 4 KiB; "" when there is none.
  std::string String(std::int64_t id);

  const std::vector<std::string>& damage() const { return damage_; }
  std::int64_t missing_bytes() const { return missing_bytes_; }  // that the file's header promises beyond its end

 private:
  struct Closer {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

  std::optional<Error> Prepare(const std::filesystem::path& path);
  Statement Compile(const std::string& sql);
  std::set<std::string, std::less<>> ColumnsOf(std::string_view table);
  bool ListTables();
  void NoteDamage(std::string_view table);

  // On the heap, so that SQLite's pointer to it holds when the database is moved.
  std::unique_ptr<std::int64_t> work_left_ = std::make_unique<std::int64_t>(0);
  std::unique_ptr<sqlite3, Closer> database_;
  Statement string_;
  std::set<std::string, std::less<>> tables_;
  std::vector<std::string> damage_;
  std::int64_t missing_bytes_ = 0;
};

}  // namespace loopscope
