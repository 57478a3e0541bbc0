// The op table: built-in definitions by number, and those registered while the program runs.
#include "ir/op.h"

#include <array>
#include <atomic>
#include <mutex>

#include "ir/error.h"

namespace reprise {

#define REPRISE_OP(Name, file) const OpDef& file##_def();
#include "ir/ops/ops.def"
#undef REPRISE_OP

namespace {

constexpr std::array kBuiltin = {
#define REPRISE_OP(Name, file) &file##_def,
#include "ir/ops/ops.def"
#undef REPRISE_OP
};
constexpr int kNumBuiltin = static_cast<int>(kBuiltin.size());
constexpr int kMaxRegistered = 1024;

// Readers take no lock: an entry is published before the count that makes it visible, and is never
// taken back.
constinit std::array<std::atomic<const OpDef*>, kMaxRegistered> registered{};
constinit std::atomic<int> num_registered{0};
constinit std::mutex registration;

}  // namespace

const OpDef& op_def(Op op) {
  const int number = static_cast<int>(op);
  if (number < kNumBuiltin) return kBuiltin[static_cast<size_t>(number)]();
  const int index = number - kNumBuiltin;
  REPRISE_ASSERT(index < num_registered.load(std::memory_order_acquire));
  return *registered[static_cast<size_t>(index)].load(std::memory_order_relaxed);
}

int num_ops() {
  return kNumBuiltin + num_registered.load(std::memory_order_acquire);
}

const OpDef* find_op(std::string_view name, Op* op) {
  const int count = num_ops();
  for (int number = 0; number < count; ++number) {
    const OpDef& def = op_def(static_cast<Op>(number));
    if (def.name != name) continue;
    if (op) *op = static_cast<Op>(number);
    return &def;
  }
  return nullptr;
}

Op register_op(const OpDef& def) {
  const std::lock_guard lock(registration);
  if (find_op(def.name)) throw Error(str("register_op: the op '", def.name, "' exists already"));
  if (!def.infer) throw Error(str("register_op: the op '", def.name, "' has no infer"));
  const int index = num_registered.load(std::memory_order_relaxed);
  if (index == kMaxRegistered) {
    throw Error(str("register_op: '", def.name, "' does not fit, the table holds ", kMaxRegistered,
                    " registered ops"));
  }
  registered[static_cast<size_t>(index)].store(&def, std::memory_order_relaxed);
  num_registered.store(index + 1, std::memory_order_release);
  return static_cast<Op>(kNumBuiltin + index);
}

}  // namespace reprise
