// NumPy's indexing: positions, ranges, new axes, an ellipsis, tensors of positions, masks.
#include "frontend/indexing.h"

#include <algorithm>

#include "frontend/python/arguments.h"

namespace reprise::python {

namespace {

/// One entry of a key, after the ellipsis and the masks were written out.
struct Entry {
  /// Nothing: an ellipsis that stands for no axis, which still parts its neighbours.
  enum class Kind : uint8_t { Position, Range, NewAxis, Positions, Nothing } kind = Kind::Range;
  int64_t position = 0;
  Range range;
  Tensor positions;  ///< of integers; of bools where a mask is not yet written out

  [[nodiscard]] bool is_advanced() const {
    return kind == Kind::Position || kind == Kind::Positions;
  }
  [[nodiscard]] bool is_mask() const {
    return kind == Kind::Positions && positions.dtype() == DType::Bool;
  }
  /// Whether it selects from an axis of the indexed tensor.
  [[nodiscard]] bool has_axis() const { return kind != Kind::NewAxis && kind != Kind::Nothing; }
};

/// The positions at which a mask holds: one tensor for each of its axes.
std::vector<Tensor> positions_of(const Tensor& mask) {
  require_readable("a mask as index");
  return unlocked([&] { return nonzero(mask); });
}

int64_t bound_of(PyObject* object) {
  if (object == Py_None) return Range::kOpen;
  // Bounds past 64 bits clamp, as Python's do.
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object));
  if (!index) throw py::error_already_set();
  const py::ssize_t value = PyNumber_AsSsize_t(index.ptr(), nullptr);
  return std::max<int64_t>(value, Range::kOpen + 1);
}

Entry range_of(const py::handle& object) {
  const auto* slice = reinterpret_cast<PySliceObject*>(object.ptr());
  Entry entry;
  entry.range.step = slice->step == Py_None ? 1 : bound_of(slice->step);
  entry.range.start = bound_of(slice->start);
  entry.range.stop = bound_of(slice->stop);
  return entry;
}

/// A tensor, an array or a list as positions or a mask.
Tensor tensor_of(const TensorType& type, const py::handle& item) {
  Tensor tensor;
  if (py::isinstance<Tensor>(item)) {
    tensor = item.cast<const Tensor&>();
  } else if (is_array(item) || PyList_Check(item.ptr()) != 0) {
    py::object array = py::module_::import("numpy").attr("asarray")(item);
    if (py::len(array.attr("ravel")()) == 0 && PyList_Check(item.ptr()) != 0) {
      array = array.attr("astype")("int64");  // an empty list is one of positions
    }
    tensor = adopt_array(array);
  } else {
    throw IndexError(str("an index of ", type, " is of Python's type ",
                         std::string(py::str(py::type::handle_of(item).attr("__name__"))),
                         "; expected an int, a slice, None, an ellipsis, or a tensor"));
  }
  const DType dtype = tensor.dtype();
  if (dtype == DType::Bool) {
    if (tensor.rank() == 0) throw IndexError("a mask of rank 0 as index is not supported");
  } else if (!is_integer(dtype)) {
    throw IndexError(str("a tensor as index must be of integers or bools, it is ", tensor.type()));
  }
  return tensor;
}

/// Axes that an entry, a mask included, selects from.
int num_axes(const Entry& entry) {
  if (!entry.has_axis()) return 0;
  return entry.is_mask() ? entry.positions.rank() : 1;
}

/// Checks that a mask's extents are those of the axes it stands for.
void check_mask(const Tensor& mask, const TensorType& type, int axis) {
  const Shape shape = mask.shape();
  for (int i = 0; i < shape.rank(); ++i) {
    if (axis + i < type.shape.rank() && type.shape[axis + i] == shape[i]) continue;
    throw IndexError(str("a mask of shape ", shape, " from axis ", axis, " of ", type));
  }
}

/// The key's items, masks and the ellipsis as they are; where the ellipsis stands, else the end.
std::pair<std::vector<Entry>, size_t> items_of(const TensorType& type, const py::object& key) {
  const py::tuple keys =
      PyTuple_Check(key.ptr()) != 0 ? py::reinterpret_borrow<py::tuple>(key) : py::make_tuple(key);
  std::vector<Entry> entries;
  std::optional<size_t> ellipsis;
  for (const py::handle item : keys) {
    if (item.is_none()) {
      entries.push_back({.kind = Entry::Kind::NewAxis, .range = {}, .positions = {}});
    } else if (item.ptr() == Py_Ellipsis) {
      if (ellipsis) throw IndexError("an index has more than one ellipsis");
      ellipsis = entries.size();
      entries.push_back({.kind = Entry::Kind::Nothing, .range = {}, .positions = {}});
    } else if (PySlice_Check(item.ptr())) {
      entries.push_back(range_of(item));
    } else if (const auto position = integer_of(item)) {
      entries.push_back(
          {.kind = Entry::Kind::Position, .position = *position, .range = {}, .positions = {}});
    } else {
      entries.push_back(
          {.kind = Entry::Kind::Positions, .range = {}, .positions = tensor_of(type, item)});
    }
  }
  return {std::move(entries), ellipsis.value_or(entries.size())};
}

std::vector<Entry> entries_of(const TensorType& type, const py::object& key) {
  auto [items, ellipsis] = items_of(type, key);
  int axes = 0;
  for (const Entry& item : items) axes += num_axes(item);
  const int rank = type.shape.rank();
  if (axes > rank) throw IndexError(str(axes, " indices into ", type, ", which has rank ", rank));
  const Entry whole{.range = {}, .positions = {}};
  if (ellipsis == items.size()) {
    items.insert(items.end(), static_cast<size_t>(rank - axes), whole);
  } else if (axes < rank) {
    items[ellipsis] = whole;
    items.insert(items.begin() + static_cast<ptrdiff_t>(ellipsis),
                 static_cast<size_t>(rank - axes - 1), whole);
  }
  // A mask is checked at the axes that it has in the end, and none is read before all are right.
  int axis = 0;
  for (const Entry& item : items) {
    if (item.is_mask()) check_mask(item.positions, type, axis);
    axis += num_axes(item);
  }
  std::vector<Entry> entries;
  for (Entry& item : items) {
    if (!item.is_mask()) {
      entries.push_back(std::move(item));
      continue;
    }
    for (Tensor& places : positions_of(item.positions)) {
      entries.push_back(
          {.kind = Entry::Kind::Positions, .range = {}, .positions = std::move(places)});
    }
  }
  return entries;
}

/// x's elements at the same place of all of `positions` along `axes`; the positions' common shape
/// comes first in the result.
Tensor take_many(const Tensor& x, const std::vector<int64_t>& axes,
                 const std::vector<Tensor>& positions) {
  const Shape shape = x.shape();
  std::vector<int64_t> order(axes), extents;
  int64_t merged = 1;
  for (const int64_t axis : axes) merged *= shape[static_cast<int>(axis)];
  extents.push_back(merged);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) continue;
    order.push_back(axis);
    extents.push_back(shape[axis]);
  }
  const Tensor rows = reshape(permute(x, order), extents);
  // Each axis's positions become its share of the place in the merged axis. Looked up in a table
  // rather than multiplied: so negative ones count from the end, and those out of range are found.
  Tensor place;
  int64_t stride = merged;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t extent = shape[static_cast<int>(axes[i])];
    stride = extent == 0 ? 0 : stride / extent;
    const Tensor share = take(arange(Number(extent)) * stride, positions[i]);
    place = place.empty_handle() ? share : place + share;
  }
  return take(rows, place, 0);
}

/// The entries that stand for axes of x, but for tensors of positions.
std::vector<Index> basic_indices(const std::vector<Entry>& entries) {
  std::vector<Index> basic;
  for (const Entry& e : entries) {
    if (!e.has_axis()) continue;
    basic.push_back(e.kind == Entry::Kind::Position ? Index(e.position)
                    : e.kind == Entry::Kind::Range  ? Index(e.range)
                                                    : Index(Range{}));
  }
  return basic;
}

Tensor indexed(const Tensor& x, const std::vector<Entry>& entries) {
  const bool advanced = std::any_of(entries.begin(), entries.end(), [](const Entry& e) {
    return e.kind == Entry::Kind::Positions;
  });
  Tensor result = at(x, basic_indices(entries));
  std::vector<int64_t> axes;
  std::vector<Tensor> positions;
  int64_t axis = 0;
  for (const Entry& e : entries) {
    if (e.kind == Entry::Kind::Position || e.kind == Entry::Kind::Nothing) continue;
    if (e.kind == Entry::Kind::NewAxis) result = unsqueeze(result, axis);
    if (e.kind == Entry::Kind::Positions) {
      axes.push_back(axis);
      positions.push_back(e.positions);
    }
    ++axis;
  }
  if (!advanced) return result;

  // NumPy's rule: the new axes take the place of positions that stand together, else they lead.
  const auto is_advanced = [](const Entry& e) { return e.is_advanced(); };
  const auto first = std::find_if(entries.begin(), entries.end(), is_advanced);
  const auto last = std::find_if(entries.rbegin(), entries.rend(), is_advanced).base();
  const bool together = std::all_of(first, last, is_advanced);
  const int64_t lead =
      together ? std::count_if(entries.begin(), first,
                               [](const Entry& e) { return e.kind != Entry::Kind::Nothing; })
               : 0;

  Tensor taken =
      axes.size() == 1 ? take(result, positions[0], axes[0]) : take_many(result, axes, positions);
  const int rank = taken.rank();
  const int64_t added = rank - (result.rank() - static_cast<int64_t>(axes.size()));
  const int64_t now = axes.size() == 1 ? axes[0] : 0;
  if (now == lead || added == 0) return taken;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i) {
    if (i < now || i >= now + added) order.push_back(i);
  }
  for (int64_t i = 0; i < added; ++i) order.insert(order.begin() + lead + i, now + i);
  return permute(taken, order);
}

/// What is put into x: a number that fits its dtype, or a tensor that does.
Tensor value_for(const TensorType& x, const Operand& value) {
  if (value.tensor() == nullptr) return full({}, value.number(), x.dtype);
  const DType dtype = value.tensor()->dtype();
  if (promote(x.dtype, dtype) != x.dtype) {
    throw DTypeError(str("set_slice of ", x, ": a value of ", dtype, " does not fit"));
  }
  return cast(*value.tensor(), x.dtype);
}

/// x with a value where a key of any kind finds its elements: the key applied to their numbers.
Tensor set_elements(const Tensor& x, const std::vector<Entry>& entries, const Operand& value) {
  const TensorType type = x.type();
  const std::span<const int64_t> extents = type.shape.extents();
  const Tensor places = indexed(reshape(arange(Number(type.shape.numel())), extents), entries);
  const Tensor put = broadcast_to(value_for(type, value), places.shape());
  return reshape(index_put(flatten(x), flatten(places), flatten(put), 0), extents);
}

/// The mask where it is all of a key.
std::optional<Tensor> mask_of(const TensorType& type, const py::object& key) {
  const std::vector<Entry> items = items_of(type, key).first;
  if (items.size() != 1 || !items[0].is_mask()) return std::nullopt;
  check_mask(items[0].positions, type, 0);
  return items[0].positions;
}

/// x with a value, broadcast to what is left of x's axes, where a mask of its first ones holds.
Tensor set_where(const Tensor& x, const Tensor& mask, const Operand& value) {
  const TensorType type = x.type();
  const Shape shape = mask.shape();
  std::vector<int64_t> extents(shape.begin(), shape.end());
  extents.resize(static_cast<size_t>(type.shape.rank()), 1);
  return where(reshape(mask, extents), value_for(type, value), x);
}

Tensor set_at(const Tensor& x, const py::object& key, const Operand& value) {
  const TensorType type = x.type();
  if (value.tensor() == nullptr || value.tensor()->rank() == 0) {  // no need to read the mask
    if (const auto mask = mask_of(type, key)) {
      return unlocked([&] { return set_where(x, *mask, value); });
    }
  }
  const std::vector<Entry> entries = entries_of(type, key);
  const bool basic = std::all_of(entries.begin(), entries.end(), [](const Entry& e) {
    return e.kind != Entry::Kind::Positions && e.kind != Entry::Kind::NewAxis;
  });
  return unlocked([&] {
    return basic ? set_slice(x, basic_indices(entries), value) : set_elements(x, entries, value);
  });
}

}  // namespace

void bind_indexing(py::module_& module, TensorClass& tensor) {
  tensor.def(
      "__getitem__",
      [](const Tensor& x, const py::object& key) {
        const std::vector<Entry> entries = entries_of(x.type(), key);
        return unlocked([&] { return indexed(x, entries); });
      },
      py::arg("key"),
      "NumPy's indexing: ints, slices, None, an ellipsis, integer tensors (whose shapes "
      "broadcast), "
      "and masks, which are read at once. IndexError for a position out of range; where a tensor "
      "holds it, when a result is read.");
  tensor.def(
      "__iter__",
      [](const Tensor& x) {
        if (x.rank() == 0) throw py::type_error("iteration over a tensor of rank 0");
        py::list rows;
        for (int64_t i = 0; i < x.size(0); ++i) rows.append(unlocked([&] { return x[i]; }));
        return rows.attr("__iter__")();
      },
      "Over the first axis.");
  module.def(
      "set_slice",
      [](const TensorArg& x, const py::object& key, Operand value) {
        return set_at(x.value, key, value);
      },
      py::arg("x"), py::arg("key"), py::arg("value"),
      "x with a value, broadcast to x[key], in place of x[key]. Where positions repeat the last "
      "one counts; a mask is read at once, but for a single value.");
  module.def(
      "nonzero",
      [](const Tensor& x) {
        if (x.rank() == 0) throw ShapeError("nonzero of a tensor of rank 0");
        const Tensor mask = unlocked([&] { return cast(x, DType::Bool); });
        return py::tuple(py::cast(positions_of(mask)));
      },
      py::arg("x"),
      "Where x is not 0: a tensor of positions for each axis, row-major. Read at once.");
}

}  // namespace reprise::python
