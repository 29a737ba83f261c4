#include "reports/words/escape.h"

#include <fmt/format.h>

#include "profiler/core/printable.h"

namespace loopscope {

std::string XmlText(std::string_view text, std::size_t max_columns) {
  std::string escaped;
  for (const char byte : Printable(text, max_columns)) {
    switch (byte) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += byte;
    }
  }
  return escaped;
}

std::string MarkdownText(std::string_view text, std::size_t max_columns) {
  constexpr std::string_view kMarks = "\\`*_{}[]()#+!|~$";
  std::string escaped;
  char last = ' ';
  for (const char byte : Printable(text, max_columns)) {
    if (byte == '&') {
      escaped += "&amp;";
    } else if (byte == '<') {
      escaped += "&lt;";
    } else if (byte == '>') {
      escaped += "&gt;";
    } else if (byte == '@') {
      escaped += "@&#8203;";  // a zero-width space, or it would mention a user
    } else if (byte == ':') {
      escaped += "&#58;";  // or "http:" would become a link
    } else if (byte == '.' && (last == 'w' || last == 'W')) {
      escaped += "&#46;";  // "www."
    } else {
      if (kMarks.find(byte) != kMarks.npos) escaped += '\\';
      escaped += byte;
    }
    last = byte;
  }
  return escaped;
}

std::string CsvText(std::string_view text, std::size_t max_columns) {
  std::string cell = Printable(text, max_columns);
  if (!cell.empty() && std::string_view("=+-@").find(cell.front()) != std::string_view::npos) cell.insert(0, 1, '\'');
  if (cell.find_first_of(",\"'") == cell.npos) return cell;
  std::string quoted = "\"";
  for (const char byte : cell) byte == '"' ? quoted.append("\"\"") : quoted.append(1, byte);
  return quoted + '"';
}

std::string UriPath(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string uri;
  for (const char byte : path) {
    if (kPlain.find(byte) != kPlain.npos) {
      uri += byte;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return uri;
}

}  // namespace loopscope
