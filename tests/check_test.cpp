// REPRISE_CHECK: right plans pass, a wrong one is traced to its first wrong node.
#include "runtime/check.h"

#include <filesystem>
#include <regex>

#include "expect_tensor.h"
#include "ir/npy.h"

namespace reprise {
namespace {

class Checked : public testing::Test {
 protected:
  Checked() { set_checking_plans(true); }
  ~Checked() override { set_checking_plans(false); }
};

TEST_F(Checked, ATrainingStepAgreesWithItself) {
  const Tensor w = randn({7, 5}).realize();
  const Tensor x = randn({11, 7}).realize();
  const Tensor labels = randint({11}, 0, 5).realize();
  optim::Adam optimizer(std::vector<Tensor>{w}, {.lr = 1e-2});
  Frozen step;
  for (int i = 0; i < 3; ++i) {
    const Tape tape;
    const Tensor loss = cross_entropy(matmul(x, w), labels);
    optimizer.step(tape.gradient(loss, std::vector<Tensor>{w}));
    step = tape.freeze({x}, {loss});
    tape.realize(loss);
  }
  EXPECT_LT(step.replay(x)[0].item<float>(), 10.f);
  expect_values(Tensor::of({3.f, 1.f, 2.f}).at({Range{.step = -1}}) * 2,
                std::vector<float>{4, 2, 6});
}

/// An op that comes out wrong when it is compiled at the wrong time.
int calls = 0;
int right_from = 0, right_to = 0;  // calls of `lower` that make the op what it says

OpDef wrong_sometimes() {
  OpDef def;
  def.name = "wrong_sometimes";
  def.doc = "Doubles, or triples.";
  def.infer = [](const OpContext& ctx) { return ctx.operands[0]; };
  def.lower = [](ScalarBuilder& b, std::span<const ScalarId> x, const OpContext&) {
    const bool right = calls >= right_from && calls < right_to;
    ++calls;
    const ScalarId twice = b.binary(ScalarOp::Add, x[0], x[0]);
    return right ? twice : b.binary(ScalarOp::Add, twice, x[0]);
  };
  return def;
}

TEST_F(Checked, NamesTheFirstWrongNodeAndHowToSeeItAgain) {
  static const OpDef def = wrong_sometimes();
  static const Op op = register_op(def);
  const auto compute = [&](const Tensor& x) {
    Tensor y = x + 1;
    const TensorId ids[] = {y.id()};
    y = Tensor(Runtime::get().record(op, ids));
    y = sqrt(y * 3);
    return y.to_vector<float>();
  };
  // How often one compilation asks: it is the same each time.
  set_checking_plans(false);
  right_to = INT_MAX;
  EXPECT_EQ(compute(Tensor::of({1.f, 2.f}))[1], std::sqrt(18.f));
  const int per_compilation = calls;
  set_checking_plans(true);
  // Fused it is wrong, then right alone, then wrong again together with what it needs.
  right_from = calls + per_compilation;
  right_to = calls + 2 * per_compilation;
  std::string text;
  try {
    // Another shape: nothing of it is compiled yet.
    (void)compute(Tensor::of({1.f, 2.f, 4.f, 8.f}));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InternalError& error) {
    text = error.what();
  }
  EXPECT_NE(text.find("element 0 of f32[4] is 6 (0x40c00000) fused, 4 (0x40800000) op by op: "
                      "wrong_sometimes at %"),
            std::string::npos)
      << text;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(
      text, match,
      std::regex("reprise run (\\S+)/graph.txt --input input0=(\\S+) .*--compare ops")))
      << text;
  EXPECT_EQ(read_npy(match[2]).type, (TensorType{DType::F32, {4}}));
  std::filesystem::remove_all(match[1].str());
}

}  // namespace
}  // namespace reprise
