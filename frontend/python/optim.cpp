// Optimizers and learning-rate schedules.
#include "frontend/optim.h"

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

/// Adam and AdamW differ in their default decay alone.
template <class Kind>
void bind_adam(py::module_& module, const char* name, double decay, const char* doc) {
  py::class_<Kind, optim::Optimizer>(module, name, doc)
      .def(py::init([](const std::vector<TensorArg>& parameters, double lr,
                       const std::pair<double, double>& betas, double eps, double weight_decay) {
             return std::make_unique<Kind>(values_of(parameters),
                                           optim::AdamOptions{.lr = lr,
                                                              .beta1 = betas.first,
                                                              .beta2 = betas.second,
                                                              .eps = eps,
                                                              .weight_decay = weight_decay});
           }),
           py::arg("parameters"), py::arg("lr") = 1e-3,
           py::arg("betas") = std::pair<double, double>(0.9, 0.999), py::arg("eps") = 1e-8,
           py::arg("weight_decay") = decay, Unlocked());
}

}  // namespace

void bind_optim(py::module_& module) {
  py::class_<optim::Optimizer>(module, "Optimizer",
                               "Gradients in, parameters assigned. Changing the rate never "
                               "recompiles.")
      .def(
          "step",
          [](optim::Optimizer& optimizer, const std::vector<TensorArg>& gradients) {
            optimizer.step(values_of(gradients));
          },
          py::arg("gradients"),
          "Records one step, the gradients in the order of the parameters; it is computed with the "
          "next realize. ShapeError or DTypeError for a gradient that does not fit.",
          Unlocked())
      .def_property("lr", &optim::Optimizer::lr, &optim::Optimizer::set_lr,
                    "The learning rate, which holds from the next step on, recorded or replayed.")
      .def_property_readonly("steps", &optim::Optimizer::steps,
                             "Steps recorded, and replayed without an error, so far.")
      .def_property_readonly("state", &optim::Optimizer::state,
                             "The parameters' companions (momenta): assign to restore them.");
  py::class_<optim::Sgd, optim::Optimizer>(
      module, "SGD",
      "v = momentum * v + g; p -= lr * v, or with Nesterov p -= lr * (g + momentum * v).")
      .def(py::init([](const std::vector<TensorArg>& parameters, double lr, double momentum,
                       double weight_decay, bool nesterov) {
             return std::make_unique<optim::Sgd>(values_of(parameters),
                                                 optim::SgdOptions{.lr = lr,
                                                                   .momentum = momentum,
                                                                   .weight_decay = weight_decay,
                                                                   .nesterov = nesterov});
           }),
           py::arg("parameters"), py::arg("lr") = 1e-2, py::arg("momentum") = 0.0,
           py::arg("weight_decay") = 0.0, py::arg("nesterov") = false, Unlocked());
  bind_adam<optim::Adam>(module, "Adam", 0, "Adam; weight_decay is added to the gradient.");
  bind_adam<optim::AdamW>(module, "AdamW", 1e-2,
                          "Adam whose weight decay does not pass through the moments.");

  py::class_<optim::CosineSchedule>(module, "CosineSchedule",
                                    "Rises linearly over `warmup` steps, then falls along half a "
                                    "cosine to `floor` at step `total`.")
      .def(py::init([](double peak, double floor, int64_t total, int64_t warmup) {
             return optim::CosineSchedule{peak, floor, total, warmup};
           }),
           py::arg("peak"), py::arg("floor") = 0.0, py::arg("total") = 1, py::arg("warmup") = 0)
      .def("__call__", &optim::CosineSchedule::operator(), py::arg("step"));
  py::class_<optim::StepSchedule>(module, "StepSchedule",
                                  "Multiplied by `factor` after every `every` steps.")
      .def(py::init([](double base, double factor, int64_t every) {
             return optim::StepSchedule{base, factor, every};
           }),
           py::arg("base"), py::arg("factor") = 0.1, py::arg("every") = 1)
      .def("__call__", &optim::StepSchedule::operator(), py::arg("step"));
}

}  // namespace reprise::python
