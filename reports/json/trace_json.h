// Events in Chrome's trace format, as ui.perfetto.dev reads it
// (https://perfetto.dev/docs/getting-started/other-formats): appended to one string as they come, without a tree in
// between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loopscope {

// A track: a thread of a process. The numbers are arbitrary, except for their meaning to people.
struct TrackId {
  std::uint64_t process = 0, thread = 0;
};

class TraceJson {
 public:
  // Times are ns; what is written is relative to `origin_ns`. `out` must outlive this.
  TraceJson(std::string& out, std::int64_t origin_ns) : out_(out), origin_ns_(origin_ns) {}

  void Begin(std::string_view note);  // note: what the trace is, and what was left out
  void End();

  void NameProcess(std::uint64_t process, std::string_view name, int order);  // lower orders come first
  void NameThread(TrackId track, std::string_view name, int order);
  // Names and categories as Quoted() gives them; `arguments` is the inside of a JSON object, may be empty.
  void Slice(TrackId track, std::string_view quoted_name, std::string_view category, std::int64_t start_ns,
             std::int64_t end_ns, std::string_view arguments = {});
  void Instant(TrackId track, std::string_view quoted_name, std::int64_t time_ns, std::string_view arguments);
  // An arrow from the slice around `from_ns` to the one that starts at `to_ns`.
  void Flow(TrackId from, std::int64_t from_ns, TrackId to, std::int64_t to_ns);

 private:
  void Open(char phase, TrackId track);
  void Number(std::uint64_t number);
  void Time(std::int64_t ns);  // as µs with three decimals

  std::string& out_;
  std::int64_t origin_ns_;
  std::uint64_t next_flow_ = 1;
  bool first_ = true;
};

// As a JSON string with its quotes: printable text, cut at 300 columns.
std::string Quoted(std::string_view text);

}  // namespace loopscope
