// The probe itself, loaded and called as the driver does, with stand-ins for CUPTI and for the preloaded library.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cupti/fake_probe_api.h"
#include "tests/cupti/in_a_process.h"

namespace {

bool capture_is_open = true, cupti_is_taken = false;
const loopscope::DeviceHooks* hooks = nullptr;

}  // namespace

// The probe finds these in the program, where the preloaded library has them.
extern "C" __attribute__((visibility("default"))) const loopscope::ProbeApi* loopscope_probe_api() {
  static const loopscope::ProbeApi api = [] {
    loopscope::ProbeApi made = *loopscope::test::FakeProbeApi();
    made.set_device_hooks = [](const loopscope::DeviceHooks* given) { hooks = given; };
    return made;
  }();
  return capture_is_open ? &api : nullptr;
}

extern "C" __attribute__((visibility("default"))) bool loopscope_cupti_is_taken() {
  return cupti_is_taken;
}

namespace loopscope {
namespace {

using test::InAProcess, test::Recorded;

void* Probe() {
  return dlopen(CUPTI_PROBE, RTLD_NOW | RTLD_LOCAL);
}

void DriverStarts() {
  reinterpret_cast<int (*)()>(dlsym(Probe(), "InitializeInjection"))();
}

void CaptureOpens() {
  capture_is_open = true;
  reinterpret_cast<decltype(&loopscope_cupti_attach)>(dlsym(Probe(), "loopscope_cupti_attach"))();
}

std::string Marks() {
  std::string text;
  for (const std::string& mark : Recorded::Instance().marks) text += mark + "\n";
  return text + (hooks != nullptr ? "hooks" : "no hooks");
}

TEST(CuptiInjection, BeginsWhenTheDriverStarts) {
  EXPECT_EQ(InAProcess([] {
              DriverStarts();
              CaptureOpens();
              return Marks();
            }),
            "cupti 130001\nhooks");
}

TEST(CuptiInjection, BeginsWithTheCaptureWhereTheDriverCameFirst) {
  EXPECT_EQ(InAProcess([] {
              capture_is_open = false;
              DriverStarts();
              const std::string before = Marks();
              CaptureOpens();
              return before + "\n" + Marks();
            }),
            "no hooks\ncupti 130001\nhooks");
}

TEST(CuptiInjection, StaysOffWhereTheProgramsProfilerCameFirst) {
  EXPECT_EQ(InAProcess([] {
              cupti_is_taken = true;
              DriverStarts();
              return Marks();
            }),
            "GPU probe off: the program's own profiler uses CUPTI\nno hooks");
}

TEST(CuptiInjection, MakesRoomWhenTheProgramsProfilerComes) {
  EXPECT_EQ(InAProcess([] {
              DriverStarts();
              hooks->leave_cupti_to("torch.profiler");
              return Marks() + " " + std::to_string(Recorded::Instance().mark_values.back());
            }),
            "cupti 130001\nwhat the GPU does is not recorded from here on: torch.profiler uses CUPTI\nhooks 2");
}

}  // namespace
}  // namespace loopscope
