// Sets of sample inputs that ops share.
#include "ir/ops/samples.h"

namespace reprise {

std::vector<Sample> unary_samples(Fill fill, DType dtype, const Attrs& attrs) {
  std::vector<Sample> samples;
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{17}, Shape{5, 13},
                             Shape{3, 0, 2}, Shape{2, 1, 3, 5}, Shape{1009}, Shape{33, 129}}) {
    samples.push_back({.operands = {{{dtype, shape}, fill}}, .attrs = attrs, .result = {}});
  }
  return samples;
}

std::vector<Sample> binary_samples(Fill left, Fill right, DType dtype) {
  struct Pair {
    Shape a, b;
  };
  const Pair pairs[] = {{{}, {}},         {{1}, {1}},         {{7}, {7}},
                        {{0}, {1}},       {{0, 3}, {1, 3}},   {{17}, {}},
                        {{}, {5, 3}},     {{5, 13}, {13}},    {{3, 1}, {1, 11}},
                        {{2, 3, 1}, {5}}, {{1009}, {1009}},   {{33, 129}, {33, 129}},
                        {{64, 65}, {65}}, {{4, 1, 9}, {7, 1}}};
  std::vector<Sample> samples;
  for (const auto& [a, b] : pairs) {
    samples.push_back(
        {.operands = {{{dtype, a}, left}, {{dtype, b}, right}}, .attrs = {}, .result = {}});
  }
  return samples;
}

std::vector<Sample> ternary_samples(DType first, Fill first_fill, Fill fill) {
  struct Triple {
    Shape a, b, c;
  };
  const Triple triples[] = {{{}, {}, {}},          {{1}, {1}, {1}},          {{7}, {7}, {7}},
                            {{0}, {1}, {}},        {{5, 1}, {13}, {}},       {{3}, {2, 3}, {2, 1}},
                            {{1009}, {1009}, {1}}, {{33, 65}, {65}, {33, 1}}};
  std::vector<Sample> samples;
  for (const auto& [a, b, c] : triples) {
    samples.push_back(
        {.operands = {{{first, a}, first_fill}, {{DType::F32, b}, fill}, {{DType::F32, c}, fill}},
         .attrs = {},
         .result = {}});
  }
  return samples;
}

std::vector<Sample> reduction_samples(Fill fill, EmptyFold empty) {
  struct Fold {
    Shape shape;
    int64_t axes;
    bool has_elements = true;  // or the result is empty too
  };
  const Fold folds[] = {{{1}, 1},        {{7}, 1},
                        {{67}, 1},       {{1009}, 1},
                        {{20011}, 1},    {{5, 13}, 2},
                        {{5, 13}, 1},    {{5, 13}, 3},
                        {{3, 129}, 2},   {{129, 3}, 1},
                        {{2, 3, 5}, 2},  {{2, 3, 5}, 5},
                        {{4, 1, 7}, 2},  {{2, 0, 3}, 1},
                        {{0, 4}, 2},     {{2, 0, 3}, 2, false},
                        {{0}, 1, false}, {{2, 3, 1, 5, 2}, 21}};
  std::vector<Sample> samples;
  for (const auto& [shape, axes, has_elements] : folds) {
    if (!has_elements && empty == EmptyFold::Refused) continue;
    for (int64_t keepdims : {0, 1}) {
      samples.push_back({.operands = {{{DType::F32, shape}, fill}},
                         .attrs = Attrs().add_int(axes).add_int(keepdims),
                         .result = {}});
    }
  }
  return samples;
}

std::vector<Sample> axis_samples(Fill fill) {
  struct Row {
    Shape shape;
    int64_t axis;
  };
  const Row rows[] = {{{1}, 0},       {{7}, 0},      {{5, 13}, 1},  {{5, 13}, 0},
                      {{2, 3, 5}, 1}, {{3, 129}, 1}, {{64, 10}, 1}, {{2, 0}, 1},
                      {{0, 4}, 1},    {{3, 1}, 1},   {{1009}, 0},   {{2, 3, 4, 5}, 2}};
  std::vector<Sample> samples;
  for (const auto& [shape, axis] : rows) {
    samples.push_back(
        {.operands = {{{DType::F32, shape}, fill}}, .attrs = Attrs().add_int(axis), .result = {}});
  }
  return samples;
}

}  // namespace reprise
