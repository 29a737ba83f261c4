// cupti_replay PROGRAM CAPTURE LAYOUT [VARIANT]: a program (program.h) as it would be recorded with the CUPTI of CUDA
// LAYOUT. Only the device and the program are played: collector, decoder and writer are the real ones.
//
// VARIANT: killed (with a third of its records not handed over), drops (CUPTI lost records), second-client (another one
// takes CUPTI halfway), fork (a child ends as the program does), no-gpu (CUPTI cannot be loaded).
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "probes/capture/records.h"
#include "probes/cupti/collector.h"
#include "tests/replay/activities.h"
#include "tests/replay/device.h"
#include "tests/replay/host.h"

namespace loopscope::replay {
namespace {

constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kLost = 25;

// The played time, for marks that the collector writes.
std::atomic<std::uint64_t> now_ns{0};

ProbeApi Api() {
  ProbeApi api{};
  api.version = kProbeApiVersion;
  api.tracing = true;
  api.now_ns = [] { return now_ns.load(); };
  api.append = [](const void* records, std::size_t bytes) { return capture::Append(records, bytes); };
  api.string_id = [](const char* text, std::size_t length) { return capture::StringId({text, length}); };
  api.mark = [](std::uint8_t kind, const char* name, std::uint64_t value) {
    capture::WriteMarkAt(now_ns, static_cast<wire::MarkKind>(kind), name, value);
  };
  api.fact = [](const char* key, const char* value) { capture::WriteFact(key, value); };
  return api;
}

// Operators name their inputs, and with them the GPU.
void WriteInputOnTheDevice(std::uint64_t time_ns) {
  wire::OpRecord op{};
  op.head = capture::HeadOf<wire::OpRecord>(wire::RecordKind::kOp, 0);
  op.name = capture::StringId("aten::relu");
  op.start_ns = time_ns;
  op.sequence = wire::kNoSequence;
  wire::OpDetailRecord detail{};
  detail.head = capture::HeadOf<wire::OpDetailRecord>(wire::RecordKind::kOpDetail, 0);
  detail.inputs = capture::StringId("f32[8,3]@cuda:0");
  detail.producer = wire::kNoSequence;
  capture::Append(&op, sizeof op, &detail, sizeof detail);
}

// What a child of the program gets from CUPTI and does at its end: none of it may reach the capture.
bool ForkWritesNothing() {
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t before = capture::ThreadBytes();
    PlayedDevice::Instance().RunUntil(kEnd);
    FinishCollector();
    LeaveCuptiTo("the child");
    _exit(capture::ThreadBytes() == before ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

// When all but the last third has happened.
std::uint64_t KilledAt(const std::vector<Activity>& activities) {
  return activities.empty() ? 0 : activities[activities.size() * 2 / 3].end_ns;
}

int Fail(const char* why) {
  std::fprintf(stderr, "cupti_replay: %s\n", why);
  return 1;
}

void PlayWithoutDevice(PlayedHost& host, const ProbeApi& api) {
  host.Start();
  WriteInputOnTheDevice(now_ns);
  api.mark(static_cast<std::uint8_t>(wire::MarkKind::kProbeOff), "GPU probe off: CUPTI cannot be loaded",
           static_cast<std::uint64_t>(wire::ProbeId::kDevices));
  host.Run();
}

// Returns why it could not.
const char* PlayWithDevice(PlayedHost& host, const Program& program, const Layout& layout, const ProbeApi& api,
                           const std::string& variant) {
  static CallNames names;
  const std::uint64_t base_ns = now_ns;
  std::vector<Activity> activities = ActivitiesOf(program, layout, host.Start(), base_ns, names);
  const std::uint64_t until_ns = variant == "killed" ? KilledAt(activities) : kEnd;
  PlayedDevice& device = PlayedDevice::Instance();
  device.Expect(std::move(activities));
  if (variant == "drops") device.Lose(kLost);
  if (const char* why = StartCollector(device.Functions(layout, names), &api)) return why;
  if (variant == "fork" && !ForkWritesNothing()) return "the child wrote";
  if (variant == "second-client") {
    now_ns = base_ns + program.step_ends.at(program.step_ends.size() / 2);
    device.RunUntil(now_ns);
    LeaveCuptiTo("another profiler");
  }
  // As CUPTI's own thread, beside the program's.
  std::thread cupti([&] { device.RunUntil(until_ns); });
  host.Run();
  cupti.join();
  if (variant == "killed") _exit(0);
  FinishCollector();
  std::printf("%zu records handed over\n", device.handed_over());
  return nullptr;
}

int Play(const Program& program, const char* capture_path, const Layout& layout, const std::string& variant) {
  now_ns = capture::NowNs();
  if (capture::Open(capture_path) != 0) return Fail("the capture cannot be made");
  static const ProbeApi api = Api();
  PlayedHost host(program, now_ns);
  if (variant == "no-gpu") {
    PlayWithoutDevice(host, api);
  } else if (const char* why = PlayWithDevice(host, program, layout, api, variant)) {
    return Fail(why);
  }
  capture::WriteMark(wire::MarkKind::kCleanEnd);
  capture::Close(true);
  return 0;
}

}  // namespace
}  // namespace loopscope::replay

int main(int argc, char** argv) {
  using namespace loopscope::replay;
  const Layout* const layout = argc > 3 ? FindLayout(argv[3]) : nullptr;
  if (layout == nullptr) return Fail("PROGRAM CAPTURE LAYOUT [VARIANT]");
  const int status = Play(ReadProgram(argv[1]), argv[2], *layout, argc > 4 ? argv[4] : "");
  std::fflush(nullptr);
  _exit(status);  // the collector's thread goes on
}
