#include "profiler/experiments/prove/contender.h"

namespace loopscope {

std::vector<Contender> ContendersOf(std::span<const Candidate> candidates) {
  std::vector<Contender> contenders;
  for (const Candidate& one : candidates) contenders.push_back({.candidate = one});
  return contenders;
}

std::vector<Candidate> CandidatesIn(std::span<const Contender> contenders) {
  std::vector<Candidate> candidates;
  for (const Contender& one : contenders) candidates.push_back(one.candidate);
  return candidates;
}

Settings SettingsOf(const std::vector<int>& members, std::span<const Contender> contenders) {
  Settings settings;
  for (const int member : members) settings.push_back(contenders[member].candidate.KeyAndValue());
  return settings;
}

}  // namespace loopscope
