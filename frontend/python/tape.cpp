// Tapes, frozen steps and scalars that may change between replays.
#include "frontend/tape.h"

#include <memory>
#include <thread>

#include "frontend/checkpoint.h"
#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

/// Tapes that Python has open on this thread.
thread_local int open_tapes = 0;

/// A tape between __enter__ and __exit__.
class TapeContext {
 public:
  TapeContext() = default;
  TapeContext(const TapeContext&) = delete;
  TapeContext& operator=(const TapeContext&) = delete;
  /// One that was never left ends here if it still can; else it stays open.
  ~TapeContext() {
    if (!tape_) return;
    if (thread_ == std::this_thread::get_id() && depth_ == open_tapes) {
      --open_tapes;
    } else {
      [[maybe_unused]] const Tape* left_open = tape_.release();
    }
  }

  void enter() {
    if (tape_) throw Error("the tape is open already");
    tape_ = std::make_unique<Tape>();
    depth_ = ++open_tapes;
    thread_ = std::this_thread::get_id();
  }
  void exit() {
    static_cast<void>(get());
    if (depth_ != open_tapes) throw Error("a tape ends before one that was opened inside it");
    --open_tapes;
    tape_.reset();
  }
  [[nodiscard]] const Tape& get() const {
    if (!tape_) throw Error("the tape is not open: use it inside `with Tape() as tape:`");
    if (thread_ != std::this_thread::get_id()) {
      throw Error("a tape was used on another thread than the one it was opened on");
    }
    return *tape_;
  }

 private:
  std::unique_ptr<Tape> tape_;
  int depth_ = 0;
  std::thread::id thread_;
};

}  // namespace

void bind_tape(py::module_& module) {
  py::class_<Frozen>(module, "Frozen", "A recorded step as a function that runs without recording.")
      .def(
          "replay",
          [](const Frozen& frozen, const std::vector<TensorArg>& inputs) {
            return frozen.replay(values_of(inputs));
          },
          py::arg("inputs"),
          "The step's outputs for these inputs; its assigns are done too. DTypeError or ShapeError "
          "for an input of another type than it was frozen with.",
          Unlocked())
      .def_property_readonly("num_inputs", &Frozen::num_inputs)
      .def_property_readonly("num_launches", &Frozen::num_launches, "Launches of one replay.")
      .def("plan", &Frozen::plan, "The plan as text: slots, launches, donations.", Unlocked());

  py::class_<TapeContext>(module, "_Tape")
      .def(py::init<>())
      .def("enter", &TapeContext::enter, Unlocked())
      .def("exit", &TapeContext::exit, Unlocked())
      .def(
          "realize",
          [](const TapeContext& tape, const std::vector<TensorArg>& tensors) {
            tape.get().realize(std::span<const Tensor>(values_of(tensors)));
          },
          Unlocked())
      .def(
          "gradient",
          [](const TapeContext& tape, const TensorArg& y, const std::vector<TensorArg>& xs,
             const std::optional<TensorArg>& seed) {
            return tape.get().gradient(y.value, values_of(xs), or_empty(seed));
          },
          Unlocked())
      .def(
          "jvp",
          [](const TapeContext& tape, const TensorArg& y, const std::vector<TensorArg>& xs,
             const std::vector<TensorArg>& tangents) {
            return tape.get().jvp(y.value, values_of(xs), values_of(tangents));
          },
          Unlocked())
      .def(
          "freeze",
          [](const TapeContext& tape, const std::vector<TensorArg>& inputs,
             const std::vector<TensorArg>& outputs) {
            return tape.get().freeze(values_of(inputs), values_of(outputs));
          },
          Unlocked());
  module.def(
      "_realize", [](const std::vector<TensorArg>& tensors) { realize(values_of(tensors)); },
      Unlocked());
  module.def("_next_order", [] { return Runtime::get().next_order(); });
  module.def(
      "_checkpoint_since",
      [](uint64_t order, const std::vector<TensorArg>& outputs) {
        return checkpoint_since(order, values_of(outputs));
      },
      Unlocked());
  module.def("_in_tape", [] { return Runtime::get().in_tape(); });
}

}  // namespace reprise::python
