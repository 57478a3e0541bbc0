// Runs code on a thread with little stack.
#include "small_stack.h"

#include <pthread.h>

#include <exception>

#include "ir/error.h"

namespace reprise {

namespace {

struct Work {
  const std::function<void()>& body;
  std::exception_ptr error;
};

void* run(void* argument) {
  auto* work = static_cast<Work*>(argument);
  try {
    work->body();
  } catch (...) {
    work->error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_on_small_stack(const std::function<void()>& body) {
  Work work{body, nullptr};
  pthread_attr_t attributes;
  REPRISE_ASSERT(pthread_attr_init(&attributes) == 0);
  REPRISE_ASSERT(pthread_attr_setstacksize(&attributes, 256 << 10) == 0);
  pthread_t thread;
  REPRISE_ASSERT(pthread_create(&thread, &attributes, run, &work) == 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
  if (work.error) std::rethrow_exception(work.error);
}

}  // namespace reprise
