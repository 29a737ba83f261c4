// Sorts columns of records. Kineto writes each kind almost in time order, so only a few long runs have to be merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "profiler/importers/kineto/shard.h"

namespace loopscope {

// Stable sort. A sequence of few ascending runs takes time proportional to its length.
template <class T, class Before>
void SortRuns(std::span<T> all, Before before) {
  constexpr std::size_t kMaxRuns = 4096;
  std::vector<std::size_t> bounds{0};
  for (std::size_t i = 1; i < all.size() && bounds.size() <= kMaxRuns; ++i) {
    if (before(all[i], all[i - 1])) bounds.push_back(i);
  }
  if (bounds.size() > kMaxRuns) {
    std::ranges::stable_sort(all, before);
    return;
  }
  bounds.push_back(all.size());
  const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  while (bounds.size() > 2) {
    std::vector<std::size_t> joined{0};
    for (std::size_t i = 1; i < bounds.size(); i += 2) {
      const std::size_t low = bounds[i - 1], middle = bounds[i], high = bounds[std::min(i + 1, bounds.size() - 1)];
      if (middle < high && before(all[middle], all[middle - 1]))
        std::inplace_merge(at(low), at(middle), at(high), before);
      joined.push_back(high);
    }
    bounds = std::move(joined);
  }
}

// Drops records equal to the previous one, and returns how many.
template <class T, class Same>
std::size_t DropDuplicates(std::vector<T>& sorted, Same same) {
  const auto last = std::unique(sorted.begin(), sorted.end(), same);
  const auto dropped = static_cast<std::size_t>(sorted.end() - last);
  sorted.erase(last, sorted.end());
  return dropped;
}

// Hands each block of the columns to `take(column's number, block)`, in the order of the file, and frees it.
template <class T, class Take>
void ForEachBlock(const std::vector<KinetoColumn<T>*>& columns, Take take) {
  std::vector<std::size_t> next(columns.size());
  for (;;) {
    std::size_t first = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (next[i] == columns[i]->blocks.size()) continue;
      const auto window = [&](std::size_t column) { return columns[column]->blocks[next[column]].window; };
      if (first == columns.size() || window(i) < window(first)) first = i;
    }
    if (first == columns.size()) return;
    KinetoBlock<T>& block = columns[first]->blocks[next[first]++];
    take(first, block);
    block.items.reset();
  }
}

template <class T>
std::size_t RecordsIn(const std::vector<KinetoColumn<T>*>& columns) {
  std::size_t records = 0;
  for (const KinetoColumn<T>* column : columns) {
    for (const KinetoBlock<T>& block : column->blocks) records += block.size;
  }
  return records;
}

}  // namespace loopscope
