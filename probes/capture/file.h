// The capture's mapped file and its supply of chunks: a helper thread keeps some allocated and pre-faulted.
#pragma once

#include <atomic>
#include <cstdint>

#include "probes/capture/writer.h"
#include "probes/wire.h"

namespace loopscope::capture {

// A chunk that belongs to the caller: its header is filled, nothing is used yet.
struct Chunk {
  wire::ChunkHeader* header = nullptr;
  unsigned char* records = nullptr;
  std::uint32_t capacity = 0;  // bytes of records that fit
};

int OpenFile(const char* path, const Options& options) noexcept;  // 0 or an errno
void CloseFile(bool clean) noexcept;

// The next chunk: a ready one, or made by the caller; header null if the disk is too slow or the file is switched
// off.
Chunk TakeChunk() noexcept;

// Marks a chunk of the caller as complete, with its checksum.
void CloseChunk(wire::ChunkHeader* chunk) noexcept;

// The mapped header; null while no file is open. Stays mapped after the file was closed.
wire::FileHeader* Header() noexcept;

// Changes when a file is opened or closed and in a forked child: chunks taken under another number are not ours.
std::uint32_t Generation() noexcept;
const std::atomic<std::uint32_t>& FileGeneration() noexcept;  // its address, for AppendAtOnce

bool IsOpen() noexcept;

// Why the file can grow no further, e.g. a full disk; null while it can. Once its last chunks are full, recording is
// switched off, with one line on stderr.
const char* OffReason() noexcept;

}  // namespace loopscope::capture
