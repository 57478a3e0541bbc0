// The textual form of plans.
#include "ir/plan.h"

#include <algorithm>
#include <iterator>

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
    plan_.arenas = {number<int64_t>("arena")};
    while (lexer_.accept(",")) plan_.arenas.push_back(lexer_.integer());
    while (lexer_.accept("param")) param();
    while (lexer_.peek_id("s")) slot();
    for (;;) {
      if (lexer_.accept("launch")) {
        launch();
      } else if (lexer_.accept("transfer")) {
        transfer();
      } else {
        break;
      }
    }
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
    if (lexer_.accept("on")) {
      const int64_t device = lexer_.integer();
      if (device < 0 || device >= std::ssize(plan_.arenas)) {
        lexer_.fail(str("there is no device ", device));
      }
      slot.device = static_cast<uint32_t>(device);
    }
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

  void transfer() {
    Transfer transfer;
    transfer.before = static_cast<uint32_t>(plan_.launches.size());
    transfer.from = SlotId{lexer_.expect_id("s")};
    transfer.offset = number<int64_t>("offset");
    lexer_.expect("to");
    transfer.to = SlotId{lexer_.expect_id("s")};
    plan_.transfers.push_back(transfer);
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

std::vector<PlanStep> steps(const Plan& plan) {
  std::vector<PlanStep> all;
  uint32_t transfer = 0;
  for (uint32_t launch = 0; launch <= plan.launches.size(); ++launch) {
    for (; transfer < plan.transfers.size() && plan.transfers[transfer].before <= launch;
         ++transfer) {
      all.push_back({PlanStep::Kind::Transfer, transfer});
    }
    if (launch < plan.launches.size()) all.push_back({PlanStep::Kind::Launch, launch});
  }
  return all;
}

std::vector<SlotId> slots_of(const Plan& plan, PlanStep step) {
  switch (step.kind) {
    case PlanStep::Kind::Launch:
      return plan.launches[step.index].buffers;
    case PlanStep::Kind::Transfer:
      return {plan.transfers[step.index].from, plan.transfers[step.index].to};
  }
  return {};
}

uint32_t device_of(const Plan& plan, const Launch& launch) {
  return launch.buffers.empty() ? 0 : plan.slots[launch.buffers.front().index].device;
}

uint32_t num_outputs(const Plan& plan) {
  uint32_t count = 0;
  for (const Slot& slot : plan.slots) {
    if (slot.kind == SlotKind::Output) {
      count = std::max(count, static_cast<uint32_t>(slot.index) + 1);
    }
  }
  for (const Alias& alias : plan.aliases) count = std::max(count, alias.output + 1);
  return count;
}

std::string print(const Plan& plan) {
  std::string out = str("plan {\n  kernels ", plan.num_kernels, "\n  arena ");
  for (size_t i = 0; i < plan.arenas.size(); ++i) out += str(i == 0 ? "" : ", ", plan.arenas[i]);
  out += '\n';
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
    out += str(": ", name(slot.dtype), ", ", slot.bytes, " bytes");
    if (slot.device != 0) out += str(" on ", slot.device);
    out += '\n';
  }
  for (const PlanStep step : steps(plan)) {
    if (step.kind == PlanStep::Kind::Transfer) {
      const Transfer& transfer = plan.transfers[step.index];
      out +=
          str("  transfer ", transfer.from, " offset ", transfer.offset, " to ", transfer.to, '\n');
      continue;
    }
    const Launch& launch = plan.launches[step.index];
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
