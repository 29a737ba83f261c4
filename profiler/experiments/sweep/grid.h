// The grid of a sweep: settings with their values, the cells they make, and which cells are neighbours.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/core/report/sweep.h"
#include "profiler/core/result.h"

namespace loopscope {

inline constexpr int kMostCells = 100;

// "loader.workers=0,1,2" each. "0" and "1" mean off and on where a treatment is switched by these words. Errors (exit
// 2): a word of another form, a key that is not a treatment or is named twice, a value given twice, more than
// kMostCells cells.
Result<std::vector<SweepAxis>> ParseGrid(std::span<const std::string> words);

// All of them, by value; the last axis varies fastest.
std::vector<SweepCell> CellsOf(std::span<const SweepAxis> axes);

// Indices of the live neighbours of `cell`, one step along one axis: on an axis of numbers the nearest live one on
// either side, on an axis of words every other one.
std::vector<int> NeighboursOf(std::span<const SweepAxis> axes, int cell, const std::vector<bool>& live);

// "loader.workers=2, loader.pin_memory=off"; "as it is" for a cell without values.
std::string CellName(std::span<const SweepAxis> axes, const SweepCell& cell);

// Adds published figures for a grid of workers and pinned memory; nothing for other grids.
void AddPublished(SweepFacts& sweep);

}  // namespace loopscope
