#include "tests/replay/program.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace loopscope::replay {
namespace {

void ReadWork(char letter, std::istream& line, Program& program) {
  Work work{};
  work.letter = letter;
  line >> work.device >> work.stream >> work.start >> work.duration >> work.correlation;
  if (letter == 'K') line >> work.name;
  if (letter == 'C' || letter == 'M') line >> work.bytes;
  if (letter == 'C') line >> work.way >> work.from >> work.to;
  program.work.push_back(work);
}

bool ReadLine(char letter, std::istream& line, Program& program) {
  std::uint32_t thread = 0;
  switch (letter) {
    case 'N': {
      std::uint32_t number = 0;
      line >> number;
      line.get();
      std::getline(line, program.names[number]);
      return true;
    }
    case 'D': {
      Device& device = program.devices.emplace_back();
      line >> device.ordinal >> device.name >> device.memory_bytes;
      line >> device.compute_major >> device.compute_minor >> device.multiprocessors;
      break;
    }
    case 'O': {
      line >> thread;
      Op& op = program.threads[thread].ops.emplace_back();
      line >> op.start >> op.duration >> op.name >> op.sequence >> op.backward >> op.graph;
      break;
    }
    case 'R': {
      line >> thread;
      Range& range = program.threads[thread].ranges.emplace_back();
      line >> range.start >> range.duration >> range.name >> range.category;
      break;
    }
    case 'A': {
      Call& call = program.calls.emplace_back();
      line >> call.thread >> call.runtime >> call.start >> call.duration >> call.name >> call.correlation;
      program.threads[call.thread];
      break;
    }
    case 'B':
      line >> program.trainer >> program.warm >> program.begin;
      break;
    case 'E':
      line >> program.step_ends.emplace_back();
      break;
    default:
      ReadWork(letter, line, program);
  }
  return !line.fail();
}

}  // namespace

Program ReadProgram(const char* path) {
  Program program;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    char letter = '\0';
    line >> letter;
    if (ReadLine(letter, line, program)) continue;
    std::fprintf(stderr, "cannot be read: %s\n", text.c_str());
    std::exit(2);
  }
  return program;
}

}  // namespace loopscope::replay
