// The capture file: what probes write and the capture importer reads. Nothing here includes torch or CUDA.
//
//   file   = FileHeader, padded to header_bytes; then chunks of chunk_bytes each, numbered from 0
//   chunk  = ChunkHeader, then `used` bytes of records; belongs to one thread of one process
//   record = RecordHead, then a body; its size is head.words * 8 bytes, so that unknown kinds can be skipped
//
// A record counts once ChunkHeader::used covers it (stored with release order after the bytes), so what a killed
// process wrote up to its last complete record is readable. All integers are little endian. All times are
// CLOCK_MONOTONIC in nanoseconds. String and stack ids come from counters in the header that every process sharing
// the file advances atomically; a thread writes the definition before its first use, in any chunk. Id 0 is "none".
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace loopscope::wire {

inline constexpr char kMagic[8] = {'L', 'O', 'O', 'P', 'S', 'C', 'A', 'P'};
inline constexpr std::uint16_t kMajor = 1;  // a reader refuses a newer major
inline constexpr std::uint16_t kMinor = 11;
inline constexpr std::uint32_t kHeaderBytes = 4096;
inline constexpr std::uint32_t kChunkBytes = 64 * 1024;      // the writer's default
inline constexpr std::uint32_t kMinChunkBytes = 4096;        // a reader refuses less
inline constexpr std::uint32_t kMaxChunkBytes = 16u << 20;   // and more
inline constexpr std::uint32_t kMaxStringBytes = 32 * 1024;  // longer strings are cut by the writer

struct FileHeader {
  char magic[8];
  std::uint16_t major, minor;
  std::uint32_t header_bytes, chunk_bytes;
  std::uint32_t pid;            // the process that made the file
  std::uint64_t start_mono_ns;  // CLOCK_MONOTONIC and CLOCK_REALTIME read together when the file was made
  std::uint64_t start_real_ns;
  // Atomic counters, shared by all processes that map the file.
  std::uint32_t next_chunk;       // chunks handed out so far
  std::uint32_t next_string;      // last string id handed out
  std::uint32_t next_stack;       // last stack id handed out
  std::uint32_t clean_end;        // 1 once the probe ended cleanly
  std::uint64_t dropped;          // records lost because no chunk was available in time
  std::uint64_t stalls_over_1ms;  // times a thread waited over 1 ms inside the writer
  // Since version 1.8: where the file may grow no further, its oldest chunks are used again. Their operators and work
  // of devices that began in this time are left out, but for the detail windows; all else of them is kept, since
  // version 1.10 but for ranges that GoWithOperators().
  std::uint64_t left_out_from_ns, left_out_until_ns;  // 0: nothing was left out
  std::uint64_t free_chunks;  // a list of chunks to be used again: how often it changed << 32 | the first's number + 1
  std::uint32_t free_count;
  std::uint32_t next_order;  // of ChunkHeader::order
  // Since version 1.9: nothing that happened in this time is kept, nor marks IsOfMoment; so many steps ended in it.
  std::uint64_t skipped_from_ns, skipped_until_ns, skipped_steps;  // 0: nothing was skipped
};
static_assert(sizeof(FileHeader) <= kHeaderBytes);

inline constexpr std::uint32_t kChunkMagic = 0x4b48434c;  // "LCHK"

enum class ChunkType : std::uint16_t { kRecords = 1 };  // unknown types are skipped

struct ChunkHeader {
  std::uint32_t magic;  // 0 while the chunk was never used
  ChunkType type;
  std::uint16_t closed;  // 1 once full or given up cleanly: then crc32c is valid
  std::uint32_t pid, tid;
  std::uint32_t used;    // bytes of records after this header
  std::uint32_t crc32c;  // Castagnoli, over those bytes; meaningful when closed
  std::uint32_t order;   // since version 1.8: when it was handed out, among all chunks; before that 0
  // Since version 1.8: what is kept of it is being copied, (chunk + 1) << kCopiedShift | where in that chunk's records,
  // in units of 8 bytes. Once that chunk's `used` goes beyond there, this one counts no more.
  std::uint32_t copied;
};
inline constexpr unsigned kCopiedShift = 13;
inline constexpr std::uint32_t kMaxCopiedChunks = 1u << (32 - kCopiedShift);
static_assert(sizeof(ChunkHeader) == 32);

enum class RecordKind : std::uint8_t {
  kString = 1,
  kOp = 2,
  kOpDetail = 3,
  kRange = 4,
  kMark = 5,
  kStack = 6,
  kModule = 7,
  kApplied = 8,
  kFact = 9,
  kDevice = 10,      // since version 1.2
  kDeviceCall = 11,  // since version 1.2
  kTensorPeak = 12,  // since version 1.6
  kTensor = 13,      // since version 1.6
  kGain = 14,        // since version 1.7
  kOfThread = 15,    // since version 1.8
  kStep = 16,        // since version 1.10
  kKnob = 17,        // since version 1.11; before that the fact "program.knobs", with commas between them
};

struct RecordHead {
  RecordKind kind;
  std::uint8_t sub;     // meaning depends on kind: scope, range category, mark kind …
  std::uint16_t words;  // size of the whole record in 8-byte units, at least 1
};
static_assert(sizeof(RecordHead) == 4);

// The records after it in its chunk were written by this thread, not by the chunk's.
struct OfThreadRecord {
  RecordHead head;
  std::uint32_t pid, tid;
  std::uint32_t reserved;
};
static_assert(sizeof(OfThreadRecord) == 16);

// Followed by `length` bytes of UTF-8 (not terminated), padded to 8.
struct StringRecord {
  RecordHead head;
  std::uint32_t id;
  std::uint32_t length;
};

// Bits of OpRecord::flags: the state of the thread when the op began, unless said otherwise.
enum OpFlag : std::uint16_t {  // none of what runs while the program is compiled (under a dispatch mode)
  kOpGradMode = 1 << 0,
  kOpInference = 1 << 1,
  kOpAnomaly = 1 << 2,
  kOpAutocast = 1 << 3,      // autocast on for the CPU or the current accelerator
  kOpGraph = 1 << 4,         // autograd's sequence number advanced inside: the op recorded a graph node
  kOpLongDuration = 1 << 5,  // duration is in units of 1024 ns
  kOpProfiler = 1 << 6,      // a torch profiler was active
  kOpEmitNvtx = 1 << 7,      // torch.autograd.profiler.emit_nvtx was active
  kOpAsync = 1 << 8,
  kOpOutermost = 1 << 9,  // no other op was open on this thread
};

inline constexpr std::uint32_t kNoSequence = 0xffffffffu;

// One call of an operator (or an autograd node), written when it ends: children come before their parent.
// head.sub is at::RecordScope (0 FUNCTION, 1 BACKWARD_FUNCTION, 2 TORCHSCRIPT_FUNCTION, … 7 USER_SCOPE).
struct OpRecord {
  RecordHead head;
  std::uint32_t name;
  std::uint64_t start_ns;
  std::uint32_t duration;        // ns, or 1024 ns with kOpLongDuration
  std::uint32_t sequence;        // autograd sequence number at the start, low 32 bits; kNoSequence when none
  std::uint32_t shape_hash;      // of the inputs' dtypes and sizes; 0 when not taken
  std::uint16_t forward_thread;  // at::RecordFunction::forwardThreadId(), low 16 bits; 0 when none
  std::uint16_t flags;           // OpFlag
};
static_assert(sizeof(OpRecord) == 32);

// Belongs to the OpRecord just before it on the same thread. `inputs` is the text of the inputs, separated by ';': a
// tensor is dtype[sizes] ("f32[32,3,48,48]", "bf16[64]", followed by "@cuda:0" unless on the CPU, and by "!" when it
// requires grad; since version 1.10 then by "#" and a number where no operator made it: the same one for the same
// tensor), "(f32[8] f32[])" a list of them, "-" an undefined tensor, else the scalar's value ("1e-05"), since
// version 1.10 a list of them ("[1, 1]", booleans as 0 and 1), or "?".
// dtypes: f64 f32 f16 bf16 f8 i64 i32 i16 i8 u8 b1 c64 other. "padding=P/T" after them: P of T tokens are padding.
// Since version 1.1 it may be followed by the sequence numbers (32 bits each, kNoSequence as padding) of the graph
// nodes that made further tensor inputs, those in lists too: each once, without `producer`, at most
// kMaxFurtherProducers.
inline constexpr std::uint32_t kMaxFurtherProducers = 32;
struct OpDetailRecord {
  RecordHead head;
  std::uint32_t inputs;    // string
  std::uint32_t stack;     // stack; 0 when not taken
  std::uint32_t producer;  // autograd sequence number of the first tensor input's grad_fn; kNoSequence when none
};
static_assert(sizeof(OpDetailRecord) == 16);

enum class RangeCategory : std::uint8_t {  // RecordHead::sub of RangeRecord
  kUser = 0,                               // NVTX push/pop or start/end, USER_SCOPE; name is the message
  kLoader = 1,     // the training thread asks its loader for a batch; value = samples in it (0 unknown)
  kBackward = 2,   // torch::autograd::backward on the calling thread
  kOptimizer = 3,  // Optimizer::step; name "SGD", "AdamW", "Adam" …; value = numbers in the parameters (0 unknown)
  kZeroGrad = 4,   // Optimizer::zero_grad; value = set_to_none (0 or 1)
  kSync = 5,       // the host waits for a device ("cudaStreamSynchronize"); value = correlation id, 0 none
  kCommunication = 6,
  kCopyToDevice = 7,
  kEvaluation = 8,
  kForward = 9,      // a module's outermost forward, where a shim can see it
  kWait = 10,        // the thread waits on a condition variable (loader queues)
  kDeviceCall = 11,  // a call of the device's runtime or driver ("cudaLaunchKernel"); value = correlation id
  kModule = 12,  // a module's forward inside the detail window, nested; name "layer1.0.conv1", the root's is its class
  kOutput = 13,  // since version 1.4: text is written ("print", "fwrite"); value = bytes (0 unknown)
  kLine = 14,    // since version 1.7: a line of the program runs, where calls are followed (kFollowBegin); such ranges
  // do not overlap on a thread. name = the function that the line called longest meanwhile ("gc.collect";
  // 0: none), value = calls made and the share of its own code, stack = the line and its callers
  kPause = 15,  // since version 1.7: the thread is blocked in a call of the system ("nanosleep", "read", "fsync")
};

// Of kLine's value: calls made, and above them which part of the time was the line's own code.
inline constexpr std::uint64_t kMaxLineCalls = (1u << 22) - 1;
inline constexpr unsigned kLineOwnShift = 22;
inline constexpr std::uint64_t kLineOwnWhole = 1023;
// kLine's name where the line called nothing and its thread slept: for a lock, or for the interpreter's.
inline constexpr char kThreadWait[] = "a wait for another thread";

struct RangeRecord {  // written when it ends
  RecordHead head;
  std::uint32_t name;
  std::uint64_t start_ns;
  std::uint64_t duration_ns;
  std::uint64_t value;  // by category, see above
  std::uint32_t stack;  // stack of the caller; 0 when not taken
  std::uint32_t reserved;
};
static_assert(sizeof(RangeRecord) == 40);

// Whether ranges of a step go where its operators do, as a StepRecord has their sum. Long ones stay: that step is no
// usual one.
constexpr bool GoWithOperators(RangeCategory category, std::uint64_t duration_ns) {
  constexpr std::uint64_t kLongNs = 10'000'000;
  return category != RangeCategory::kEvaluation && category != RangeCategory::kLine && duration_ns < kLongNs;
}

// The ranges of the training thread that are summed for each step, by category.
inline constexpr int kStepSums = 8;
constexpr int StepSumOf(RangeCategory category) {  // -1: not summed
  switch (category) {
    case RangeCategory::kLoader:
      return 0;
    case RangeCategory::kForward:
      return 1;
    case RangeCategory::kBackward:
      return 2;
    case RangeCategory::kOptimizer:
    case RangeCategory::kZeroGrad:
      return 3;
    case RangeCategory::kSync:
      return 4;
    case RangeCategory::kCommunication:
      return 5;
    case RangeCategory::kCopyToDevice:
      return 6;
    case RangeCategory::kEvaluation:
      return 7;
    default:
      return -1;
  }
}

enum StepBit : std::uint8_t {  // RecordHead::sub of StepRecord
  kStepSummed = 1,             // the sums are known: not in the first steps, which are written once their clock is
  // The state that held from its begin to its end.
  kStepWarmUp = 2,     // the window had not opened
  kStepOperators = 4,  // operators were recorded
  kStepDetailed = 8,   // … and details of them
  kStepFollowed = 16,  // calls were followed, at its end at least
};

// A step of the thread that trains, written when it ends. Before version 1.10 it was a mark, kStepEnd.
struct StepRecord {
  RecordHead head;
  std::uint32_t clock;  // string: what ends its steps ("optimizer:SGD#1", "mark" …)
  std::uint64_t end_ns;
  std::uint64_t samples;     // 0 unknown
  float sums_ns[kStepSums];  // by StepSumOf(), of the ranges that ended in it; one inside another counts once
};
static_assert(sizeof(StepRecord) == 56);

enum class MarkKind : std::uint8_t {  // RecordHead::sub of MarkRecord
  kStepEnd = 1,        // until version 1.9; value = samples in the step (0 unknown); name = what the clock is
  kMeasureBegin = 2,   // warm-up is over; the window opens at this instant
  kMeasureEnd = 3,     // the window closes; value = steps in it
  kEpochEnd = 4,       // the training loader ran out
  kResidentBytes = 5,  // process RSS; value = bytes. Since version 1.1 without file-backed and shared pages: the
                       // capture's own are among them, and grow with every step
  kPeakBytes = 6,      // at the end; value = most bytes of RSS inside the window; name "host" or "cuda:0"
  kLoss = 7,           // value = bits of a double; time orders the sequence
  kMetric = 8,         // name, value = bits of a double (loopscope.h)
  kSampleHash = 9,     // value = running hash of the sampler's indices, one per batch (check launches)
  kProbeOff = 10,      // name = why a probe switched itself off, or what it cannot see; since version 1.6 value = the
                       // probe that records nothing (ProbeId), kNone where all go on
  kProbeOn = 11,       // name = probe and version ("torch 2.11.0")
  kCleanEnd = 12,      // value = exit status that the probe used
  kDetailBegin = 13,   // the detail window opens / closes
  kDetailEnd = 14,
  kThreadName = 15,  // name of this thread
  kEpochStart = 16,  // the training loader was started; with kEpochEnd it bounds the epoch boundary
  // Since version 1.3. Steps alternate between ways of running them (env::kLive): here one ends and, unless `name` is
  // empty, the next begins. name = the treatments that are on from here on, as letters from 'a', "-" for none; value =
  // those that changed something in the steps before, as bits from 1.
  kSwitch = 17,
  kDeviceBytes = 18,   // since version 1.4: what torch's allocator holds of a device; name "cuda:0", value = bytes
  kDeviceSample = 19,  // since version 1.4: read now and then; name "cuda:0 utilization_pct", value = bits of a double
  kOpsEnd = 20,        // since version 1.5: from here on operators are not recorded, ranges and marks are …
  kOpsBegin = 21,      // … until here
  // Since version 1.7: from here on the calls of this thread are followed, which slows it down … until here.
  // name = why ("step", "epoch", "start-up", "late", "worker"); of kFollowEnd, value = calls followed.
  kFollowBegin = 22,
  kFollowEnd = 23,
};

// Whether such a mark tells of its moment alone; others say what holds for a longer time, or for the whole run.
constexpr bool IsOfMoment(MarkKind kind) {
  using enum MarkKind;
  for (const MarkKind one : {kStepEnd, kEpochEnd, kEpochStart, kResidentBytes, kDeviceBytes, kDeviceSample, kLoss,
                             kMetric, kSampleHash, kOpsEnd, kOpsBegin}) {
    if (one == kind) return true;
  }
  return false;
}

// Probes that a program can be without.
enum class ProbeId : std::uint64_t { kNone = 0, kTorch = 1, kDevices = 2 };

struct MarkRecord {
  RecordHead head;
  std::uint32_t name;
  std::uint64_t time_ns;
  std::uint64_t value;
};
static_assert(sizeof(MarkRecord) == 24);

// A call stack, innermost frame first: `count` frames of 8 bytes follow. A frame with kFrameIsText set holds in its low
// 32 bits a string "path:line:function" (Python); any other is a return address in this process (see ModuleRecord).
inline constexpr std::uint64_t kFrameIsText = 1ull << 63;
inline constexpr std::uint64_t kFrameIsLibrary = 1ull << 62;  // since version 1.7: not the user's, a package's
struct StackRecord {
  RecordHead head;
  std::uint32_t id;
  std::uint32_t count;
  std::uint32_t reserved;
};

// An executable mapping of a file, so that addresses can be symbolised after the process is gone.
struct ModuleRecord {
  RecordHead head;
  std::uint32_t path;
  std::uint64_t begin, end;   // addresses of the mapping
  std::uint64_t file_offset;  // of `begin`
  std::uint32_t pid;
  std::uint32_t reserved;
};
static_assert(sizeof(ModuleRecord) == 40);

enum class DeviceWork : std::uint8_t {  // RecordHead::sub of DeviceRecord
  kKernel = 0,                          // name is the kernel's, as the linker writes it (mangled)
  kCopy = 1,
  kMemset = 2,
  kGraph = 3,  // a whole launch of a CUDA graph
  kWait = 4,   // a stream, an event or a whole context was waited for, by the host or by another stream
};
enum class CopyWay : std::uint8_t { kNone, kHostToDevice, kDeviceToHost, kDeviceToDevice, kHostToHost, kPeer };
enum DeviceWorkFlag : std::uint8_t {
  kWorkPageable = 1,  // copies: the host's side is pageable memory
  kWorkPinned = 2,    // copies: … is pinned
  kWorkAsync = 4,     // copies: asked for by an asynchronous call
};

// What a device did, recorded once it is done, by whichever thread learned of it: the chunk's thread means nothing.
// `device` is its number in this process; the facts "device.N.name" … describe it.
struct DeviceRecord {
  RecordHead head;
  std::uint32_t name;  // 0 where it is not a kernel
  std::uint64_t start_ns;
  std::uint64_t duration_ns;
  std::uint64_t bytes;  // copies and memsets
  std::uint32_t device, stream;
  std::uint32_t correlation;  // of the call that launched it; 0 unknown
  CopyWay way;
  std::uint8_t flags;  // DeviceWorkFlag
  std::uint16_t reserved;
};
static_assert(sizeof(DeviceRecord) == 48);

// A call of the device's runtime or driver that thread `tid` made, recorded later by another thread. The name is the
// library's, with its version ("cudaLaunchKernel_v7000").
struct DeviceCallRecord {
  RecordHead head;
  std::uint32_t name;
  std::uint64_t start_ns;
  std::uint64_t duration_ns;
  std::uint32_t correlation;
  std::uint32_t tid;
};
static_assert(sizeof(DeviceCallRecord) == 32);

// Tensors in the host's memory are followed through the first detail window and written when it closes: for each of its
// steps, the last one left out, when all of them together held the most in it …
struct TensorPeakRecord {
  RecordHead head;
  std::uint32_t reserved;
  std::uint64_t time_ns;
  std::uint64_t bytes;
};
static_assert(sizeof(TensorPeakRecord) == 24);

// … and the largest tensors that were there at such a peak although the last op that used them had begun before it. Of
// a loader's tensor from before the window, allocated_ns and tid are those of one like it that was made in the window,
// if there was one.
struct TensorRecord {
  RecordHead head;
  std::uint32_t tid;  // the thread of this process that allocated it
  std::uint64_t bytes;
  std::uint64_t allocated_ns, used_ns;
  std::uint64_t freed_ns;  // 0: it was still there when the window closed
};
static_assert(sizeof(TensorRecord) == 40);

enum AppliedFlag : std::uint32_t {
  kAppliedNotApplicable = 1,  // nothing was changed; `now` is the reason
  kAppliedLost = 2,           // read back at the end: the program changed it again; `now` is the value in effect
  kAppliedFailed = 4,         // it raised; `now` is the message
};

// What a treatment changed, by key, e.g. key "loader.workers", where "train_image.cpp:120 loader", old "0", now "2".
struct AppliedRecord {
  RecordHead head;
  std::uint32_t key, where, old, now;  // strings
  std::uint32_t flags;                 // AppliedFlag
};
static_assert(sizeof(AppliedRecord) == 24);

// How long a piece of the program's work takes as it is and with a change, measured when a bounded run ended.
// change: "amp=bf16" …; work: what was measured ("aten::mm f32[64,512];f32[512,512]").
struct GainRecord {
  RecordHead head;
  std::uint32_t change, work;  // strings
  std::uint32_t count;         // how often the detail window's steps did this work
  std::uint64_t before_ns, after_ns;
};
static_assert(sizeof(GainRecord) == 32);

// A fact about the program: key "loader.workers", "batch.size", "torch.version", "threads" … value as text.
struct FactRecord {
  RecordHead head;
  std::uint32_t key, value;  // strings
  std::uint32_t reserved;
};
static_assert(sizeof(FactRecord) == 16);

// A treatment that the program applies itself (Knob() of probes/loopscope.h), written when the run ends.
struct KnobRecord {
  RecordHead head;
  std::uint32_t key;  // string
};
static_assert(sizeof(KnobRecord) == 8);

}  // namespace loopscope::wire
