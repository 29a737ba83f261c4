// Text from outside (paths, names, output of programs) made fit to be shown: safe to print, laid out in terminal
// columns, without secrets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace loopscope {

// Valid UTF-8 on one line, at most `max_columns` wide (cut with "…"). Tabs and line ends become spaces; control
// characters, escape sequences, invisible and direction-changing characters and invalid bytes become U+FFFD.
std::string Printable(std::string_view text, std::size_t max_columns = 500);

// Columns that printable text takes on a terminal. Combining marks count as one, so the result is never too small.
std::size_t DisplayWidth(std::string_view printable);

// Wraps text into lines of at most `columns` (at least 8), at spaces, and within a word only if it is longer than a
// line. Lines have no trailing space; the result is never empty.
std::vector<std::string> Wrap(std::string_view printable, std::size_t columns);

// The command as a shell would read it back: quoted where needed, printable, without secrets.
std::string ShellQuoted(const std::vector<std::string>& command, std::size_t max_columns = 500);

// Secrets in a program's command and environment, taken out before they are written anywhere.

// Stands in place of a secret.
inline constexpr std::string_view kRedacted = "***";

// Whether a variable or an option of this name ("WANDB_API_KEY", "--auth-token") holds a secret.
bool SoundsSecret(std::string_view name);

// Removes what looks like a secret by itself: a password or a token in a URL, a signature in its query, what follows
// Bearer or Basic, keys in the formats that services use.
std::string Redacted(std::string_view text);

// The same for each argument, and for values of secret-sounding names in NAME=VALUE, --name=value and --name value.
std::vector<std::string> Redacted(const std::vector<std::string>& command);

// For a line of source code: only quoted text is redacted, since `token = next_token` names another variable.
std::string RedactedSource(std::string_view line);

}  // namespace loopscope
