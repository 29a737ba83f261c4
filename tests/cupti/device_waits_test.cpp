// Timed windows end once the GPUs have done what was launched in them: probes/preload/process/devices.h.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "probes/preload/process/devices.h"

namespace loopscope {
namespace {

template <class Type>
Type* Of(void* driver, const char* name) {
  return static_cast<Type*>(dlsym(driver, name));
}

TEST(DeviceWaits, AreForEveryGpuThatTheProgramUses) {
  SynchroniseDevices();  // no driver is loaded: nothing to wait for, and none is loaded for that
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), nullptr);

  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  ASSERT_NE(driver, nullptr) << dlerror();
  const auto log = reinterpret_cast<const char* (*)()>(dlsym(driver, "stand_in_driver_log"));
  ASSERT_NE(log, nullptr) << "a real driver stands before the stand-in";
  bool* const active = Of<bool>(driver, "stand_in_driver_active");
  active[0] = active[1] = true;
  SynchroniseDevices();
  EXPECT_EQ(log(), std::string()) << "before cuInit()";

  *Of<bool>(driver, "stand_in_driver_initialised") = true;
  active[0] = false;
  SynchroniseDevices();
  EXPECT_EQ(log(), std::string("retain1 wait1 release1 ")) << "no context is made where there was none";

  active[0] = true;
  SynchroniseDevices();
  EXPECT_EQ(log(), std::string("retain1 wait1 release1 retain0 wait0 release0 retain1 wait1 release1 "));
}

}  // namespace
}  // namespace loopscope
