#include "core/arrays/pickle_stack.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kMaxValues = 1 << 20;
// Bytes copied while values are built, as a multiple of the file's.
constexpr std::int64_t kMaxCopies = 4;

}  // namespace

PickleStack::PickleStack(std::string_view bytes, const std::string& source, PickleObjects objects)
    : bytes_(bytes), source_(source), objects_(objects) {
  CountInput(bytes.size());
}

void PickleStack::Fail(const std::string& what) const {
  Throw<DataError>("{}: byte {} of the pickle: {}", source_, at_, what);
}

std::string_view PickleStack::Take(std::uint64_t count) {
  if (count > bytes_.size() - at_) {
    Fail(fmt::format("{} bytes are wanted, {} are left; the file is cut off or damaged", count,
                     bytes_.size() - at_));
  }
  const std::string_view taken = bytes_.substr(at_, count);
  at_ += count;
  return taken;
}

std::uint64_t PickleStack::TakeNumber(int size) {
  const std::string_view digits = Take(static_cast<std::uint64_t>(size));
  std::uint64_t value = 0;
  for (int k = size; k-- > 0;) {
    value = (value << 8) | static_cast<unsigned char>(digits[static_cast<std::size_t>(k)]);
  }
  return value;
}

std::string PickleStack::TakeLine() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) Fail("a line without end");
  std::string line(bytes_.substr(at_, end - at_));
  at_ = end + 1;
  return line;
}

PickleNode* PickleStack::Push(PickleNode node) {
  if (std::ssize(nodes_) >= kMaxValues) Fail(fmt::format("more than {} values", kMaxValues));
  nodes_.push_back(std::move(node));
  stack_.push_back(&nodes_.back());
  return stack_.back();
}

void PickleStack::PushInteger(std::int64_t value) {
  Push({.kind = PickleNode::Kind::kInteger, .integer = value});
}

void PickleStack::PushList(std::vector<PickleNode*> items) {
  Push({.kind = PickleNode::Kind::kList, .items = std::move(items)});
}

PickleNode* PickleStack::Pop() {
  const std::size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) Fail("a value is used that is not there");
  PickleNode* node = stack_.back();
  stack_.pop_back();
  return node;
}

PickleNode* PickleStack::Top() {
  PickleNode* node = Pop();
  stack_.push_back(node);
  return node;
}

std::vector<PickleNode*> PickleStack::PopSome(std::size_t count) {
  std::vector<PickleNode*> items(count);
  for (std::size_t k = count; k-- > 0;) items[k] = Pop();
  return items;
}

const PickleNode& PickleStack::Argument(const std::vector<PickleNode*>& arguments,
                                        std::size_t index, PickleNode::Kind kind,
                                        const char* complaint) const {
  if (index >= arguments.size() || arguments[index]->kind != kind) Fail(complaint);
  return *arguments[index];
}

std::vector<PickleNode*> PickleStack::PopToMark() {
  if (marks_.empty()) Fail("the end of a list that has no beginning");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleNode*> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleStack::Remember(std::uint64_t index) {
  if (index > memo_.size()) Fail(fmt::format("memo {} before memo {}", index, memo_.size()));
  if (index == memo_.size()) memo_.push_back(nullptr);
  memo_[index] = Top();
}

void PickleStack::Recall(std::uint64_t index) {
  if (index >= memo_.size()) Fail(fmt::format("memo {} of {}", index, memo_.size()));
  stack_.push_back(memo_[index]);
}

void PickleStack::Charge(std::size_t copied_bytes) {
  copy_budget_ -= static_cast<std::int64_t>(copied_bytes);
  if (copy_budget_ < 0) Fail("references that multiply the file's content");
}

void PickleStack::CountInput(std::size_t bytes) {
  copy_budget_ += kMaxCopies * static_cast<std::int64_t>(bytes);
}

}  // namespace lfiw::core
