// Tensors from nothing: filled and counted ones.
#include "frontend/create.h"

#include "frontend/python/arguments.h"
#include "runtime/device.h"

namespace reprise::python {

namespace {

using MaybeDType = std::optional<DTypeArg>;
using MaybeDevice = std::optional<std::string>;  // None: wherever it is used

DType or_f32(const MaybeDType& dtype) {
  return dtype ? dtype->value : DType::F32;
}
/// What `make` gives, on a device where one is named.
template <class Make>
Tensor placed(const MaybeDevice& name, const Make& make) {
  if (!name) return make();
  Device& wanted = device(*name);
  const DeviceScope scope(wanted);
  return make().to(wanted);
}

void bind_filled(py::module_& module) {
  const auto filled = [&](const char* name, Tensor (*function)(const Shape&, DType),
                          const char* doc) {
    module.def(
        name,
        [function](const Shape& shape, const MaybeDType& dtype, const MaybeDevice& device) {
          return placed(device, [&] { return function(shape, or_f32(dtype)); });
        },
        py::arg("shape"), py::arg("dtype") = py::none(), py::arg("device") = py::none(), doc,
        Unlocked());
  };
  filled("zeros", &zeros, "Zeros, float32 unless told.");
  filled("ones", &ones, "Ones, float32 unless told.");
  filled("empty", &zeros,
         "Zeros: nothing can be written into a tensor, so none is without values.");
  module.def(
      "full",
      [](const Shape& shape, const Number& value, const MaybeDType& dtype,
         const MaybeDevice& device) {
        return placed(
            device, [&] { return dtype ? full(shape, value, dtype->value) : full(shape, value); });
      },
      py::arg("shape"), py::arg("fill_value"), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(),
      "The number everywhere, in its own dtype (int64, float32, bool) unless told.", Unlocked());
  const auto like = [&](const char* name, double value, const char* doc) {
    module.def(
        name,
        [value](const TensorArg& x, const MaybeDType& dtype, const MaybeDevice& device) {
          const TensorType type = x.value.type();
          const DType want = dtype ? dtype->value : type.dtype;
          return placed(device, [&] {
            return value == 0 ? zeros(type.shape, want) : ones(type.shape, want);
          });
        },
        py::arg("x"), py::arg("dtype") = py::none(), py::arg("device") = py::none(), doc,
        Unlocked());
  };
  like("zeros_like", 0, "Zeros of x's shape, and dtype unless told.");
  like("ones_like", 1, "Ones of x's shape, and dtype unless told.");
  like("empty_like", 0, "Zeros of x's shape, and dtype unless told.");
  module.def(
      "full_like",
      [](const TensorArg& x, const Number& value, const MaybeDType& dtype,
         const MaybeDevice& device) {
        const TensorType type = x.value.type();
        return placed(device,
                      [&] { return full(type.shape, value, dtype ? dtype->value : type.dtype); });
      },
      py::arg("x"), py::arg("fill_value"), py::arg("dtype") = py::none(),
      py::arg("device") = py::none(), "The number everywhere, in x's shape, and dtype unless told.",
      Unlocked());
  const auto diagonals = [&](const char* name, bool below, const char* doc) {
    module.def(
        name,
        [below](int64_t rows, const std::optional<int64_t>& columns, int64_t k,
                const MaybeDType& dtype, const MaybeDevice& device) {
          return placed(device, [&] {
            return below ? tri(rows, columns, k, or_f32(dtype))
                         : eye(rows, columns, or_f32(dtype), k);
          });
        },
        py::arg("n_rows"), py::arg("n_cols") = py::none(), py::arg("k") = 0,
        py::arg("dtype") = py::none(), py::arg("device") = py::none(), doc, Unlocked());
  };
  diagonals("eye", false, "Ones on diagonal k.");
  diagonals("tri", true, "Ones on diagonal k and below it.");
  module.def(
      "arange",
      [](const Number& start, const std::optional<Number>& stop, const Number& step,
         const MaybeDType& dtype, const MaybeDevice& device) {
        const std::optional<DType> want = dtype ? std::optional(dtype->value) : std::nullopt;
        return placed(device, [&] {
          return stop ? arange(start, *stop, step, want) : arange(0, start, step, want);
        });
      },
      py::arg("start"), py::arg("stop") = py::none(), py::arg("step") = 1,
      py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      "start, start + step, .. short of stop; one number is the stop. int64 when all are integers, "
      "else float32.",
      Unlocked());
  const auto endpoint_of = [](bool included) {
    return included ? Endpoint::Included : Endpoint::Excluded;
  };
  module.def(
      "linspace",
      [endpoint_of](Fixed start, Fixed stop, int64_t num, bool endpoint, const MaybeDType& dtype,
                    const MaybeDevice& device) {
        return placed(device, [&] {
          return linspace(start.value, stop.value, num, or_f32(dtype), endpoint_of(endpoint));
        });
      },
      py::arg("start"), py::arg("stop"), py::arg("num") = 50, py::arg("endpoint") = true,
      py::arg("dtype") = py::none(), py::arg("device") = py::none(), "Values at equal distances.",
      Unlocked());
  module.def(
      "logspace",
      [endpoint_of](Fixed start, Fixed stop, int64_t num, bool endpoint, Fixed base,
                    const MaybeDType& dtype, const MaybeDevice& device) {
        return placed(device, [&] {
          return logspace(start.value, stop.value, num, base.value, or_f32(dtype),
                          endpoint_of(endpoint));
        });
      },
      py::arg("start"), py::arg("stop"), py::arg("num") = 50, py::arg("endpoint") = true,
      py::arg("base") = 10.0, py::arg("dtype") = py::none(), py::arg("device") = py::none(),
      "base to the power of linspace.", Unlocked());
}

}  // namespace

void bind_create(py::module_& module) {
  bind_filled(module);
}

}  // namespace reprise::python
