// Runs code on a thread with little stack, where recursion over a graph's depth would crash.
#pragma once

#include <functional>

namespace reprise {

/// Runs `body` on a thread with 256 KiB of stack and waits. What it throws is thrown here.
void run_on_small_stack(const std::function<void()>& body);

}  // namespace reprise
