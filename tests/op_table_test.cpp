// The op table: every definition is complete, every sample is accepted, every mistake is named.
#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "ir/builder.h"
#include "ir/error.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TensorType infer(Op op, std::vector<TensorType> operands, const Attrs& attrs = {},
                 const TensorType* result = nullptr) {
  return op_def(op).infer({.op = op, .operands = operands, .attrs = attrs, .result = result});
}

TEST(OpTable, DefinitionsAreComplete) {
  std::set<std::string_view> names;
  for (int number = 0; number < num_ops(); ++number) {
    const OpDef& def = op_def(static_cast<Op>(number));
    if (def.name.starts_with("test_")) continue;  // registered by another test here
    SCOPED_TRACE(def.name);
    EXPECT_TRUE(names.insert(def.name).second) << "two ops of one name";
    EXPECT_GT(def.doc.size(), 10u);
    EXPECT_EQ(def.doc.back(), '.');
    EXPECT_NE(def.infer, nullptr);
    if (def.kind != OpKind::Scatter) {  // one without a step replaces
      const bool pairs = def.name == "real" || def.name == "imag" || def.name == "complex";
      EXPECT_EQ(def.lower != nullptr,
                !pairs && (def.kind == OpKind::Elementwise || def.kind == OpKind::Scan));
    }
    if (def.kind != OpKind::Contraction) {
      EXPECT_EQ(def.compose != nullptr, def.kind == OpKind::Composite);
    }
    if (def.kind == OpKind::Composite) {
      EXPECT_EQ(def.gradient, nullptr) << "a composite's gradient comes from its parts";
    }
    const bool from_outside = def.name == "input" || def.name == "parameter";
    if (!from_outside && def.name != "constant") {
      ASSERT_NE(def.samples, nullptr);
      EXPECT_FALSE(def.samples().empty());
    }
    Op found;
    EXPECT_EQ(find_op(def.name, &found), &def);
    EXPECT_EQ(static_cast<int>(found), number);
  }
  EXPECT_EQ(find_op("no_such_op"), nullptr);
}

TEST(OpTable, SamplesAreAcceptedAndRecord) {
  for (int number = 0; number < num_ops(); ++number) {
    const Op op = static_cast<Op>(number);
    const OpDef& def = op_def(op);
    if (!def.samples) continue;
    for (const Sample& sample : def.samples()) {
      SCOPED_TRACE(def.name);
      Graph graph;
      GraphBuilder b(graph);
      std::vector<Value> operands;
      for (const SampleOperand& operand : sample.operands) {
        operands.push_back(b.input(operand.type, static_cast<uint32_t>(operands.size())));
      }
      b.output(b.record(op, operands, sample.attrs, &sample.result));
      EXPECT_NO_THROW(verify(graph));
    }
  }
}

/// Half types compute and round once: the lowering of every op must take every accepted dtype.
TEST(OpTable, LoweringsTakeEveryAcceptedDtype) {
  for (int number = 0; number < num_ops(); ++number) {
    const Op op = static_cast<Op>(number);
    const OpDef& def = op_def(op);
    if (def.kind != OpKind::Elementwise || def.lower == nullptr) continue;
    const Sample sample = def.samples().front();
    for (int d = 0; d < kNumDTypes; ++d) {
      const DType dtype = static_cast<DType>(d);
      if (is_pair(dtype)) continue;  // lowered by their parts
      std::vector<TensorType> types;
      for (const SampleOperand& operand : sample.operands) {
        const bool varies = operand.type.dtype == DType::F32 || operand.type.dtype == DType::I32;
        types.push_back({varies ? dtype : operand.type.dtype, {}});
      }
      OpContext ctx{.op = op, .operands = types, .attrs = sample.attrs};
      TensorType result;
      try {
        result = def.infer(ctx);
      } catch (const Error&) {
        continue;
      }
      SCOPED_TRACE(str(def.name, " of ", dtype));
      ctx.result = &result;
      Body body;
      ScalarBuilder b(body);
      std::vector<ScalarId> operands;
      for (const TensorType& type : types) {
        operands.push_back(b.param(static_cast<uint32_t>(operands.size()), type.dtype));
      }
      EXPECT_EQ(b.dtype(def.lower(b, operands, ctx)), result.dtype);
    }
  }
}

TEST(OpTable, RegistersOpsWhileTheProgramRuns) {
  static constexpr OpDef def{
      .name = "test_double",
      .doc = "Twice x.",
      .infer = [](const OpContext& ctx) { return ctx.operands[0]; },
      .lower = [](ScalarBuilder& b, std::span<const ScalarId> x,
                  const OpContext&) { return b.add(x[0], x[0]); },
  };
  const int before = num_ops();
  const Op op = register_op(def);
  EXPECT_EQ(num_ops(), before + 1);
  EXPECT_EQ(&op_def(op), &def);
  EXPECT_EQ(find_op("test_double"), &def);
  EXPECT_THAT([] { return register_op(def); },
              ThrowsMessage<Error>("register_op: the op 'test_double' exists already"));

  Graph graph;
  GraphBuilder b(graph);
  const Value x = b.input({DType::F32, {3}}, 0);
  EXPECT_EQ(b.type(b.unary(op, x)), (TensorType{DType::F32, {3}}));
}

TEST(OpTable, IsReadWhileOpsAreRegistered) {
  static std::vector<std::string> names;
  static std::vector<OpDef> defs;
  for (int i = 0; i < 100; ++i) names.push_back(str("test_many_", i));
  for (const std::string& name : names) {
    defs.push_back(op_def(Op::Negative));
    defs.back().name = name;
  }
  std::thread reader([] {
    for (int i = 0; i < 2000; ++i) EXPECT_NE(find_op("normal"), nullptr);
  });
  for (const OpDef& def : defs) (void)register_op(def);
  reader.join();
  EXPECT_NE(find_op("test_many_99"), nullptr);
}

TEST(InferErrors, ElementwiseNameBothTypes) {
  const TensorType f{DType::F32, {2, 3}}, i{DType::I32, {3}}, b{DType::Bool, {3}};
  EXPECT_THAT(([&] {
                return infer(Op::Add, {f, i});
              }),
              ThrowsMessage<DTypeError>("add: operands have different dtypes, f32[2,3] and i32[3]; "
                                        "cast one of them"));
  EXPECT_THAT(([&] {
                return infer(Op::Multiply, {f, {DType::F32, {4}}});
              }),
              ThrowsMessage<ShapeError>(
                  "multiply: shapes [2,3] and [4] do not broadcast (3 vs 4 at axis 1)"));
  EXPECT_THAT(([&] { return infer(Op::Sqrt, {i}); }),
              ThrowsMessage<DTypeError>("sqrt: needs a float dtype, got i32[3]"));
  EXPECT_THAT(([&] {
                return infer(Op::Divide, {i, i});
              }),
              ThrowsMessage<DTypeError>("divide: needs a float dtype, got i32[3]"));
  EXPECT_THAT(
      ([&] {
        return infer(Op::Subtract, {b, b});
      }),
      ThrowsMessage<DTypeError>("subtract: needs an integer, float or complex dtype, got bool[3]"));
  EXPECT_THAT(
      ([&] {
        return infer(Op::BitwiseAnd, {f, f});
      }),
      ThrowsMessage<DTypeError>("bitwise_and: needs bool or an integer dtype, got f32[2,3]"));
  EXPECT_THAT(([&] {
                return infer(Op::LeftShift, {b, b});
              }),
              ThrowsMessage<DTypeError>("left_shift: needs an integer dtype, got bool[3]"));
  EXPECT_THAT(([&] {
                return infer(Op::Where, {f, f, f});
              }),
              ThrowsMessage<DTypeError>("where: the condition must be bool, got f32[2,3]"));
  EXPECT_THAT(([&] {
                return infer(Op::Exp, {{DType::C64, {2}}});
              }),
              ThrowsMessage<DTypeError>("exp: needs a float dtype, got c64[2]"));
  EXPECT_THAT(([&] {
                return infer(Op::Add, {{DType::CI8, {2}}, {DType::CI8, {2}}});
              }),
              ThrowsMessage<DTypeError>(
                  "add: needs bool, an integer, float or complex dtype, got ci8[2]; complex "
                  "integers are stored only, cast them to c64 or c128"));
}

TEST(InferErrors, ReductionsNameAxisAndRank) {
  const TensorType x{DType::F32, {2, 0, 3}};
  EXPECT_THAT(([&] { return infer(Op::Sum, {x}, Attrs().add_int(8).add_int(0)); }),
              ThrowsMessage<IndexError>("sum: axis 3 is out of range for [2,0,3], rank 3"));
  EXPECT_THAT(([&] { return infer(Op::Max, {x}, Attrs().add_int(2).add_int(0)); }),
              ThrowsMessage<ShapeError>("max: no element to choose from, [2,0,3] folds to [2,3]"));
  EXPECT_THROW((void)infer(Op::ArgMin, {x}, Attrs().add_int(7).add_int(0)), ShapeError);
  EXPECT_EQ(infer(Op::Max, {x}, Attrs().add_int(1).add_int(0)).shape, (Shape{0, 3}));
  EXPECT_EQ(infer(Op::Sum, {x}, Attrs().add_int(2).add_int(1)).shape, (Shape{2, 1, 3}));
  EXPECT_EQ(infer(Op::Sum, {{DType::U8, {3}}}, Attrs().add_int(1).add_int(0)).dtype, DType::U64);
  EXPECT_EQ(infer(Op::ArgMax, {{DType::F32, {3}}}, Attrs().add_int(1).add_int(0)).dtype,
            DType::I64);
}

TEST(InferErrors, MovementNamesBothShapes) {
  const TensorType x{DType::F32, {2, 3}};
  const TensorType seven{DType::F32, {7}}, half{DType::F16, {6}};
  EXPECT_THAT(([&] { return infer(Op::Reshape, {x}, {}, &seven); }),
              ThrowsMessage<ShapeError>("reshape: [2,3] has 6 elements, [7] has 7"));
  EXPECT_THAT(
      ([&] { return infer(Op::Reshape, {x}, {}, &half); }),
      ThrowsMessage<DTypeError>("reshape: keeps the dtype, but f32[2,3] was to become f16[6]"));
  EXPECT_THAT(([&] { return infer(Op::Reshape, {x}); }),
              ThrowsMessage<ShapeError>("reshape: needs the type of its result"));
  EXPECT_THAT(([&] { return infer(Op::BroadcastTo, {x}, {}, &seven); }),
              ThrowsMessage<ShapeError>("broadcast_to: [2,3] does not broadcast to [7]"));
  const int64_t twice[] = {1, 1}, one[] = {0}, outside[] = {0, 2};
  EXPECT_THAT(([&] { return infer(Op::Permute, {x}, Attrs().add_ints(twice)); }),
              ThrowsMessage<ShapeError>("permute: axis 1 of [2,3] twice"));
  EXPECT_THAT(([&] { return infer(Op::Permute, {x}, Attrs().add_ints(one)); }),
              ThrowsMessage<ShapeError>("permute: an order of 1 axes for [2,3], rank 2"));
  EXPECT_THAT(([&] { return infer(Op::Permute, {x}, Attrs().add_ints(outside)); }),
              ThrowsMessage<IndexError>("permute: axis 2 is out of range for [2,3], rank 2"));
  const int64_t starts[] = {0, 1}, steps[] = {1, 2}, still[] = {1, 0}, negative[] = {0, -1};
  const TensorType part{DType::F32, {2, 2}};
  EXPECT_THAT(
      ([&] { return infer(Op::Slice, {x}, Attrs().add_ints(starts).add_ints(steps), &part); }),
      ThrowsMessage<IndexError>(
          "slice: 2 elements from 1 by step 2 leave extent 3 at axis 1 of [2,3]"));
  EXPECT_THAT(
      ([&] { return infer(Op::Slice, {x}, Attrs().add_ints(starts).add_ints(still), &part); }),
      ThrowsMessage<ShapeError>("slice: step 0 at axis 1 of [2,3]"));
  EXPECT_THAT(
      ([&] { return infer(Op::Pad, {x}, Attrs().add_ints(starts).add_ints(negative)); }),
      ThrowsMessage<ShapeError>("pad: negative width at axis 1 of [2,3]: 1 below, -1 above"));
}

TEST(InferErrors, MatmulNamesTheExtentsThatDiffer) {
  const auto matmul = [](Shape a, Shape b) {
    return infer(Op::Matmul, {{DType::F32, a}, {DType::F32, b}});
  };
  EXPECT_THAT(([&] {
                return matmul({2, 3}, {4, 5});
              }),
              ThrowsMessage<ShapeError>("matmul: inner extents differ: [2,3] x [4,5] (3 vs 4)"));
  EXPECT_THAT(([&] {
                return matmul({3}, {3, 4});
              }),
              ThrowsMessage<ShapeError>("matmul: operands need rank 2 or more, got [3] x [3,4]"));
  EXPECT_THAT(([&] {
                return matmul({2, 4, 6}, {3, 6, 5});
              }),
              ThrowsMessage<ShapeError>(
                  "matmul: batch extents do not broadcast: [2,4,6] x [3,6,5] (2 vs 3)"));
  EXPECT_EQ(matmul({2, 1, 4, 6}, {3, 6, 5}).shape, (Shape{2, 3, 4, 5}));
  EXPECT_EQ(matmul({4, 0}, {0, 4}).shape, (Shape{4, 4}));
  EXPECT_THROW((void)infer(Op::Matmul, {{DType::Bool, {2, 2}}, {DType::Bool, {2, 2}}}), DTypeError);
}

TEST(InferErrors, IndexingNamesTheAxis) {
  const TensorType x{DType::F32, {5, 0}}, indices{DType::I64, {2}};
  EXPECT_THAT(([&] {
                return infer(Op::Gather, {x, indices}, Attrs().add_int(2));
              }),
              ThrowsMessage<IndexError>("gather: axis 2 is out of range for [5,0], rank 2"));
  EXPECT_THAT(([&] {
                return infer(Op::Gather, {x, indices}, Attrs().add_int(1));
              }),
              ThrowsMessage<IndexError>("gather: axis 1 of [5,0] has no element for indices [2]"));
  EXPECT_THAT(([&] {
                return infer(Op::Gather, {x, {DType::F32, {2}}}, Attrs().add_int(0));
              }),
              ThrowsMessage<DTypeError>("gather: needs an integer dtype, got f32[2]"));
  EXPECT_THAT(([&] {
                return infer(Op::Gather,
                             {{DType::F32, {1, 1, 1, 1, 1, 1, 1, 1}}, {DType::I64, {1, 1}}},
                             Attrs().add_int(0));
              }),
              ThrowsMessage<ShapeError>(HasSubstr("rank 9 exceeds kMaxDims=8")));
}

TEST(InferErrors, CompositesNameBothValues) {
  const TensorType x{DType::F32, {2, 3}};
  EXPECT_THAT(([&] {
                return infer(Op::Concat, {x, {DType::F32, {2, 4}}}, Attrs().add_int(0));
              }),
              ThrowsMessage<ShapeError>("concat: [2,3] and [2,4] do not join along axis 0"));
  EXPECT_THAT(([&] { return infer(Op::Softmax, {x}, Attrs().add_int(2)); }),
              ThrowsMessage<IndexError>("softmax: axis 2 is out of range for [2,3], rank 2"));
  EXPECT_THAT(([&] {
                return infer(Op::CrossEntropy, {x, {DType::I64, {3}}}, Attrs().add_int(0));
              }),
              ThrowsMessage<ShapeError>("cross_entropy: logits [..., C] with labels [...], got "
                                        "f32[2,3] and i64[3]"));
  EXPECT_THAT(
      ([&] {
        return infer(Op::OneHot, {{DType::I32, {3}}}, Attrs().add_int(-1).add_type(DType::F32));
      }),
      ThrowsMessage<ShapeError>("one_hot: depth -1 is negative"));
  const TensorType integers{DType::I32, {3}};
  EXPECT_THAT(([&] {
                return infer(Op::Uniform, {{DType::U64, {}}, {DType::U64, {}}}, {}, &integers);
              }),
              ThrowsMessage<DTypeError>("uniform: gives a float dtype, not i32[3]"));
  EXPECT_THAT(([&] {
                return infer(Op::Normal, {{DType::I64, {}}, {DType::U64, {}}}, {}, &x);
              }),
              ThrowsMessage<DTypeError>("normal: key and counter are u64[], got i64[]"));
}

}  // namespace
}  // namespace reprise
