// Text from outside made inert in the languages that formats are written in. All are printable first (see printable.h):
// valid UTF-8, one line, no control characters, cut at `max_columns`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace loopscope {

// For text and quoted attributes of XML 1.0 and HTML.
std::string XmlText(std::string_view text, std::size_t max_columns = 500);

// For a paragraph or a table cell of GitHub's Markdown: no formatting, no HTML, no link, no mention.
std::string MarkdownText(std::string_view text, std::size_t max_columns = 500);

// As a cell of RFC 4180, quoted where needed. A text that a spreadsheet would take for a formula gets an apostrophe.
std::string CsvText(std::string_view text, std::size_t max_columns = 500);

// As the path of a relative or `file:` reference by RFC 3986, every byte but unreserved characters and '/' in percent
// form. Not printable first: a path is bytes.
std::string UriPath(std::string_view path);

}  // namespace loopscope
