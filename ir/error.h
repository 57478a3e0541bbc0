// The error family: what Reprise throws when a call cannot do what it was asked.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace reprise {

/// Base of every error that a user's mistake or the machine's state can cause.
/// A call that throws leaves the runtime usable and every tensor as it was.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ShapeError : public Error {
  using Error::Error;
};
class DTypeError : public Error {
  using Error::Error;
};
class IndexError : public Error {
  using Error::Error;
};
class DeviceError : public Error {
  using Error::Error;
};
class IoError : public Error {
  using Error::Error;
};
class ParseError : public Error {
  using Error::Error;
};
class OutOfMemoryError : public Error {
  using Error::Error;
};
class UnsupportedError : public Error {
  using Error::Error;
};

/// A bug of our own, found by an assertion. Never the user's fault.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Concatenates its arguments as text: `str("rank ", 9, " exceeds 8")`.
template <class... Args>
[[nodiscard]] std::string str(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return std::move(out).str();
}

[[noreturn]] void fail_assertion(const char* condition, const char* file, int line);

}  // namespace reprise

/// Checks an invariant of our own; stays on in release builds, so keep it cheap.
#define REPRISE_ASSERT(condition) \
  ((condition) ? void(0) : ::reprise::fail_assertion(#condition, __FILE__, __LINE__))
