// Small Nsight Systems exports, made from SQL text: the tables and columns of schema 3.24 that the importer asks for.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace loopscope::test {

// As Nsight Systems serializes ids: hardware and virtual machine, then process, then thread.
constexpr std::int64_t GlobalTid(std::int64_t pid, std::int64_t tid = 0) {
  return std::int64_t{1} << 48 | pid << 24 | tid;
}

inline constexpr std::string_view kNsysSchema = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER,
                          textId INTEGER, domainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER,
                                          correlationId INTEGER, nameId INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
  shortName INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  syncType INTEGER NOT NULL);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, globalTid INTEGER);
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcTime TEXT);
CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL, name TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL);
CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER NOT NULL, text TEXT NOT NULL);
)";

class NsysBuilder {
 public:
  explicit NsysBuilder(const std::filesystem::path& path, std::string_view schema = kNsysSchema) : path_(path) {
    std::filesystem::remove(path);
    EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
    Run("BEGIN");
    Run(std::string(schema));
  }
  ~NsysBuilder() { Close(); }

  void Run(const std::string& sql) {
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error << "\n" << sql;
    sqlite3_free(error);
  }

  // Writes everything out; nothing can be added any more.
  std::filesystem::path Close() {
    if (database_ != nullptr) Run("COMMIT");
    sqlite3_close(database_);
    database_ = nullptr;
    return path_;
  }

  std::int64_t String(std::string_view value) {
    Run("INSERT INTO StringIds VALUES (" + std::to_string(++last_string_) + ", " + Quoted(value) + ")");
    return last_string_;
  }
  void Range(std::int64_t pid, std::int64_t tid, std::string_view text, std::int64_t start, std::int64_t end) {
    Run("INSERT INTO NVTX_EVENTS VALUES (" + Numbers(start, end, 59) + ", " + Quoted(text) + ", " +
        Numbers(GlobalTid(pid, tid)) + ", NULL, 0)");
  }
  void Call(std::int64_t pid, std::int64_t tid, std::string_view name, std::int64_t start, std::int64_t end,
            std::int64_t correlation) {
    const std::int64_t id = String(name);
    Run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + Numbers(start, end, GlobalTid(pid, tid), correlation, id) +
        ")");
  }
  void Kernel(std::int64_t pid, std::int64_t device, std::int64_t stream, std::string_view name, std::int64_t start,
              std::int64_t end, std::int64_t correlation = 0) {
    const std::int64_t id = String(name);
    Run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" +
        Numbers(start, end, device, stream, correlation, GlobalTid(pid), id, id) + ")");
  }

 private:
  template <class... Number>
  static std::string Numbers(Number... numbers) {
    std::string list;
    ((list += (list.empty() ? "" : ", ") + std::to_string(numbers)), ...);
    return list;
  }
  static std::string Quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char letter : text) quoted += letter == '\'' ? "''" : std::string(1, letter);
    return quoted + "'";
  }

  std::filesystem::path path_;
  sqlite3* database_ = nullptr;
  std::int64_t last_string_ = 0;
};

}  // namespace loopscope::test
