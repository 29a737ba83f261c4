// Secrets in a program's command and environment, taken out before they are written anywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loopscope {

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
