// The textual form of plans.
#include "ir/plan.h"

#include "ir/error.h"
#include "ir/text.h"

namespace reprise {
namespace {

template <class Items>
void append_list(std::string& out, char prefix, const Items& items) {
  out += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ", ";
    first = false;
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(item)>>) {
      out += str(prefix, item);
    } else {
      out += str(item);
    }
  }
  out += ']';
}

class PlanParser {
 public:
  explicit PlanParser(std::string_view text) : lexer_(text) {}

  Plan parse() {
    lexer_.expect("plan");
    lexer_.expect("{");
    plan_.num_kernels = number<uint32_t>("kernels");
    plan_.arena_bytes = number<int64_t>("arena");
    while (lexer_.accept("param")) param();
    while (lexer_.peek_id("s")) slot();
    while (lexer_.accept("launch")) launch();
    while (lexer_.accept("donate")) {
      Donation donation;
      donation.input = number<uint32_t>("input");
      lexer_.expect("to");
      donation.output = number<uint32_t>("output");
      plan_.donations.push_back(donation);
    }
    while (lexer_.accept("alias")) alias();
    lexer_.expect("}");
    lexer_.expect_end();
    return std::move(plan_);
  }

 private:
  template <class T>
  T number(std::string_view keyword) {
    lexer_.expect(keyword);
    const int64_t value = lexer_.integer();
    if (value < 0 || static_cast<int64_t>(static_cast<T>(value)) != value) {
      lexer_.fail(str(value, " is out of range"));
    }
    return static_cast<T>(value);
  }

  void param() {
    if (lexer_.expect_id("p") != plan_.params.size()) {
      lexer_.fail(str("expected p", plan_.params.size(), ", the next parameter"));
    }
    lexer_.expect(":");
    plan_.params.push_back(lexer_.dtype());
  }

  void slot() {
    if (lexer_.expect_id("s") != plan_.slots.size()) {
      lexer_.fail(str("expected s", plan_.slots.size(), ", the next slot"));
    }
    Slot slot;
    lexer_.expect("=");
    if (lexer_.accept("input")) {
      slot.kind = SlotKind::Input;
      slot.index = lexer_.integer();
    } else if (lexer_.accept("output")) {
      slot.kind = SlotKind::Output;
      slot.index = lexer_.integer();
    } else if (lexer_.accept("arena")) {
      slot.kind = SlotKind::Arena;
      lexer_.expect("at");
      slot.offset = lexer_.integer();
    } else {
      lexer_.fail_expected("'input', 'output' or 'arena'");
    }
    lexer_.expect(":");
    slot.dtype = lexer_.dtype();
    lexer_.expect(",");
    slot.bytes = lexer_.integer();
    lexer_.expect("bytes");
    plan_.slots.push_back(slot);
  }

  void launch() {
    Launch launch;
    launch.kernel = lexer_.expect_id("k");
    lexer_.expect("[");
    if (!lexer_.accept("]")) {
      do {
        launch.buffers.push_back(SlotId{lexer_.expect_id("s")});
      } while (lexer_.accept(","));
      lexer_.expect("]");
    }
    lexer_.expect("params");
    lexer_.expect("[");
    if (!lexer_.accept("]")) {
      do {
        launch.params.push_back(lexer_.expect_id("p"));
      } while (lexer_.accept(","));
      lexer_.expect("]");
    }
    plan_.launches.push_back(std::move(launch));
  }

  void alias() {
    Alias alias;
    alias.output = number<uint32_t>("output");
    lexer_.expect("=");
    alias.slot = SlotId{lexer_.expect_id("s")};
    lexer_.expect("offset");
    alias.offset = lexer_.integer();
    lexer_.expect("strides");
    alias.strides = lexer_.integers();
    plan_.aliases.push_back(std::move(alias));
  }

  Lexer lexer_;
  Plan plan_;
};

}  // namespace

std::string print(const Plan& plan) {
  std::string out =
      str("plan {\n  kernels ", plan.num_kernels, "\n  arena ", plan.arena_bytes, '\n');
  for (size_t i = 0; i < plan.params.size(); ++i) {
    out += str("  param p", i, ": ", name(plan.params[i]), '\n');
  }
  for (uint32_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    out += str("  ", SlotId{i}, " = ");
    switch (slot.kind) {
      case SlotKind::Input:
        out += str("input ", slot.index);
        break;
      case SlotKind::Output:
        out += str("output ", slot.index);
        break;
      case SlotKind::Arena:
        out += str("arena at ", slot.offset);
        break;
    }
    out += str(": ", name(slot.dtype), ", ", slot.bytes, " bytes\n");
  }
  for (const Launch& launch : plan.launches) {
    out += str("  launch k", launch.kernel, ' ');
    append_list(out, 's', launch.buffers);
    out += " params ";
    append_list(out, 'p', launch.params);
    out += '\n';
  }
  for (const Donation& donation : plan.donations) {
    out += str("  donate input ", donation.input, " to output ", donation.output, '\n');
  }
  for (const Alias& alias : plan.aliases) {
    out += str("  alias output ", alias.output, " = ", alias.slot, " offset ", alias.offset,
               " strides ", print_integers(alias.strides), '\n');
  }
  return out + "}\n";
}

Plan parse_plan(std::string_view text) {
  return PlanParser(text).parse();
}

}  // namespace reprise
