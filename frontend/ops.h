// The operations on tensors. All of them record; nothing runs until a value is needed.
//
// Operands of different dtypes are promoted (see promote()), shapes broadcast as in NumPy. Numbers
// are weak and are parameters of what gets compiled: changing one never recompiles. What a function
// cannot do it says when it is called: ShapeError, DTypeError or IndexError with both values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "frontend/tensor.h"

namespace reprise {

/// A tensor or a number, where either will do.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}  // NOLINT: implicit by intent
  Operand(Number number) : number_(number) {}          // NOLINT: implicit by intent
  Operand(const Scalar& scalar) : number_(scalar) {}   // NOLINT: implicit by intent
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T number)
      : number_(number) {}  // NOLINT: implicit by intent
  template <std::floating_point T>
  Operand(const std::complex<T>& number) : number_(number) {}  // NOLINT: implicit by intent
  [[nodiscard]] const Tensor* tensor() const { return tensor_; }
  [[nodiscard]] const Number& number() const { return number_; }

 private:
  const Tensor* tensor_ = nullptr;
  Number number_ = false;
};

// Complex tensors are taken where a function has a meaning for them: all but those that need an
// order or whole numbers. abs, var, std, norms and predicates give real results of them.

// Elementwise, one operand. Integers and bools are cast to f32 where the result is not an integer
// by nature (exp .. erfinv).
[[nodiscard]] Tensor negative(const Tensor& x);
[[nodiscard]] Tensor abs(const Tensor& x);
[[nodiscard]] Tensor sign(const Tensor& x);  ///< sign(-0) is 0
[[nodiscard]] Tensor square(const Tensor& x);
[[nodiscard]] Tensor floor(const Tensor& x);
[[nodiscard]] Tensor ceil(const Tensor& x);
[[nodiscard]] Tensor trunc(const Tensor& x);
[[nodiscard]] Tensor round(const Tensor& x);  ///< ties to even
[[nodiscard]] Tensor relu(const Tensor& x);
[[nodiscard]] Tensor isnan(const Tensor& x);
[[nodiscard]] Tensor isinf(const Tensor& x);
[[nodiscard]] Tensor isfinite(const Tensor& x);
[[nodiscard]] Tensor bitwise_invert(const Tensor& x);
[[nodiscard]] Tensor sqrt(const Tensor& x);
[[nodiscard]] Tensor rsqrt(const Tensor& x);
[[nodiscard]] Tensor reciprocal(const Tensor& x);
[[nodiscard]] Tensor exp(const Tensor& x);
[[nodiscard]] Tensor log(const Tensor& x);
[[nodiscard]] Tensor sin(const Tensor& x);
[[nodiscard]] Tensor cos(const Tensor& x);
[[nodiscard]] Tensor tanh(const Tensor& x);
[[nodiscard]] Tensor sigmoid(const Tensor& x);
[[nodiscard]] Tensor erf(const Tensor& x);
[[nodiscard]] Tensor erfinv(const Tensor& x);
[[nodiscard]] Tensor erfc(const Tensor& x);     ///< 1 - erf(x), accurate in its tail
[[nodiscard]] Tensor lgamma(const Tensor& x);   ///< log |gamma(x)|
[[nodiscard]] Tensor digamma(const Tensor& x);  ///< its derivative
/// The derivative of digamma of an order: of 0 itself, up to 64. Error for other orders.
[[nodiscard]] Tensor polygamma(int64_t order, const Tensor& x);
[[nodiscard]] Tensor exp2(const Tensor& x);
[[nodiscard]] Tensor expm1(const Tensor& x);  ///< exp(x) - 1, accurate near 0
[[nodiscard]] Tensor log2(const Tensor& x);
[[nodiscard]] Tensor log10(const Tensor& x);
[[nodiscard]] Tensor log1p(const Tensor& x);  ///< log(1 + x), accurate near 0
[[nodiscard]] Tensor cbrt(const Tensor& x);   ///< cube root, of negative numbers too
[[nodiscard]] Tensor tan(const Tensor& x);
[[nodiscard]] Tensor asin(const Tensor& x);
[[nodiscard]] Tensor acos(const Tensor& x);
[[nodiscard]] Tensor atan(const Tensor& x);
[[nodiscard]] Tensor sinh(const Tensor& x);
[[nodiscard]] Tensor cosh(const Tensor& x);
[[nodiscard]] Tensor asinh(const Tensor& x);
[[nodiscard]] Tensor acosh(const Tensor& x);
[[nodiscard]] Tensor atanh(const Tensor& x);
[[nodiscard]] Tensor frac(const Tensor& x);         ///< x - trunc(x); of integers 0
[[nodiscard]] Tensor signbit(const Tensor& x);      ///< whether the sign bit is set, of -0 too
[[nodiscard]] Tensor logical_not(const Tensor& x);  ///< whether x is 0
/// x with NaN and the infinities replaced: by 0 and the largest finite values unless told.
[[nodiscard]] Tensor nan_to_num(const Tensor& x, Number nan = 0, std::optional<Number> posinf = {},
                                std::optional<Number> neginf = {});
/// The same bits as another dtype of the same size; DTypeError for another size.
[[nodiscard]] Tensor bitcast(const Tensor& x, DType dtype);
/// Converts by the cast rules: float to integer saturates, NaN gives 0, integers wrap.
[[nodiscard]] Tensor cast(const Tensor& x, DType dtype);
/// The value, through which no gradient flows.
[[nodiscard]] Tensor stop_gradient(const Tensor& x);

// Complex numbers. Parts of c64 are f32, of c128 f64; real and imag take complex integers too.
[[nodiscard]] Tensor real(const Tensor& x);  ///< of a real tensor itself
[[nodiscard]] Tensor imag(const Tensor& x);  ///< of a real tensor zeros
[[nodiscard]] Tensor conj(const Tensor& x);
[[nodiscard]] Tensor angle(const Tensor& x);  ///< atan2(imag, real); of real numbers 0 or pi
/// re + i im; at least one of them a tensor. Of floats c64 or c128; of integers, complex integers.
[[nodiscard]] Tensor complex(Operand re, Operand im);
[[nodiscard]] Tensor polar(const Tensor& magnitude, const Tensor& angle);

// Elementwise, two operands; at least one of them a tensor, else Error.
[[nodiscard]] Tensor add(Operand a, Operand b);
[[nodiscard]] Tensor subtract(Operand a, Operand b);
[[nodiscard]] Tensor multiply(Operand a, Operand b);
[[nodiscard]] Tensor divide(Operand a, Operand b);        ///< true division: integers become f32
[[nodiscard]] Tensor floor_divide(Operand a, Operand b);  ///< integers: by zero 0
[[nodiscard]] Tensor remainder(Operand a, Operand b);     ///< the divisor's sign
[[nodiscard]] Tensor fmod(Operand a, Operand b);          ///< the dividend's sign
/// A number as exponent is a constant of the compiled code, unlike any other number.
[[nodiscard]] Tensor pow(Operand base, Operand exponent);
[[nodiscard]] Tensor maximum(Operand a, Operand b);  ///< NaN if either is
[[nodiscard]] Tensor minimum(Operand a, Operand b);
[[nodiscard]] Tensor copysign(Operand magnitude, Operand sign);
[[nodiscard]] Tensor atan2(Operand y, Operand x);  ///< the angle of the point (x, y)
[[nodiscard]] Tensor hypot(Operand a, Operand b);  ///< sqrt(a*a + b*b) without overflow
[[nodiscard]] Tensor logaddexp(Operand a, Operand b);
[[nodiscard]] Tensor nextafter(Operand a, Operand b);  ///< the next float toward b
/// x * 2^exponent; integers become f32. DTypeError unless the exponents are integers.
[[nodiscard]] Tensor ldexp(const Tensor& x, const Tensor& exponent);
[[nodiscard]] Tensor logical_and(Operand a, Operand b);  ///< of whether each is not 0
[[nodiscard]] Tensor logical_or(Operand a, Operand b);
[[nodiscard]] Tensor logical_xor(Operand a, Operand b);
[[nodiscard]] Tensor bitwise_and(Operand a, Operand b);
[[nodiscard]] Tensor bitwise_or(Operand a, Operand b);
[[nodiscard]] Tensor bitwise_xor(Operand a, Operand b);
[[nodiscard]] Tensor left_shift(Operand a, Operand b);
[[nodiscard]] Tensor right_shift(Operand a, Operand b);
[[nodiscard]] Tensor equal(Operand a, Operand b);
[[nodiscard]] Tensor not_equal(Operand a, Operand b);
[[nodiscard]] Tensor less(Operand a, Operand b);
[[nodiscard]] Tensor less_equal(Operand a, Operand b);
[[nodiscard]] Tensor greater(Operand a, Operand b);
[[nodiscard]] Tensor greater_equal(Operand a, Operand b);
/// `yes` where the condition (cast to bool) holds, else `no`.
[[nodiscard]] Tensor where(const Tensor& condition, Operand yes, Operand no);
/// min(max(x, low), high).
[[nodiscard]] Tensor clamp(const Tensor& x, Operand low, Operand high);
/// The same under NumPy's name.
[[nodiscard]] Tensor clip(const Tensor& x, Operand low, Operand high);
/// start + weight (end - start), exactly the ends at weights 0 and 1.
[[nodiscard]] Tensor lerp(Operand start, Operand end, Operand weight);

// Activations; integers become f32. Numbers are read at every launch, they never recompile.
enum class Gelu : uint8_t { Erf, Tanh };
[[nodiscard]] Tensor gelu(const Tensor& x, Gelu form = Gelu::Erf);  ///< x Phi(x), or by tanh
[[nodiscard]] Tensor relu6(const Tensor& x);                        ///< min(max(x, 0), 6)
[[nodiscard]] Tensor leaky_relu(Operand x, Operand slope = 0.01);
/// leaky_relu with a slope for each channel, axis 1 of x, or one for all. Throws ShapeError.
[[nodiscard]] Tensor prelu(const Tensor& x, const Tensor& weight);
[[nodiscard]] Tensor elu(Operand x, Operand alpha = 1.0);
[[nodiscard]] Tensor celu(Operand x, Operand alpha = 1.0);
[[nodiscard]] Tensor selu(const Tensor& x);
[[nodiscard]] Tensor silu(const Tensor& x);         ///< x sigmoid(x)
[[nodiscard]] Tensor mish(const Tensor& x);         ///< x tanh(softplus(x))
[[nodiscard]] Tensor softplus(const Tensor& x);     ///< log(1 + exp(x))
[[nodiscard]] Tensor softsign(const Tensor& x);     ///< x / (1 + |x|)
[[nodiscard]] Tensor hardsigmoid(const Tensor& x);  ///< relu6(x + 3) / 6
[[nodiscard]] Tensor hardswish(const Tensor& x);    ///< x hardsigmoid(x)
[[nodiscard]] Tensor hardtanh(const Tensor& x, Operand low = -1.0, Operand high = 1.0);
[[nodiscard]] Tensor logsigmoid(const Tensor& x);
[[nodiscard]] Tensor tanhshrink(const Tensor& x);  ///< x - tanh(x)
/// x above the bound, else the value.
[[nodiscard]] Tensor threshold(const Tensor& x, Operand bound, Operand value);
/// The first half of an axis times the sigmoid of the second. ShapeError for an odd extent.
[[nodiscard]] Tensor glu(const Tensor& x, int64_t axis = -1);

enum class KeepDims : uint8_t { No, Yes };

/// Axes of a reduction: all of them, one, or several; negative ones count from the end.
class AxisList {
 public:
  AxisList() = default;
  template <class T>
  requires std::is_integral_v<T> AxisList(T axis)
      : all_(false), axes_{static_cast<int64_t>(axis)} {}                      // NOLINT: implicit
  AxisList(std::initializer_list<int64_t> axes) : all_(false), axes_(axes) {}  // NOLINT
  AxisList(const std::vector<int64_t>& axes)                                   // NOLINT
      : all_(false), axes_(std::span<const int64_t>(axes)) {}
  /// As a bit mask. Throws IndexError naming axis and rank, Error when an axis occurs twice.
  [[nodiscard]] uint32_t mask(int rank) const;

 private:
  bool all_ = true;
  SmallVector<int64_t, kMaxDims> axes_;
};

// Reductions.
/// Bools and integers are summed in 64 bits. `dtype`: of x, before, and of the result, here and
/// below.
[[nodiscard]] Tensor sum(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No,
                         std::optional<DType> dtype = {});
[[nodiscard]] Tensor prod(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No,
                          std::optional<DType> dtype = {});
/// NaN if any is; throws ShapeError for an empty axis unless the result is empty too.
[[nodiscard]] Tensor max(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No);
[[nodiscard]] Tensor min(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No);
[[nodiscard]] Tensor mean(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No,
                          std::optional<DType> dtype = {});
/// sum((x - mean)^2) / (n - ddof), computed in two passes; std is its root.
[[nodiscard]] Tensor var(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No,
                         double ddof = 0);
[[nodiscard]] Tensor std(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No,
                         double ddof = 0);
[[nodiscard]] Tensor any(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No);
[[nodiscard]] Tensor all(const Tensor& x, const AxisList& axes = {}, KeepDims keep = KeepDims::No);
/// The first NaN, else the first largest, as i64; over the row-major order of several axes.
[[nodiscard]] Tensor argmax(const Tensor& x, const AxisList& axes = {},
                            KeepDims keep = KeepDims::No);
[[nodiscard]] Tensor argmin(const Tensor& x, const AxisList& axes = {},
                            KeepDims keep = KeepDims::No);
[[nodiscard]] Tensor logsumexp(const Tensor& x, const AxisList& axes = {},
                               KeepDims keep = KeepDims::No);

// Movement: no data moves.
/// One extent may be -1: whatever is left.
[[nodiscard]] Tensor reshape(const Tensor& x, std::span<const int64_t> extents);
[[nodiscard]] Tensor reshape(const Tensor& x, std::initializer_list<int64_t> extents);
[[nodiscard]] Tensor flatten(const Tensor& x);
/// Result axis i is axis order[i] of x.
[[nodiscard]] Tensor permute(const Tensor& x, std::span<const int64_t> order);
[[nodiscard]] Tensor permute(const Tensor& x, std::initializer_list<int64_t> order);
[[nodiscard]] Tensor transpose(const Tensor& x, int64_t a = -2, int64_t b = -1);
/// Drops axes of extent 1: the given ones (ShapeError if longer), or all there are.
[[nodiscard]] Tensor squeeze(const Tensor& x);
[[nodiscard]] Tensor squeeze(const Tensor& x, const AxisList& axes);
/// A new axis of extent 1 before position `axis` of the result.
[[nodiscard]] Tensor unsqueeze(const Tensor& x, int64_t axis);
[[nodiscard]] Tensor broadcast_to(const Tensor& x, const Shape& shape);
[[nodiscard]] Tensor flip(const Tensor& x, const AxisList& axes = {});
/// One axis, as NumPy's start:stop:step.
[[nodiscard]] Tensor slice(const Tensor& x, int64_t axis, Range range);
/// NumPy's basic indexing over the first axes; a position out of range throws IndexError.
[[nodiscard]] Tensor at(const Tensor& x, std::span<const Index> indices);
/// Zeros around: low[i] before and high[i] after axis i.
[[nodiscard]] Tensor pad(const Tensor& x, std::span<const int64_t> low,
                         std::span<const int64_t> high);
[[nodiscard]] Tensor concat(std::span<const Tensor> parts, int64_t axis = 0);
[[nodiscard]] Tensor concat(std::initializer_list<Tensor> parts, int64_t axis = 0);
/// Along a new axis.
[[nodiscard]] Tensor stack(std::span<const Tensor> parts, int64_t axis = 0);
[[nodiscard]] Tensor stack(std::initializer_list<Tensor> parts, int64_t axis = 0);
/// Equal parts along an axis. Throws ShapeError when they do not come out even.
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, int64_t parts, int64_t axis = 0);

// Products and indexing by data.
/// NumPy's matmul: vectors are rows on the left and columns on the right, leading axes broadcast.
/// Of bools: whether any pair is true.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);
/// x's entries along `axis` at integer indices: shape x[:axis] + indices + x[axis+1:]. Negative
/// indices count from the end; one out of range throws IndexError when a result is read.
[[nodiscard]] Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis = 0);
[[nodiscard]] Tensor take(const Tensor& x, const Tensor& indices, int64_t axis = 0);
/// 1 at each index along a new last axis, else 0; an index out of range gives zeros.
[[nodiscard]] Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype = DType::F32);

// Normalization.
/// (x - mean) / sqrt(variance + eps) * gamma + beta over `axes`; gamma and beta have x's extents
/// along those axes, and may be empty handles. `eps` never recompiles.
[[nodiscard]] Tensor layer_norm(const Tensor& x, const AxisList& axes = -1,
                                const Tensor& gamma = {}, const Tensor& beta = {},
                                Number eps = 1e-5);
/// x / sqrt(mean(x * x) + eps) * gamma over `axes`.
[[nodiscard]] Tensor rms_norm(const Tensor& x, const AxisList& axes = -1, const Tensor& gamma = {},
                              Number eps = 1e-5);

// Classification.
/// Over one axis, or over several as if they were one.
[[nodiscard]] Tensor softmax(const Tensor& x, const AxisList& axes = -1);
[[nodiscard]] Tensor log_softmax(const Tensor& x, const AxisList& axes = -1);
enum class LossReduction : uint8_t { Mean, Sum, None };
/// -log_softmax(logits) at each row's label: logits (.., C), integer labels (..); their mean, their
/// sum, or all of them. A label out of range throws IndexError when a result is read.
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, const Tensor& labels,
                                   LossReduction reduction = LossReduction::Mean);

}  // namespace reprise
