#include "profiler/core/report/grown.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "profiler/core/report/compare.h"

namespace loopscope {
namespace {

constexpr double kLeastOfStep = 0.02, kLeastOfOwn = 0.1;
constexpr std::size_t kMostOfAKind = 5;

class Growing {
 public:
  explicit Growing(double step_ms) : least_ms_(kLeastOfStep * step_ms) {}

  void Add(GrownTime grown) {
    const double by_ms = grown.after_ms - grown.before_ms;
    if (by_ms >= least_ms_ && by_ms >= kLeastOfOwn * grown.after_ms) kind_.push_back(std::move(grown));
  }

  // The largest of those added since the last call go to `to`.
  void Take(std::vector<GrownTime>& to) {
    std::ranges::stable_sort(kind_, std::greater(), [](const GrownTime& one) { return one.after_ms - one.before_ms; });
    if (kind_.size() > kMostOfAKind) kind_.resize(kMostOfAKind);
    std::ranges::move(kind_, std::back_inserter(to));
    kind_.clear();
  }

 private:
  double least_ms_;
  std::vector<GrownTime> kind_;
};

void AddParts(const Report& before, const Report& after, Growing& growing) {
  for (int part = 0; part < kParts; ++part) {
    const auto index = static_cast<std::size_t>(part);
    const auto &was = before.breakdown_ms[index], &is = after.breakdown_ms[index];
    if (!was || !is) continue;
    growing.Add({GrownKind::kPart, std::string(PartName(static_cast<Part>(part))), {}, *was, *is});
  }
}

using LineKey = std::tuple<std::string, std::string, std::string>;  // file's name, function, what runs

LineKey KeyOf(const LineRow& row) {
  return {row.where->path.substr(row.where->path.rfind('/') + 1), row.where->function, row.what};
}

void AddLines(const Report& before, const Report& after, Growing& growing) {
  std::map<LineKey, double> was;
  for (const LineRow& row : before.lines) {
    if (row.where) was[KeyOf(row)] += row.ms;
  }
  struct Line {
    double ms = 0;
    const LineRow* largest = nullptr;
  };
  std::map<LineKey, Line> is;
  for (const LineRow& row : after.lines) {
    if (!row.where) continue;
    Line& line = is[KeyOf(row)];
    line.ms += row.ms;
    if (line.largest == nullptr || row.ms > line.largest->ms) line.largest = &row;
  }
  for (const auto& [key, line] : is) {
    const auto found = was.find(key);
    growing.Add(
        {GrownKind::kLine, std::get<2>(key), line.largest->where, found == was.end() ? 0 : found->second, line.ms});
  }
}

void AddOps(const Report& before, const Report& after, Growing& growing) {
  for (const OpChange& op : Compare(before, after).ops) {
    growing.Add({op.device ? GrownKind::kKernel : GrownKind::kOperator, op.name, {}, op.before_ms, op.after_ms});
  }
}

}  // namespace

std::vector<GrownTime> WhatGrew(const Report& before, const Report& after) {
  std::vector<GrownTime> grown;
  if (!before.steps.mean_ms || !after.steps.mean_ms) return grown;
  Growing growing(*before.steps.mean_ms);
  AddParts(before, after, growing);
  growing.Take(grown);
  AddLines(before, after, growing);
  growing.Take(grown);
  AddOps(before, after, growing);
  growing.Take(grown);
  return grown;
}

}  // namespace loopscope
