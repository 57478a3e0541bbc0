// Python objects that the library let go of where it could not take the GIL.
#pragma once

#include <Python.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace reprise::python {

/// A tensor on a NumPy array's memory holds the array. Its end may come on any thread, with or
/// without the GIL, and perhaps while that thread holds a lock that a thread with the GIL waits
/// for: so whoever lets go never waits for the GIL. Objects wait here until a thread with the GIL
/// comes by: the end of any call of the bindings, or the interpreter's next pending call.
class ReleaseQueue {
 public:
  /// The process's; never destroyed.
  [[nodiscard]] static ReleaseQueue& get();
  /// Gives up one reference: at once where this thread has the GIL, never after Python's end.
  void release(PyObject* object) noexcept;
  /// GIL held.
  void drain() noexcept {
    if (waiting_.load(std::memory_order_relaxed) != 0) drain_all();
  }

 private:
  void drain_all() noexcept;

  std::mutex mutex_;
  std::vector<PyObject*> objects_;
  std::atomic<size_t> waiting_{0};
};

}  // namespace reprise::python
