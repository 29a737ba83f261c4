// Holds a pthread mutex for a scope. Unlike std::mutex, one can be handed over fork() by pthread_atfork.
#pragma once

#include <pthread.h>

namespace loopscope {

class MutexGuard {
 public:
  explicit MutexGuard(pthread_mutex_t& mutex) noexcept : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~MutexGuard() { pthread_mutex_unlock(&mutex_); }
  MutexGuard(const MutexGuard&) = delete;
  MutexGuard& operator=(const MutexGuard&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace loopscope
