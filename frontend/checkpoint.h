// Checkpoints: functions whose values are computed anew for gradients rather than kept for them.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/tensor.h"

namespace reprise {

/// Marks `outputs` as what was recorded, since `order` was Runtime::next_order(), of what was there
/// before: handles whose gradients compute all that lies between anew.
[[nodiscard]] std::vector<Tensor> checkpoint_since(uint64_t order, std::vector<Tensor> outputs);

/// function(inputs..): a tensor, or a vector of them. Inside a tape, gradients of it do not keep
/// what it computes on the way; they compute that anew, from the inputs and whatever else the
/// function read (parameters of modules, say), to the same bits, of random numbers too (second
/// derivatives add up in another order). Costs a second computation of the function, gains the
/// memory between. Nests. Assigns happen once, with the call.
template <class Function, std::same_as<Tensor>... Inputs>
[[nodiscard]] auto checkpoint(Function&& function, const Inputs&... inputs) {
  const uint64_t order = Runtime::get().next_order();
  auto outputs = std::invoke(std::forward<Function>(function), inputs...);
  if constexpr (std::is_same_v<decltype(outputs), Tensor>) {
    return std::move(checkpoint_since(order, {std::move(outputs)}).front());
  } else {
    return checkpoint_since(order, std::move(outputs));
  }
}

}  // namespace reprise
