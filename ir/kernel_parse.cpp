// The textual form of kernels, read.
#include "ir/error.h"
#include "ir/kernel.h"
#include "ir/text.h"

namespace reprise {
namespace {

constexpr std::array kBufferKinds = {BufferKind::Input, BufferKind::Output, BufferKind::Scratch,
                                     BufferKind::Local};
constexpr std::array kReduceKinds = {ReduceKind::Sum, ReduceKind::Prod,   ReduceKind::Min,
                                     ReduceKind::Max, ReduceKind::ArgMin, ReduceKind::ArgMax,
                                     ReduceKind::Dot};

class KernelParser {
 public:
  explicit KernelParser(std::string_view text) : lexer_(text) {}

  Kernel parse() {
    lexer_.expect("kernel");
    lexer_.expect("{");
    parse_buffers();
    while (lexer_.accept("param")) {
      if (lexer_.expect_id("p") != kernel_.params.size()) {
        lexer_.fail(str("expected p", kernel_.params.size(), ", the next parameter"));
      }
      lexer_.expect(":");
      kernel_.params.push_back(lexer_.dtype());
    }
    while (lexer_.accept("phase")) kernel_.phases.push_back(phase());
    lexer_.expect("}");
    lexer_.expect_end();
    return std::move(kernel_);
  }

 private:
  void parse_buffers() {
    for (bool found = true; found;) {
      found = false;
      for (const BufferKind kind : kBufferKinds) {
        if (!lexer_.accept(name(kind))) continue;
        found = true;
        if (lexer_.expect_id("b") != kernel_.buffers.size()) {
          lexer_.fail(str("expected b", kernel_.buffers.size(), ", the next buffer"));
        }
        Buffer buffer{.kind = kind};
        lexer_.expect(":");
        buffer.dtype = lexer_.dtype();
        lexer_.expect("[");
        buffer.extent = lexer_.integer();
        lexer_.expect("]");
        kernel_.buffers.push_back(buffer);
        break;
      }
    }
  }

  Phase phase() {
    Phase phase;
    lexer_.expect("{");
    while (!lexer_.accept("}")) {
      lexer_.expect("part");
      lexer_.expect("grid");
      Part part;
      part.grid = lexer_.integers();
      lexer_.expect("{");
      while (!lexer_.accept("}")) part.stages.push_back(stage(part.grid.size()));
      phase.parts.push_back(std::move(part));
    }
    return phase;
  }

  Stage stage(size_t grid) {
    Stage stage;
    if (lexer_.accept("contraction")) {
      stage.kind = StageKind::Contraction;
    } else if (lexer_.accept("sequence")) {
      stage.kind = StageKind::Sequence;
    } else if (!lexer_.accept("loop")) {
      lexer_.fail_expected("'loop', 'contraction', 'sequence' or '}'");
    }
    lexer_.expect("parallel");
    stage.parallel = lexer_.integers();
    lexer_.expect("reduce");
    stage.reduce = lexer_.integers();
    grid_ = grid;
    parallel_ = stage.parallel.size();
    reduce_ = stage.reduce.size();
    lexer_.expect("{");
    stage.body = body();
    while (lexer_.accept("reduce")) stage.reductions.push_back(reduction());
    lexer_.expect("}");
    if (lexer_.accept("post")) {
      reduce_ = 0;
      lexer_.expect("{");
      stage.post = body();
      lexer_.expect("}");
    }
    return stage;
  }

  Reduction reduction() {
    Reduction reduction;
    const std::string_view word = lexer_.identifier("a reduction");
    bool found = false;
    for (const ReduceKind kind : kReduceKinds) {
      if (name(kind) != word) continue;
      reduction.kind = kind;
      found = true;
    }
    if (!found) lexer_.fail(str("'", word, "' is no reduction"));
    reduction.value = ScalarId{lexer_.expect_id("%")};
    if (lexer_.accept(",")) reduction.value2 = ScalarId{lexer_.expect_id("%")};
    lexer_.expect(":");
    reduction.dtype = lexer_.dtype();
    return reduction;
  }

  Body body() {
    Body body;
    for (;;) {
      if (lexer_.accept("store")) {
        store(body);
      } else if (const std::optional<uint32_t> id = lexer_.accept_id("%")) {
        if (*id != body.instrs.size()) {
          lexer_.fail(str("expected %", body.instrs.size(), ", the position of the instruction"));
        }
        lexer_.expect("=");
        instr(body);
      } else {
        return body;
      }
    }
  }

  void store(Body& body) {
    Instr instr{.op = ScalarOp::Store, .access = access(body)};
    lexer_.expect(",");
    const uint32_t value = lexer_.expect_id("%");
    if (value >= body.instrs.size()) lexer_.fail(str("%", value, " is not defined before its use"));
    instr.args[0] = ScalarId{value};
    instr.dtype = body[instr.args[0]].dtype;
    if (lexer_.accept("where")) instr.args[1] = ScalarId{lexer_.expect_id("%")};
    body.instrs.push_back(instr);
  }

  void instr(Body& body) {
    const std::string_view word = lexer_.identifier("an operation");
    const std::optional<ScalarOp> op = parse_scalar_op(word);
    if (!op || *op == ScalarOp::Store) lexer_.fail(str("'", word, "' is no scalar operation"));
    Instr instr{.op = *op};
    switch (*op) {
      case ScalarOp::Const:
        return constant(body, instr);
      case ScalarOp::Param:
        instr.bits = lexer_.expect_id("p");
        break;
      case ScalarOp::Reduced:
        instr.bits = static_cast<uint64_t>(lexer_.integer());
        break;
      case ScalarOp::Index:
        instr.dtype = DType::I64;
        instr.access = static_cast<uint32_t>(body.affines.size());
        body.affines.push_back(affine(nullptr));
        body.instrs.push_back(instr);
        return;
      case ScalarOp::Load:
        instr.access = access(body);
        if (lexer_.accept("where")) instr.args[0] = ScalarId{lexer_.expect_id("%")};
        break;
      case ScalarOp::CheckIndex:
        instr.args[0] = ScalarId{lexer_.expect_id("%")};
        lexer_.expect("below");
        instr.bits = static_cast<uint64_t>(lexer_.integer());
        break;
      default:
        for (int a = 0; a < arity(*op); ++a) {
          if (a > 0) lexer_.expect(",");
          instr.args[a] = ScalarId{lexer_.expect_id("%")};
        }
    }
    lexer_.expect(":");
    instr.dtype = lexer_.dtype();
    body.instrs.push_back(instr);
  }

  /// The value's text depends on the dtype that follows it, so the dtype is looked for first.
  void constant(Body& body, Instr instr) {
    const Lexer before = lexer_;
    lexer_.skip_number();
    lexer_.expect(":");
    instr.dtype = lexer_.dtype();
    const Lexer after = lexer_;
    lexer_ = before;
    instr.bits = lexer_.element(instr.dtype);
    lexer_ = after;
    body.instrs.push_back(instr);
  }

  uint32_t access(Body& body) {
    Access access;
    access.buffer = BufferId{lexer_.expect_id("b")};
    lexer_.expect("[");
    access.index = affine(&access.dynamic);
    lexer_.expect("]");
    body.accesses.push_back(std::move(access));
    return static_cast<uint32_t>(body.accesses.size() - 1);
  }

  /// Terms `g0*4`, `i1`, `7`, and where `dynamic` is given one `%5`, joined by + and -.
  Affine affine(ScalarId* dynamic) {
    Affine affine;
    affine.coefficients.assign(grid_ + parallel_ + reduce_, 0);
    bool negative = lexer_.accept("-");
    for (;;) {
      const std::optional<size_t> variable = accept_variable();
      if (variable) {
        const int64_t c = lexer_.accept("*") ? term(negative) : negative ? -1 : 1;
        affine.coefficients[*variable] += c;
      } else if (dynamic != nullptr && !negative && lexer_.peek_id("%")) {
        if (dynamic->valid()) lexer_.fail_expected("only one computed offset");
        *dynamic = ScalarId{lexer_.expect_id("%")};
      } else {
        affine.offset += term(negative);
      }
      if (lexer_.accept("+")) {
        negative = false;
      } else if (lexer_.accept("-")) {
        negative = true;
      } else {
        return affine;
      }
    }
  }

  int64_t term(bool negative) {
    if (negative && lexer_.accept("9223372036854775808")) return INT64_MIN;
    const int64_t value = lexer_.integer("a variable or an integer");
    return negative ? -value : value;
  }

  std::optional<size_t> accept_variable() {
    const auto in_scope = [&](std::string_view prefix, size_t first,
                              size_t count) -> std::optional<size_t> {
      const std::optional<uint32_t> index = lexer_.accept_id(prefix);
      if (!index) return std::nullopt;
      if (*index >= count) lexer_.fail(str(prefix, *index, " is not in scope here"));
      return first + *index;
    };
    if (const auto g = in_scope("g", 0, grid_)) return g;
    if (const auto i = in_scope("i", grid_, parallel_)) return i;
    return in_scope("r", grid_ + parallel_, reduce_);
  }

  Lexer lexer_;
  Kernel kernel_;
  size_t grid_ = 0, parallel_ = 0, reduce_ = 0;
};

}  // namespace

Kernel parse_kernel(std::string_view text) {
  return KernelParser(text).parse();
}

}  // namespace reprise
