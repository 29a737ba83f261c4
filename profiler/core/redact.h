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

// The text without what looks like a secret by itself: a password or a token in a URL, a signature in its query, what
// follows Bearer or Basic, a key of a form that services give out.
std::string Redacted(std::string_view text);

// The same for each argument, and for what NAME=VALUE, --name=value and --name value give to a name that sounds secret.
std::vector<std::string> Redacted(const std::vector<std::string>& command);

// A line of source code: what it holds in quotes is looked at alone, since `token = next_token` names another variable.
std::string RedactedSource(std::string_view line);

}  // namespace loopscope
