#include "core/arrays/pickle_plain.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "core/arrays/pickle_ops.h"

namespace lfiw::core {
namespace {

// Floats alone are big-endian.
void PushFloat(std::string_view digits, PickleStack& stack) {
  std::uint64_t value = 0;
  for (const char digit : digits) value = (value << 8) | static_cast<unsigned char>(digit);
  stack.Push({.kind = PickleNode::Kind::kFloat, .number = std::bit_cast<double>(value)});
}

bool Scalar(unsigned char op, PickleStack& stack) {
  switch (op) {
    case PickleOp::kNone:
      stack.Push({});
      return true;
    case PickleOp::kTrue:
    case PickleOp::kFalse:
      stack.Push({.kind = PickleNode::Kind::kBool, .integer = op == PickleOp::kTrue ? 1 : 0});
      return true;
    case PickleOp::kBinInt:
      stack.PushInteger(static_cast<std::int32_t>(stack.TakeNumber(4)));
      return true;
    case PickleOp::kBinInt1:
      stack.PushInteger(static_cast<std::int64_t>(stack.TakeNumber(1)));
      return true;
    case PickleOp::kBinInt2:
      stack.PushInteger(static_cast<std::int64_t>(stack.TakeNumber(2)));
      return true;
    case PickleOp::kLong1:
      PushLong(stack.TakeNumber(1), stack);
      return true;
    case PickleOp::kBinFloat:
      PushFloat(stack.Take(8), stack);
      return true;
    default:
      return false;
  }
}

bool Text(unsigned char op, PickleStack& stack) {
  int size = 0;
  switch (op) {
    case PickleOp::kShortText:
    case PickleOp::kShortBytes:
    case PickleOp::kShortString:
      size = 1;
      break;
    case PickleOp::kText:
    case PickleOp::kBytes:
    case PickleOp::kString:
      size = 4;
      break;
    case PickleOp::kText8:
    case PickleOp::kBytes8:
    case PickleOp::kByteArray8:
      size = 8;
      break;
    default:
      return false;
  }
  const std::uint64_t length = stack.TakeNumber(size);
  stack.Push({.kind = PickleNode::Kind::kText, .text = std::string(stack.Take(length))});
  return true;
}

void AddTo(PickleNode* target, PickleNode::Kind kind, const std::vector<PickleNode*>& items,
           PickleStack& stack) {
  if (stack.keeps_objects() && target->kind == PickleNode::Kind::kObject) kind = target->kind;
  if (target->kind != kind) stack.Fail("an item for what is no list or dictionary");
  if (kind == PickleNode::Kind::kDict && items.size() % 2 != 0) stack.Fail("a key without a value");
  target->items.insert(target->items.end(), items.begin(), items.end());
}

bool AddItems(unsigned char op, PickleStack& stack) {
  std::vector<PickleNode*> items;
  switch (op) {
    case PickleOp::kAppend:
      items = stack.PopSome(1);
      break;
    case PickleOp::kSetItem:
      items = stack.PopSome(2);
      break;
    case PickleOp::kAppends:
    case PickleOp::kSetItems:
      items = stack.PopToMark();
      break;
    default:
      return false;
  }
  const bool list = op == PickleOp::kAppend || op == PickleOp::kAppends;
  AddTo(stack.Top(), list ? PickleNode::Kind::kList : PickleNode::Kind::kDict, items, stack);
  return true;
}

bool Container(unsigned char op, PickleStack& stack) {
  switch (op) {
    case PickleOp::kMark:
      stack.Mark();
      return true;
    case PickleOp::kPop:
      stack.Pop();
      return true;
    case PickleOp::kEmptyDict:
      stack.Push({.kind = PickleNode::Kind::kDict});
      return true;
    case PickleOp::kEmptyList:
    case PickleOp::kEmptyTuple:
      stack.PushList({});
      return true;
    case PickleOp::kTuple:
      stack.PushList(stack.PopToMark());
      return true;
    case PickleOp::kTuple1:
    case PickleOp::kTuple2:
    case PickleOp::kTuple3:
      stack.PushList(stack.PopSome(static_cast<std::size_t>(op - PickleOp::kTuple1 + 1)));
      return true;
    default:
      return AddItems(op, stack);
  }
}

bool Memo(unsigned char op, PickleStack& stack) {
  switch (op) {
    case PickleOp::kPut:
      stack.Remember(stack.TakeNumber(1));
      return true;
    case PickleOp::kLongPut:
      stack.Remember(stack.TakeNumber(4));
      return true;
    case PickleOp::kMemoize:
      stack.RememberNext();
      return true;
    case PickleOp::kGet:
      stack.Recall(stack.TakeNumber(1));
      return true;
    case PickleOp::kLongGet:
      stack.Recall(stack.TakeNumber(4));
      return true;
    default:
      return false;
  }
}

}  // namespace

void PushLong(std::uint64_t size, PickleStack& stack) {
  if (size > 8 && stack.keeps_objects()) {
    stack.Take(size);
    stack.Push(
        {.kind = PickleNode::Kind::kText, .text = fmt::format("an integer of {} bytes", size)});
    return;
  }
  if (size > 8) stack.Fail(fmt::format("an integer of {} bytes, expected at most 8", size));
  if (size == 0) return stack.PushInteger(0);
  const int shift = 64 - 8 * static_cast<int>(size);
  stack.PushInteger(static_cast<std::int64_t>(stack.TakeNumber(static_cast<int>(size)) << shift) >>
                    shift);
}

bool ReadPlain(unsigned char op, PickleStack& stack) {
  return Scalar(op, stack) || Text(op, stack) || Container(op, stack) || Memo(op, stack);
}

void AddToList(PickleNode* target, const std::vector<PickleNode*>& items, PickleStack& stack) {
  AddTo(target, PickleNode::Kind::kList, items, stack);
}

}  // namespace lfiw::core
