// One function of tensors, computed in every way there is, against known values.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "frontend/reprise.h"

namespace reprise {

using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
using Function1 = std::function<Tensor(std::span<const Tensor>)>;

/// Dtype, shape and every element's bits; NaNs equal each other.
void expect_same(const Tensor& actual, const Tensor& expected);

/// `function(inputs)` is `expected`: with whatever the inputs are computed from or lie in, fused,
/// found in the cache with the inputs in other memory, compared with one op at a time, frozen and
/// replayed, on one thread and on all.
void expect_in_every_mode(const Function& function, const std::vector<Tensor>& inputs,
                          const std::vector<Tensor>& expected);
void expect_in_every_mode(const Function1& function, const std::vector<Tensor>& inputs,
                          const Tensor& expected);

/// The same for a function that works element by element on vectors of one length, which are
/// repeated to lengths around vector widths too; and with its inputs as constants, an element at a
/// time, so that the whole of it is folded. Integers beyond 2^53 cannot be constants: they are left
/// out of that.
void expect_elementwise(const Function1& function, const std::vector<Tensor>& inputs,
                        const Tensor& expected);

}  // namespace reprise
