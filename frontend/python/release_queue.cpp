// Waiting for the GIL without waiting.
#include "frontend/python/release_queue.h"

namespace reprise::python {

ReleaseQueue& ReleaseQueue::get() {
  static ReleaseQueue& queue = *new ReleaseQueue;
  return queue;
}

void ReleaseQueue::release(PyObject* object) noexcept {
  if (Py_IsInitialized() == 0) return;  // at exit: the memory goes with the process
  if (PyGILState_Check() != 0) {
    Py_DECREF(object);
    return;
  }
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = objects_.empty();
    objects_.push_back(object);
    waiting_.store(objects_.size(), std::memory_order_relaxed);
  }
  // Only the first asks: one call takes all. A full list of calls is no harm, others come by.
  if (first) {
    Py_AddPendingCall(
        [](void*) {
          get().drain();
          return 0;
        },
        nullptr);
  }
}

void ReleaseQueue::drain_all() noexcept {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(mutex_);
    objects.swap(objects_);
    waiting_.store(0, std::memory_order_relaxed);
  }
  // The mutex is free again: what ends here may run Python code, and let go of more.
  for (PyObject* object : objects) Py_DECREF(object);
}

}  // namespace reprise::python
