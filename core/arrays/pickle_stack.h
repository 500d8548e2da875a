#ifndef LFIW_CORE_ARRAYS_PICKLE_STACK_H_
#define LFIW_CORE_ARRAYS_PICKLE_STACK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/npz_array.h"

namespace lfiw::core {

// Arrays and tensors of more dimensions are no data.
inline constexpr std::size_t kMaxPickleRank = 32;

// A value of a pickle under construction. Values refer to each other, also in cycles, so the stack
// owns them.
struct PickleNode {
  enum class Kind {
    kNone,
    kBool,
    kInteger,
    kFloat,
    kText,
    kList,
    kDict,
    kGlobal,
    kDtype,
    kArray,
    kObject,
    kStorage
  };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;
  double number = 0.0;
  std::string text = {};  // of a text, a global or a dtype, an object's class, a storage's key
  std::vector<PickleNode*> items = {};  // of a list; of a dictionary key, value, key, value, ...;
                                        // an object's arguments
  NpzArray array = {};  // of a storage, of which `integer` is the size, its type alone
  const PickleNode* state = nullptr;  // of an object
};

// Whether classes and functions other than those of plain data are kept by name or refused.
enum class PickleObjects { kRefused, kKept };

// What the opcodes of a pickle work on: the bytes of the file, and a stack of values, marks in it
// and remembered values. Hostile input ends in DataError that names the source, the byte and what
// is there; how many values there are, and how much is copied, is bounded.
class PickleStack {
 public:
  // Bytes and source are referred to and must outlive the stack.
  PickleStack(std::string_view bytes, const std::string& source, PickleObjects objects);
  PickleStack(const PickleStack&) = delete;
  PickleStack& operator=(const PickleStack&) = delete;

  const std::string& source() const { return source_; }
  bool keeps_objects() const { return objects_ == PickleObjects::kKept; }
  [[noreturn]] void Fail(const std::string& what) const;

  // The next `count` bytes of the file.
  std::string_view Take(std::uint64_t count);
  // The next bytes as a little-endian number of 1 to 8 bytes.
  std::uint64_t TakeNumber(int size);
  std::string TakeLine();

  PickleNode* Push(PickleNode node);
  void PushInteger(std::int64_t value);
  void PushList(std::vector<PickleNode*> items);
  PickleNode* Pop();
  PickleNode* Top();
  std::vector<PickleNode*> PopSome(std::size_t count);

  // The argument of a call at `index`; fails with `complaint` where there is none of this kind.
  const PickleNode& Argument(const std::vector<PickleNode*>& arguments, std::size_t index,
                             PickleNode::Kind kind, const char* complaint) const;

  void Mark() { marks_.push_back(stack_.size()); }
  // The values since the last mark.
  std::vector<PickleNode*> PopToMark();

  // Remembers the value on top. Writers number what they remember from 0 on.
  void Remember(std::uint64_t index);
  void RememberNext() { Remember(memo_.size()); }
  void Recall(std::uint64_t index);

  // Counts bytes that are copied: what is referred to repeatedly is copied repeatedly, and the
  // limit keeps small files from growing large. Bytes read from elsewhere raise it.
  void Charge(std::size_t copied_bytes);
  void CountInput(std::size_t bytes);

 private:
  std::string_view bytes_;
  const std::string& source_;
  PickleObjects objects_;
  std::size_t at_ = 0;
  std::deque<PickleNode> nodes_;
  std::vector<PickleNode*> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleNode*> memo_;
  std::int64_t copy_budget_ = 0;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_PICKLE_STACK_H_
