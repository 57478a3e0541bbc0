// Random graphs of the kind that attention is made of.
#include "random_heads.h"

#include <random>
#include <vector>

#include "ir/builder.h"
#include "passes/graph_passes.h"

namespace reprise {

Graph random_heads(uint32_t seed) {
  std::mt19937 random(seed);
  Graph graph;
  GraphBuilder b(graph);
  uint32_t inputs = 0;
  const auto input = [&](const Shape& shape) { return b.input({DType::F32, shape}, inputs++); };
  const auto below = [&](size_t n) { return static_cast<int64_t>(random() % n); };
  // Many heads, and few whose rows are cut into blocks, some left over.
  const bool many = below(2) == 0;
  const int64_t batch = many ? 4 : 1 + below(3), heads = many ? 5 : 1 + below(2);
  const std::vector<int64_t> sizes =
      many ? std::vector<int64_t>{3, 4, 8} : std::vector<int64_t>{2, 37, 64};
  std::vector<Value> values;
  for (int i = 0; i < 3; ++i) {
    values.push_back(input({batch, heads, sizes[below(3)], sizes[below(3)]}));
  }
  const int64_t swaps[2][4] = {{1, 0, 2, 3}, {0, 2, 1, 3}};
  for (int step = 0; step < 9; ++step) {
    const Value x = values[below(values.size())];
    const Shape shape = b.shape(x);
    switch (below(6)) {
      case 0:
      case 1: {
        Value factor{};
        for (Value y : values) {
          if (b.shape(y)[0] != shape[0] || b.shape(y)[1] != shape[1]) continue;
          if (b.shape(y)[2] == shape[3]) factor = y;
          if (b.shape(y)[3] == shape[3] && below(2) == 0) factor = b.transpose(y);
        }
        if (!factor.valid()) factor = input({shape[3], 6});
        values.push_back(b.matmul(x, factor));
        break;
      }
      case 2: {
        const Value row = b.reduce(below(2) == 0 ? Op::Sum : Op::Max, x, 8, true);
        values.push_back(b.div(x, row));
        break;
      }
      case 3:
        values.push_back(b.unary(below(2) == 0 ? Op::Exp : Op::Negative, x));
        break;
      case 4: {
        const Value moved = b.permute(x, swaps[below(2)]);
        const Shape to = b.shape(moved);
        const Value flat = b.reshape(moved, {to[0] * to[1], to[2] * to[3]});
        const Value wide = b.add(flat, input({to[2] * to[3]}));
        values.push_back(below(2) == 0 ? moved : b.reshape(wide, to));
        if (below(3) == 0) b.output(b.matmul(b.transpose(flat), flat));
        break;
      }
      case 5:
        b.output(b.reduce(Op::Sum, b.mul(x, x), 1 + below(7), false));
        values.push_back(b.add(x, input({shape[2], 1})));
        break;
    }
  }
  b.output(values.back());
  b.output(values[values.size() / 2]);
  return dce(cse(simplify(canonicalize(graph))));
}

}  // namespace reprise
