// The runtime as a program sees it: statistics, threads, devices, dumps.
#include "frontend/python/binding.h"
#pragma GCC visibility push(default)
#include "runtime/dump.h"
#pragma GCC visibility pop

namespace reprise::python {

namespace {

/// A device as Python's context manager; may be entered again inside itself.
class DeviceContext {
 public:
  explicit DeviceContext(const std::string& name) : device_(device(name)) {}
  DeviceContext(const DeviceContext&) = delete;
  [[nodiscard]] std::string name() const { return std::string(device_.name()); }
  [[nodiscard]] std::string description() const { return device_.description(); }
  DeviceContext& enter() {
    scopes_.push_back(std::make_unique<DeviceScope>(device_));
    return *this;
  }
  void exit() { scopes_.pop_back(); }

 private:
  Device& device_;
  std::vector<std::unique_ptr<DeviceScope>> scopes_;
};

py::dict stats() {
  const Stats s = Runtime::get().stats();
  py::dict d;
  d["plan_hits"] = s.plan_hits;
  d["plan_misses"] = s.plan_misses;
  d["graph_hits"] = s.graph_hits;
  d["plans_compiled"] = s.plans_compiled;
  d["kernel_hits"] = s.kernel_hits;
  d["kernels_compiled"] = s.kernels_compiled;
  d["launches"] = s.launches;
  d["realizes"] = s.realizes;
  d["replays"] = s.replays;
  d["recorded"] = s.recorded;
  d["compile_seconds"] = s.compile_seconds;
  d["live_tensors"] = s.live_tensors;
  d["live_nodes"] = s.live_nodes;
  d["pending_ops"] = s.pending_ops;
  d["live_bytes"] = s.live_bytes;
  d["cached_bytes"] = s.cached_bytes;
  d["cache_bytes"] = s.cache_bytes;
  return d;
}

}  // namespace

void bind_runtime(py::module_& module) {
  module.def("stats", &stats,
             "Counters since the start or reset_stats(); live figures are as of now.");
  module.def(
      "reset_stats", [] { Runtime::get().reset_stats(); }, "Counters start from 0.");
  module.def("num_threads", &num_threads, "Threads that share a launch, the caller included.");
  module.def("set_num_threads", &set_num_threads, py::arg("threads"),
             "0 asks for one per core. Results do not depend on it.", Unlocked());
  module.def(
      "devices",
      [] {
        std::vector<std::string> names;
        for (const Device* const each : devices()) names.emplace_back(each->name());
        return names;
      },
      Unlocked(), "Names of the devices that tensors can be on, the CPU first.");
  module.def(
      "default_device", [] { return default_device().name(); },
      "Name of the device that data goes to and that computes what depends on no data.");
  module.def(
      "set_default_device", [](const std::string& name) { set_default_device(device(name)); },
      py::arg("name"), Unlocked(),
      "The default device of every thread that is in no `with device(..)`. DeviceError when no "
      "device is called so.");
  py::class_<DeviceContext>(module, "device",
                            "with device(\"vulkan:0\"): the default device of this thread inside.")
      .def(py::init<const std::string&>(), py::arg("name"), Unlocked())
      .def_property_readonly("name", &DeviceContext::name)
      .def_property_readonly("description", &DeviceContext::description)
      .def("__enter__", &DeviceContext::enter, py::return_value_policy::reference)
      .def("__exit__", [](DeviceContext& d, const py::args&) { d.exit(); })
      .def("__repr__", [](const DeviceContext& d) { return "device('" + d.name() + "')"; });
  module.def("_set_dump_directory", &set_dump_directory);
  module.def("_dump_directory", &dump_directory);
  module.def(
      "dump_graph",
      [](const Tensor& x) {
        const TensorId ids[] = {x.id()};
        return unlocked([&] { return Runtime::get().dump_graph(ids); });
      },
      py::arg("x"), "Text of the graph that computing x would compile.");
}

}  // namespace reprise::python
