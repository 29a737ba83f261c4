#include "profiler/importers/nsys/database.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <system_error>

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxTextBytes = 4096;
constexpr int kMaxValueBytes = 64 << 20;  // exports keep whole log files as values; they are never read
constexpr int kStepsPerLook = 1'000'000;
// A row of an event table takes about 60 bytes and 40 steps of SQLite's virtual machine.
constexpr std::int64_t kStepsPerByte = 20, kStepsBesides = 200'000'000;

// Allows what the two queries made here need, and nothing else.
int Authorize(void*, int action, const char*, const char* function, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return function != nullptr && (std::strcmp(function, "count") == 0 || std::strcmp(function, "substr") == 0)
                 ? SQLITE_OK
                 : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

int Look(void* work_left) {
  auto& left = *static_cast<std::int64_t*>(work_left);
  left -= kStepsPerLook;
  return left < 0;
}

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char letter : name) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + '"';
}

// A path as a URI: special characters are escaped.
std::string Uri(const fs::path& path) {
  std::string uri = "file:";
  for (const char letter : path.native()) {
    if (std::strchr("?#% ", letter) && letter != '\0') {
      constexpr char kHex[] = "0123456789ABCDEF";
      uri += {'%', kHex[static_cast<unsigned char>(letter) >> 4], kHex[letter & 15]};
    } else {
      uri += letter;
    }
  }
  return uri + "?mode=ro&immutable=1";
}

// Bytes that the header counts but the file lacks; https://www.sqlite.org/fileformat.html, 1.3.
std::int64_t MissingBytes(const fs::path& path, std::int64_t size) {
  unsigned char head[32]{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(head), sizeof head);
  const std::int64_t page = head[16] == 0 && head[17] == 1 ? 65536 : head[16] << 8 | head[17];
  const std::int64_t pages = std::int64_t{head[28]} << 24 | head[29] << 16 | head[30] << 8 | head[31];
  return std::max<std::int64_t>(page * pages - size, 0);
}

// SQLite reads a file that is shorter than its header says only if the schema counts as writable.
void Limit(sqlite3* database, bool torn) {
  sqlite3_db_config(database, torn ? SQLITE_DBCONFIG_WRITABLE_SCHEMA : SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(database, SQLITE_LIMIT_COLUMN, 500);
  sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 10);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_exec(database, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON", nullptr, nullptr,
               nullptr);
}

}  // namespace

std::int64_t NsysRow::whole(int column, std::int64_t otherwise) const {
  const int kind = sqlite3_column_type(statement_, column);
  return kind == SQLITE_INTEGER || kind == SQLITE_TEXT ? sqlite3_column_int64(statement_, column) : otherwise;
}

std::string_view NsysRow::text(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) return "";
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const int length = sqlite3_column_bytes(statement_, column);
  return bytes != nullptr ? std::string_view(bytes, static_cast<std::size_t>(std::min(length, kMaxTextBytes))) : "";
}

std::string_view NsysRow::blob(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_BLOB) return "";
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const int length = sqlite3_column_bytes(statement_, column);
  return bytes != nullptr ? std::string_view(bytes, static_cast<std::size_t>(std::min(length, kMaxTextBytes))) : "";
}

Result<NsysDatabase> NsysDatabase::Open(const fs::path& path) {
  NsysDatabase opened;
  if (const std::optional<Error> error = opened.Prepare(path)) return *error;
  return opened;
}

std::optional<Error> NsysDatabase::Prepare(const fs::path& path) {
  std::error_code error;
  const auto size = static_cast<std::int64_t>(fs::file_size(path, error));
  if (error) return Error{"cannot be read: " + error.message(), path.string(), "check the file and its permissions"};
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(Uri(path).c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(raw);
  if (opened != SQLITE_OK) {
    return Error{std::string("cannot be read: ") + sqlite3_errstr(opened), path.string(), "check its permissions"};
  }
  missing_bytes_ = MissingBytes(path, size);
  Limit(raw, missing_bytes_ > 0);
  *work_left_ = kStepsBesides + kStepsPerByte * size;
  sqlite3_progress_handler(raw, kStepsPerLook, Look, work_left_.get());
  if (ListTables()) return std::nullopt;
  return Error{std::string("is a damaged SQLite database: ") + sqlite3_errmsg(raw), path.string(),
               "export it again: nsys export --type sqlite REPORT.nsys-rep"};
}

// Real tables only: not views or virtual tables, since reading those runs SQL from the file. The authorizer is set
// afterwards, since it allows only the later queries.
bool NsysDatabase::ListTables() {
  const Statement list = Compile(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND sql NOT LIKE 'CREATE VIRTUAL%' "
      "LIMIT 10000");
  if (!list) return false;
  int stepped = SQLITE_ROW;
  while ((stepped = sqlite3_step(list.get())) == SQLITE_ROW) tables_.emplace(NsysRow(list.get()).text(0));
  return stepped == SQLITE_DONE;
}

NsysDatabase::Statement NsysDatabase::Compile(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v2(database_.get(), sql.c_str(), static_cast<int>(sql.size()), &raw, nullptr);
  return Statement(raw);
}

std::set<std::string, std::less<>> NsysDatabase::ColumnsOf(std::string_view table) {
  std::set<std::string, std::less<>> columns;
  sqlite3_set_authorizer(database_.get(), nullptr, nullptr);
  // table_info leaves generated columns out: theirs would be the file's own code.
  const Statement list = Compile("PRAGMA table_info(" + Quoted(table) + ")");
  while (list && sqlite3_step(list.get()) == SQLITE_ROW) columns.emplace(NsysRow(list.get()).text(1));
  sqlite3_set_authorizer(database_.get(), Authorize, nullptr);
  return columns;
}

void NsysDatabase::NoteDamage(std::string_view table) {
  const bool endless = sqlite3_errcode(database_.get()) == SQLITE_INTERRUPT;
  damage_.push_back(std::string(table) + " was not read to its end: " +
                    (endless ? "it takes more work than its size explains" : sqlite3_errmsg(database_.get())));
}

std::int64_t NsysDatabase::Rows(std::string_view table) {
  if (!HasTable(table)) return 0;
  const Statement count = Compile("SELECT count(*) FROM " + Quoted(table));
  return count && sqlite3_step(count.get()) == SQLITE_ROW ? NsysRow(count.get()).whole(0) : 0;
}

void NsysDatabase::Read(std::string_view table, std::span<const std::string_view> columns, int required,
                        const std::function<void(const NsysRow&)>& visit) {
  if (!HasTable(table)) return;
  const auto present = ColumnsOf(table);
  std::string sql;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string chosen;
    for (std::string_view left = columns[i]; chosen.empty() && !left.empty();) {
      const std::string_view one = left.substr(0, left.find('|'));
      left.remove_prefix(std::min(one.size() + 1, left.size()));
      if (present.contains(one)) chosen = Quoted(one);
    }
    if (chosen.empty() && static_cast<int>(i) < required) {
      damage_.push_back(std::string(table) + " has no column \"" + std::string(columns[i]) + "\" and was left out");
      return;
    }
    sql += (i ? ", " : "SELECT ") + (chosen.empty() ? "NULL" : chosen);
  }
  const Statement rows = Compile(sql + " FROM " + Quoted(table));
  if (!rows) return NoteDamage(table);
  int stepped = SQLITE_ROW;
  const NsysRow row(rows.get());
  while ((stepped = sqlite3_step(rows.get())) == SQLITE_ROW) visit(row);
  if (stepped != SQLITE_DONE) NoteDamage(table);
}

std::string NsysDatabase::String(std::int64_t id) {
  if (!HasTable("StringIds")) return "";
  if (!string_) string_ = Compile("SELECT substr(value, 1, 4096) FROM StringIds WHERE id = ?");
  if (!string_) return "";
  sqlite3_reset(string_.get());
  sqlite3_bind_int64(string_.get(), 1, id);
  return sqlite3_step(string_.get()) == SQLITE_ROW ? std::string(NsysRow(string_.get()).text(0)) : "";
}

}  // namespace loopscope
