// A value, or an error that says what went wrong, where, and what to do about it.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace loopscope {

struct Error {
  std::string what;   // "not a Loopscope capture"
  std::string where;  // a path, an option, a command; may be empty
  std::string next;   // what to do: "pass a run folder or a .cap file"
  int exit_code = 2;  // see the table of exit codes in README.md

  std::string Message() const {  // "where: what; next"
    std::string text = where.empty() ? what : where + ": " + what;
    return next.empty() ? text : text + "\n  " + next;
  }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}
  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace loopscope
