// Files and batches.
#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

/// One epoch under way; the loader outlives it.
struct Epoch {
  const io::DataLoader* loader;
  std::vector<uint32_t> order;
  int64_t next = 0;
};

}  // namespace

void bind_io(py::module_& module) {
  module.def(
      "read_idx", [](const std::string& path) { return io::read_idx(path); }, py::arg("path"),
      "A whole IDX file, the format of the MNIST family, gzip'd or plain. IoError when it is "
      "missing or damaged.",
      Unlocked());
  py::class_<Epoch>(module, "_Epoch")
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", [](Epoch& epoch) {
        if (epoch.next == epoch.loader->batches()) throw py::stop_iteration();
        const io::Batch batch =
            unlocked([&] { return epoch.loader->batch(epoch.order, epoch.next); });
        ++epoch.next;
        return py::make_tuple(batch.x, batch.y);
      });
  struct Loader {
    io::DataLoader loader;
    int64_t epoch = 0;
  };
  py::class_<Loader>(module, "DataLoader",
                     "Shuffled batches (x, y) of rows that stay in memory: each iteration is an "
                     "epoch, whose order depends on the seed and its number alone.")
      .def(py::init([](const TensorArg& inputs, const TensorArg& targets, int64_t batch,
                       bool shuffle, uint64_t seed, bool drop_last,
                       const std::optional<std::pair<float, float>>& normalize) {
             io::LoaderOptions options{
                 .batch = batch, .shuffle = shuffle, .seed = seed, .drop_last = drop_last};
             if (normalize) options.normalize = {normalize->first, normalize->second};
             return std::make_unique<Loader>(
                 Loader{io::DataLoader(inputs.value, targets.value, options)});
           }),
           py::arg("inputs"), py::arg("targets"), py::arg("batch") = 64, py::arg("shuffle") = true,
           py::arg("seed") = 0, py::arg("drop_last") = true, py::arg("normalize") = py::none(),
           "normalize=(mean, scale): inputs become float32, (x - mean) * scale. ShapeError unless "
           "both have equally many rows.",
           Unlocked())
      .def("__len__", [](const Loader& l) { return l.loader.batches(); })
      .def_property_readonly("rows", [](const Loader& l) { return l.loader.rows(); })
      .def_readwrite("epoch", &Loader::epoch, "The epoch that the next iteration starts.")
      .def(
          "__iter__",
          [](Loader& l) {
            return Epoch{&l.loader, l.loader.order(l.epoch++)};
          },
          py::keep_alive<0, 1>());
}

}  // namespace reprise::python
