#include "reports/json/trace_json.h"

#include <charconv>

#include "profiler/core/printable.h"

namespace loopscope {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : Printable(text, 300)) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    // Keeps an HTML parser from ending the script here if a page embeds it.
    if (letter == '<') {
      quoted += "\\u003c";
    } else {
      quoted += letter;
    }
  }
  return quoted += '"';
}

void TraceJson::Begin(std::string_view note) {
  out_ += "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"made by\":\"Loopscope\",\"note\":";
  out_ += Quoted(note);
  out_ += "},\"traceEvents\":[";
}

void TraceJson::End() {
  out_ += "\n]}\n";
}

void TraceJson::NameProcess(std::uint64_t process, std::string_view name, int order) {
  Open('M', {process, 0});
  out_ += ",\"name\":\"process_name\",\"args\":{\"name\":" + Quoted(name) + "}}";
  Open('M', {process, 0});
  out_ += ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" + std::to_string(order) + "}}";
}

void TraceJson::NameThread(TrackId track, std::string_view name, int order) {
  Open('M', track);
  out_ += ",\"name\":\"thread_name\",\"args\":{\"name\":" + Quoted(name) + "}}";
  Open('M', track);
  out_ += ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":" + std::to_string(order) + "}}";
}

void TraceJson::Slice(TrackId track, std::string_view quoted_name, std::string_view category, std::int64_t start_ns,
                      std::int64_t end_ns, std::string_view arguments) {
  Open('X', track);
  out_ += ",\"ts\":";
  Time(start_ns - origin_ns_);
  out_ += ",\"dur\":";
  Time(end_ns - start_ns);
  out_ += ",\"name\":";
  out_ += quoted_name;
  out_ += ",\"cat\":\"";
  out_ += category;
  out_ += '"';
  if (!arguments.empty()) {
    out_ += ",\"args\":{";
    out_ += arguments;
    out_ += '}';
  }
  out_ += '}';
}

void TraceJson::Instant(TrackId track, std::string_view quoted_name, std::int64_t time_ns, std::string_view arguments) {
  Open('i', track);
  out_ += ",\"s\":\"t\",\"ts\":";
  Time(time_ns - origin_ns_);
  out_ += ",\"name\":";
  out_ += quoted_name;
  out_ += ",\"args\":{";
  out_ += arguments;
  out_ += "}}";
}

void TraceJson::Flow(TrackId from, std::int64_t from_ns, TrackId to, std::int64_t to_ns) {
  for (const char phase : {'s', 'f'}) {
    const bool start = phase == 's';
    Open(phase, start ? from : to);
    out_ += start ? ",\"ts\":" : ",\"bp\":\"e\",\"ts\":";
    Time((start ? from_ns : to_ns) - origin_ns_);
    out_ += ",\"id\":";
    Number(next_flow_);
    out_ += ",\"name\":\"launch\",\"cat\":\"launch\"}";
  }
  ++next_flow_;
}

void TraceJson::Open(char phase, TrackId track) {
  out_ += first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  first_ = false;
  out_ += phase;
  out_ += "\",\"pid\":";
  Number(track.process);
  out_ += ",\"tid\":";
  Number(track.thread);
}

void TraceJson::Number(std::uint64_t number) {
  char digits[24];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void TraceJson::Time(std::int64_t ns) {
  if (ns < 0) {
    out_ += '-';
    ns = -ns;
  }
  Number(static_cast<std::uint64_t>(ns / 1000));
  const auto rest = static_cast<int>(ns % 1000);
  out_ += {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
           static_cast<char>('0' + rest % 10)};
}

}  // namespace loopscope
