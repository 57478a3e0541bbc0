// Einsum and what is a case of it, norms: values, equations that are none, gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "expect_tensor.h"

namespace reprise {
namespace {

using I = std::vector<int64_t>;
using F = std::vector<float>;

Tensor counted(const Shape& shape) {
  return reshape(arange(shape.numel()), std::span<const int64_t>(shape.begin(), shape.end()));
}

TEST(Einsum, OfOneOperand) {
  const Tensor x = counted({2, 3});
  expect_tensor(einsum("ij->ji", {x}), {3, 2}, I{0, 3, 1, 4, 2, 5});
  expect_tensor(einsum("ba", {x}), {3, 2}, I{0, 3, 1, 4, 2, 5});  // alphabetical
  expect_tensor(einsum("ij->", {x}), {}, I{15});
  expect_tensor(einsum("ij->j", {x}), {3}, I{3, 5, 7});
  const Tensor square = counted({3, 3});
  expect_tensor(einsum("ii", {square}), {}, I{12});
  expect_tensor(einsum("ii->i", {square}), {3}, I{0, 4, 8});
  expect_tensor(einsum("iji->j", {counted({2, 2, 2})}), {2}, I{5, 9});
  expect_tensor(einsum("iii->i", {counted({2, 2, 2})}), {2}, I{0, 7});
  expect_tensor(einsum("...ij->...ji", {counted({1, 2, 3})}), {1, 3, 2}, I{0, 3, 1, 4, 2, 5});
}

TEST(Einsum, OfTwoAndMore) {
  const Tensor a = counted({2, 3}), b = counted({3, 2}), v = counted({3});
  expect_tensor(einsum("ij,jk->ik", {a, b}), {2, 2}, I{10, 13, 28, 40});
  expect_tensor(einsum("ij , jk", {a, b}), {2, 2}, I{10, 13, 28, 40});
  expect_tensor(einsum("i,i->", {v, v}), {}, I{5});
  expect_tensor(einsum("i,j->ij", {v, v}), {3, 3}, I{0, 0, 0, 0, 1, 2, 0, 2, 4});
  expect_tensor(einsum("ij,ij->ij", {a, a}), {2, 3}, I{0, 1, 4, 9, 16, 25});
  expect_tensor(einsum("ij,j->i", {a, v}), {2}, I{5, 14});
  expect_tensor(einsum("ij,kl->", {a, b}), {}, I{225});
  const Tensor batch = counted({2, 2, 3});
  expect_tensor(einsum("bij,bkj->bik", {batch, batch}), {2, 2, 2},
                I{5, 14, 14, 50, 149, 212, 212, 302});
  expect_tensor(einsum("...ij,...jk->...ik", {batch, b}), {2, 2, 2},
                I{10, 13, 28, 40, 46, 67, 64, 94});
  expect_tensor(einsum("ij,jk,kl->il", {a, b, a}), {2, 3}, I{39, 62, 85, 120, 188, 256});
  // An extent of 1 stretches; i32 stays i32.
  expect_tensor(einsum("ij,ij->i", {a, counted({1, 3})}), {2}, I{5, 14});
  EXPECT_EQ(einsum("i,i->", {cast(v, DType::I32), cast(v, DType::I32)}).dtype(), DType::I32);
}

TEST(Einsum, RefusesWhatIsNoEquation) {
  const Tensor a = counted({2, 3});
  const auto refuses = [&](std::string_view equation, std::initializer_list<const char*> texts) {
    expect_error<Error>([&] { return einsum(equation, {a, a}); }, texts);
  };
  refuses("ij", {"1 operands", "2 were given"});
  refuses("ij,jk->ik", {"extent 2", "3"});
  refuses("ijk,ij->", {"rank 2"});
  refuses("i,ij->", {"rank 2"});
  refuses("ij,ij->k", {"'k'"});
  refuses("ij,ij->ii", {"twice"});
  refuses("i1,ij->", {"'1'"});
  refuses("i.j,ij->", {"points"});
}

TEST(Einsum, Differentiates) {
  const Tensor a = Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  const Tape tape;
  const Tensor y = einsum("ij,kj->", {a, a});  // the square of the column sums, summed
  expect_tensor(tape.gradient(y, a), {2, 2}, F{8, 12, 8, 12});
}

TEST(Contractions, NamedCases) {
  const Tensor a = counted({2, 3}), b = counted({3, 4});
  EXPECT_EQ(tensordot(a, b, 1).shape(), (Shape{2, 4}));
  expect_tensor(tensordot(a, a, 2), {}, I{55});
  expect_tensor(tensordot(a, a, 0), {2, 3, 2, 3},
                einsum("ij,kl->ijkl", {a, a}).to_vector<int64_t>());
  const int64_t first[] = {0}, second[] = {1};
  EXPECT_EQ(tensordot(b, a, first, second).shape(), (Shape{4, 2}));
  expect_error<ShapeError>([&] { return tensordot(a, b, 2); }, {"[2,3]", "[3,4]"});
  expect_tensor(dot(counted({3}), counted({3})), {}, I{5});
  expect_error<ShapeError>([&] { return dot(a, a); }, {"rank 1"});
  expect_error<ShapeError>([&] { return dot(counted({3}), counted({4})); }, {"i64[3]", "i64[4]"});
  expect_tensor(vdot(a, a), {}, I{55});
  expect_error<ShapeError>([&] { return vdot(a, b); }, {"vdot", "[2,3]", "[3,4]"});
  expect_tensor(vecdot(a, a), {2}, I{5, 50});
  expect_tensor(vecdot(a, counted({2, 1}), 0), {3}, I{3, 4, 5});
  expect_error<ShapeError>([&] { return vecdot(a, counted({2, 1})); }, {"[2,3]", "[2,1]"});
  expect_tensor(outer(counted({2}), counted({3})), {2, 3}, I{0, 0, 0, 0, 1, 2});
  expect_tensor(kron(counted({2}), counted({2, 2})), {2, 4}, I{0, 0, 0, 1, 0, 0, 2, 3});
  const Tensor x = Tensor::of({1.f, 0.f, 0.f}), y = Tensor::of({0.f, 1.f, 0.f});
  expect_values(cross(x, y), F{0, 0, 1});
  EXPECT_EQ(cross(ones({2, 3}), ones({4, 3, 2}), 1).shape(), (Shape{4, 3, 2}));
  expect_error<ShapeError>([&] { return cross(a, b); }, {"extent 3"});
  expect_tensor(trace(counted({3, 3}), 1), {}, I{6});
}

TEST(Contractions, Norms) {
  const Tensor x = Tensor::of({3.f, -4.f, 0.f, 0.f}, {2, 2});
  expect_tensor(norm(x), {}, F{5});
  expect_tensor(norm(x, 1, 1), {2}, F{7, 0});
  expect_tensor(norm(x, INFINITY, 1), {2}, F{4, 0});
  expect_tensor(norm(x, -INFINITY, 1), {2}, F{3, 0});
  expect_tensor(norm(x, 0), {}, F{2});
  EXPECT_NEAR(norm(x, 3).item<float>(), std::cbrt(91.f), 1e-5f);
  expect_tensor(matrix_norm(x), {}, F{5});
  expect_tensor(matrix_norm(x, MatrixNorm::One), {}, F{4});
  expect_tensor(matrix_norm(x, MatrixNorm::Infinity), {}, F{7});
  expect_tensor(count_nonzero(x, 0), {2}, I{1, 1});
  // Squares of f16 do not overflow on the way.
  EXPECT_EQ(norm(full({4}, 300., DType::F16)).item<float>(), 600.f);
  EXPECT_NEAR(norm(full({2}, 100., DType::F16), 3).item<float>(), 126, 0.1f);
  const Tensor large = full({1}, 300., DType::F16), small = full({1}, 0.001, DType::F16);
  EXPECT_NEAR(einsum("i,i,i->i", {large, large, small}).item<float>(), 90, 0.2f);
  const Tape tape;
  const Tensor rows = norm(x, 2, 1);
  const F gradient = tape.gradient(sum(rows), x).to_vector<float>();
  EXPECT_NEAR(gradient[0], 0.6f, 1e-6f);
  EXPECT_EQ(gradient[2], 0.f) << "the gradient of the norm of zeros";
  for (const double p : {0.5, 1.5, 3.}) {
    const F other = tape.gradient(sum(norm(x, p, 1)), x).to_vector<float>();
    for (const float g : other) EXPECT_TRUE(std::isfinite(g)) << p;
    EXPECT_EQ(other[2], 0.f) << p;
  }
}

}  // namespace
}  // namespace reprise
