#include "core/arrays/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <utility>

#include "core/arrays/npy_header.h"
#include "core/error.h"

namespace lfiw::core {
namespace {

// Deeper nesting is an attack, and values are walked recursively.
constexpr int kMaxPickleDepth = 64;
constexpr std::int64_t kMaxValues = 1 << 20;
constexpr std::size_t kMaxPickleRank = 32;
// Numbers of a storage of PyTorch.
constexpr std::int64_t kMaxStorageItems = std::int64_t{1} << 31;
// Bytes copied while values are built, as a multiple of the file's.
constexpr std::int64_t kMaxCopies = 4;

// The opcodes of plain data and of numpy's arrays (Python's Lib/pickletools.py).
enum Op : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kNone = 'N',
  kTrue = 0x88,
  kFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kBinFloat = 'G',
  kShortText = 0x8c,
  kText = 'X',
  kText8 = 0x8d,
  kShortBytes = 'C',
  kBytes = 'B',
  kBytes8 = 0x8e,
  kByteArray8 = 0x96,
  kShortString = 'U',
  kString = 'T',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kAppend = 'a',
  kAppends = 'e',
  kSetItem = 's',
  kSetItems = 'u',
  kPut = 'q',
  kLongPut = 'r',
  kMemoize = 0x94,
  kGet = 'h',
  kLongGet = 'j',
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kBuild = 'b',
  kProto = 0x80,
  kFrame = 0x95,
  // of objects and of PyTorch
  kPopMark = '1',
  kLong4 = 0x8b,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObject = 0x81,
  kNewObjectEx = 0x92,
  kPersistentId = 'Q',
};

// numpy's name of the numbers in a storage of PyTorch; nullptr for others.
const char* StorageType(std::string_view global) {
  if (global == "torch.FloatStorage") return "f4";
  if (global == "torch.DoubleStorage") return "f8";
  if (global == "torch.HalfStorage") return "f2";
  if (global == "torch.LongStorage") return "i8";
  if (global == "torch.IntStorage") return "i4";
  if (global == "torch.ByteStorage") return "u1";
  if (global == "torch.BoolStorage") return "b1";
  return nullptr;
}

// A value under construction. Values refer to each other, also in cycles, so the parser owns them.
struct Node {
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
  std::vector<Node*> items = {};  // of a list; of a dictionary key, value, key, value, ...; an
                                  // object's arguments
  NpzArray array = {};            // of a storage, of which `integer` is the size, its type alone
  const Node* state = nullptr;    // of an object
};

class Parser {
 public:
  Parser(std::string_view bytes, const std::string& source, const PickleOptions& options)
      : bytes_(bytes),
        source_(source),
        options_(options),
        copy_budget_(kMaxCopies * static_cast<std::int64_t>(bytes.size())) {}

  PickleValue Parse() {
    for (;;) {
      const auto op = static_cast<unsigned char>(Take(1)[0]);
      if (op == kStop) break;
      if (!Scalar(op) && !Text(op) && !Container(op) && !Memo(op) && !Call(op) && !Extended(op)) {
        Fail(fmt::format("opcode 0x{:02x}, which plain data and numpy arrays do not need", op));
      }
    }
    return Convert(*Pop(), 0);
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    Throw<DataError>("{}: byte {} of the pickle: {}", source_, at_, what);
  }

  // The next `count` bytes of the file.
  std::string_view Take(std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      Fail(fmt::format("{} bytes are wanted, {} are left; the file is cut off or damaged", count,
                       bytes_.size() - at_));
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  // A little-endian number of 1 to 8 bytes.
  std::uint64_t TakeNumber(int size) {
    const std::string_view digits = Take(static_cast<std::uint64_t>(size));
    std::uint64_t value = 0;
    for (int k = size; k-- > 0;) {
      value = (value << 8) | static_cast<unsigned char>(digits[static_cast<std::size_t>(k)]);
    }
    return value;
  }

  std::string TakeLine() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) Fail("a line without end");
    std::string line(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return line;
  }

  Node* Push(Node node) {
    if (std::ssize(nodes_) >= kMaxValues) Fail(fmt::format("more than {} values", kMaxValues));
    nodes_.push_back(std::move(node));
    stack_.push_back(&nodes_.back());
    return stack_.back();
  }

  Node* Pop() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) Fail("a value is used that is not there");
    Node* node = stack_.back();
    stack_.pop_back();
    return node;
  }

  Node* Top() {
    Node* node = Pop();
    stack_.push_back(node);
    return node;
  }

  // What is referred to repeatedly is copied: the limit keeps small files from growing large.
  void Charge(std::size_t copied_bytes) {
    copy_budget_ -= static_cast<std::int64_t>(copied_bytes);
    if (copy_budget_ < 0) Fail("references that multiply the file's content");
  }

  // The values since the last mark.
  std::vector<Node*> PopToMark() {
    if (marks_.empty()) Fail("the end of a list that has no beginning");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Node*> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }

  std::vector<Node*> PopSome(std::size_t count) {
    std::vector<Node*> items(count);
    for (std::size_t k = count; k-- > 0;) items[k] = Pop();
    return items;
  }

  void PushInteger(std::int64_t value) { Push({.kind = Node::Kind::kInteger, .integer = value}); }

  bool Scalar(unsigned char op) {
    switch (op) {
      case kNone:
        Push({});
        return true;
      case kTrue:
      case kFalse:
        Push({.kind = Node::Kind::kBool, .integer = op == kTrue ? 1 : 0});
        return true;
      case kBinInt:
        PushInteger(static_cast<std::int32_t>(TakeNumber(4)));
        return true;
      case kBinInt1:
        PushInteger(static_cast<std::int64_t>(TakeNumber(1)));
        return true;
      case kBinInt2:
        PushInteger(static_cast<std::int64_t>(TakeNumber(2)));
        return true;
      case kLong1:
        PushLong(TakeNumber(1));
        return true;
      case kBinFloat:
        PushFloat(Take(8));
        return true;
      default:
        return false;
    }
  }

  // A signed little-endian number of `size` bytes.
  void PushLong(std::uint64_t size) {
    if (size > 8 && options_.objects) {
      Take(size);
      Push({.kind = Node::Kind::kText, .text = fmt::format("an integer of {} bytes", size)});
      return;
    }
    if (size > 8) Fail(fmt::format("an integer of {} bytes, expected at most 8", size));
    if (size == 0) return PushInteger(0);
    const int shift = 64 - 8 * static_cast<int>(size);
    PushInteger(static_cast<std::int64_t>(TakeNumber(static_cast<int>(size)) << shift) >> shift);
  }

  // Floats alone are big-endian.
  void PushFloat(std::string_view digits) {
    std::uint64_t value = 0;
    for (const char digit : digits) value = (value << 8) | static_cast<unsigned char>(digit);
    Push({.kind = Node::Kind::kFloat, .number = std::bit_cast<double>(value)});
  }

  bool Text(unsigned char op) {
    int size = 0;
    switch (op) {
      case kShortText:
      case kShortBytes:
      case kShortString:
        size = 1;
        break;
      case kText:
      case kBytes:
      case kString:
        size = 4;
        break;
      case kText8:
      case kBytes8:
      case kByteArray8:
        size = 8;
        break;
      default:
        return false;
    }
    const std::uint64_t length = TakeNumber(size);
    Push({.kind = Node::Kind::kText, .text = std::string(Take(length))});
    return true;
  }

  void PushList(std::vector<Node*> items) {
    Push({.kind = Node::Kind::kList, .items = std::move(items)});
  }

  void AddTo(Node* target, Node::Kind kind, const std::vector<Node*>& items) {
    if (options_.objects && target->kind == Node::Kind::kObject) kind = target->kind;
    if (target->kind != kind) Fail("an item for what is no list or dictionary");
    if (kind == Node::Kind::kDict && items.size() % 2 != 0) Fail("a key without a value");
    target->items.insert(target->items.end(), items.begin(), items.end());
  }

  bool Container(unsigned char op) {
    switch (op) {
      case kMark:
        marks_.push_back(stack_.size());
        return true;
      case kPop:
        Pop();
        return true;
      case kEmptyDict:
        Push({.kind = Node::Kind::kDict});
        return true;
      case kEmptyList:
      case kEmptyTuple:
        PushList({});
        return true;
      case kTuple:
        PushList(PopToMark());
        return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        PushList(PopSome(static_cast<std::size_t>(op - kTuple1 + 1)));
        return true;
      default:
        return AddItems(op);
    }
  }

  bool AddItems(unsigned char op) {
    std::vector<Node*> items;
    switch (op) {
      case kAppend:
        items = PopSome(1);
        break;
      case kSetItem:
        items = PopSome(2);
        break;
      case kAppends:
      case kSetItems:
        items = PopToMark();
        break;
      default:
        return false;
    }
    const bool list = op == kAppend || op == kAppends;
    AddTo(Top(), list ? Node::Kind::kList : Node::Kind::kDict, items);
    return true;
  }

  bool Memo(unsigned char op) {
    switch (op) {
      case kPut:
        Remember(TakeNumber(1));
        return true;
      case kLongPut:
        Remember(TakeNumber(4));
        return true;
      case kMemoize:
        Remember(memo_.size());
        return true;
      case kGet:
        Recall(TakeNumber(1));
        return true;
      case kLongGet:
        Recall(TakeNumber(4));
        return true;
      default:
        return false;
    }
  }

  void Remember(std::uint64_t index) {
    // writers number what they remember from 0 on
    if (index > memo_.size()) Fail(fmt::format("memo {} before memo {}", index, memo_.size()));
    if (index == memo_.size()) memo_.push_back(nullptr);
    memo_[index] = Top();
  }

  void Recall(std::uint64_t index) {
    if (index >= memo_.size()) Fail(fmt::format("memo {} of {}", index, memo_.size()));
    stack_.push_back(memo_[index]);
  }

  bool Call(unsigned char op) {
    switch (op) {
      case kProto:
        if (const std::uint64_t version = TakeNumber(1); version < 2 || version > 5) {
          Fail(fmt::format("protocol {}, expected 2 to 5", version));
        }
        return true;
      case kFrame:
        Take(8);
        return true;
      case kGlobal: {
        const std::string module = TakeLine();
        PushGlobal(module, TakeLine());
        return true;
      }
      case kStackGlobal: {
        const std::vector<Node*> names = PopSome(2);
        PushGlobal(names[0]->text, names[1]->text);
        return true;
      }
      case kReduce: {
        const Node* arguments = Pop();
        Reduce(*Pop(), arguments->items);
        return true;
      }
      case kBuild: {
        const Node* state = Pop();
        Build(Top(), *state);
        return true;
      }
      default:
        return false;
    }
  }

  // What only objects and tensors need.
  bool Extended(unsigned char op) {
    if (op == kPersistentId && options_.storage) {
      PushStorage(Pop()->items);
      return true;
    }
    if (!options_.objects) return false;
    switch (op) {
      case kPopMark:
        PopToMark();
        return true;
      case kLong4:
        PushLong(TakeNumber(4));
        return true;
      case kEmptySet:
        PushList({});
        return true;
      case kAddItems: {
        const std::vector<Node*> items = PopToMark();
        AddTo(Top(), Node::Kind::kList, items);
        return true;
      }
      case kFrozenSet:
        PushList(PopToMark());
        return true;
      case kNewObject:
      case kNewObjectEx: {
        if (op == kNewObjectEx) Pop();
        const Node* arguments = Pop();
        PushObject(*Pop(), arguments->items);
        return true;
      }
      default:
        return false;
    }
  }

  void PushObject(const Node& type, const std::vector<Node*>& arguments) {
    Charge(type.text.size());
    Push({.kind = Node::Kind::kObject, .text = type.text, .items = arguments});
  }

  // The tuple that PyTorch writes for a storage: "storage", its class, key, device, size.
  void PushStorage(const std::vector<Node*>& id) {
    using Kind = Node::Kind;
    const char* type = StorageType(TensorArgument(id, 1, Kind::kGlobal).text);
    if (type == nullptr) Fail(fmt::format("a storage of {}", id[1]->text));
    const std::int64_t size = TensorArgument(id, 4, Kind::kInteger).integer;
    if (size < 0 || size > kMaxStorageItems) Fail(fmt::format("a storage of {} numbers", size));
    Push({.kind = Kind::kStorage,
          .integer = size,
          .text = TensorArgument(id, 2, Kind::kText).text,
          .array = {type, {}, {}}});
  }

  const Node& TensorArgument(const std::vector<Node*>& arguments, std::size_t index,
                             Node::Kind kind) const {
    if (index >= arguments.size() || arguments[index]->kind != kind) {
      Fail("a tensor that is not written as PyTorch does");
    }
    return *arguments[index];
  }

  // The arguments of torch._utils._rebuild_tensor_v2: storage, offset, size, stride, ...
  void PushTensor(const std::vector<Node*>& arguments) {
    using Kind = Node::Kind;
    const Node& storage = TensorArgument(arguments, 0, Kind::kStorage);
    const std::int64_t offset = TensorArgument(arguments, 1, Kind::kInteger).integer;
    const std::vector<Node*>& dims = TensorArgument(arguments, 2, Kind::kList).items;
    const std::vector<Node*>& steps = TensorArgument(arguments, 3, Kind::kList).items;
    if (dims.size() != steps.size() || dims.size() > kMaxPickleRank) {
      Fail(fmt::format("a tensor of {} dimensions and {} strides", dims.size(), steps.size()));
    }
    NpyHeader header{.type = storage.array.type, .shape = {}, .fortran_order = false};
    std::vector<std::int64_t> strides;
    std::int64_t count = 1, last = offset;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      header.shape.push_back(TensorArgument(dims, k, Kind::kInteger).integer);
      strides.push_back(TensorArgument(steps, k, Kind::kInteger).integer);
      const std::int64_t dim = header.shape.back(), stride = strides.back();
      // products of two such numbers stay below 2^63
      if (dim < 0 || dim > storage.integer || stride < 0 || stride > kMaxStorageItems || last < 0 ||
          last > kMaxStorageItems || count > kMaxStorageItems) {
        Fail("a tensor beyond its storage");
      }
      count *= dim;
      last += std::max<std::int64_t>(dim - 1, 0) * (dim > 0 ? stride : 0);
    }
    if (offset < 0 || count > storage.integer || (count > 0 && last >= storage.integer)) {
      Fail(fmt::format("a tensor of shape [{}] beyond its storage of {} numbers",
                       fmt::join(header.shape, ", "), storage.integer));
    }
    Node* node = Push({.kind = Kind::kArray, .array = {header.type, header.shape, {}}});
    const std::string& content = ReadStorage(storage);
    Charge(static_cast<std::size_t>(count * NpyItemSize(header.type)));
    node->array.bytes = Gather(content, header, offset, strides);
  }

  // The bytes of a storage. What they are copied to counts as the file's content does.
  const std::string& ReadStorage(const Node& storage) {
    const std::int64_t bytes = storage.integer * NpyItemSize(storage.array.type);
    const auto [found, is_new] = storages_.try_emplace(storage.text);
    std::string& content = found->second;
    if (is_new) {
      content = options_.storage(storage.text, bytes);
      copy_budget_ += kMaxCopies * std::ssize(content);
    }
    if (std::ssize(content) != bytes) {
      Fail(fmt::format("storage {} of {} bytes, expected {}", storage.text, content.size(), bytes));
    }
    return content;
  }

  // The items of a tensor in C order.
  static std::vector<std::byte> Gather(const std::string& storage, const NpyHeader& header,
                                       std::int64_t offset,
                                       const std::vector<std::int64_t>& strides) {
    const std::int64_t item = NpyItemSize(header.type);
    std::int64_t count = 1;
    for (const std::int64_t dim : header.shape) count *= dim;
    std::vector<std::byte> out(static_cast<std::size_t>(count * item));
    std::vector<std::int64_t> index(header.shape.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t from = offset;
      for (std::size_t k = 0; k < index.size(); ++k) from += index[k] * strides[k];
      std::memcpy(out.data() + i * item, storage.data() + from * item,
                  static_cast<std::size_t>(item));
      for (std::size_t k = index.size(); k-- > 0;) {
        if (++index[k] < header.shape[k]) break;
        index[k] = 0;
      }
    }
    return out;
  }

  // numpy 2 has renamed numpy.core to numpy._core.
  void PushGlobal(std::string module, const std::string& name) {
    if (module.starts_with("numpy._core")) module = "numpy.core" + module.substr(11);
    const std::string global = module + "." + name;
    for (const char* known : {"numpy.core.multiarray._reconstruct", "numpy.core.multiarray.scalar",
                              "numpy.ndarray", "numpy.dtype", "numpy.core.numeric._frombuffer",
                              "_codecs.encode", "collections.OrderedDict"}) {
      if (global == known) {
        Push({.kind = Node::Kind::kGlobal, .text = global});
        return;
      }
    }
    const bool tensor = global == "torch._utils._rebuild_tensor_v2" || StorageType(global);
    if (options_.objects || (options_.storage && tensor)) {
      Push({.kind = Node::Kind::kGlobal, .text = global});
      return;
    }
    Fail(
        fmt::format("it asks for {}, which could run code; only dictionaries, lists, texts, "
                    "numbers and numpy arrays are read",
                    global.substr(0, 100)));
  }

  const Node& Argument(const std::vector<Node*>& arguments, std::size_t index,
                       Node::Kind kind) const {
    if (index >= arguments.size() || arguments[index]->kind != kind) {
      Fail("a numpy array that is not written as numpy does");
    }
    return *arguments[index];
  }

  void Reduce(const Node& function, const std::vector<Node*>& arguments) {
    using Kind = Node::Kind;
    if (options_.objects && function.kind == Kind::kObject) return PushObject(function, arguments);
    if (function.kind != Kind::kGlobal) Fail("a call of what is no function");
    if (function.text == "collections.OrderedDict" && arguments.empty()) {
      Push({.kind = Kind::kDict});
    } else if (function.text == "numpy.dtype") {
      Push({.kind = Kind::kDtype, .text = Argument(arguments, 0, Kind::kText).text});
    } else if (function.text == "numpy.core.multiarray._reconstruct") {
      Push({.kind = Kind::kArray});
    } else if (function.text == "numpy.core.multiarray.scalar") {
      Fill(*Push({.kind = Kind::kArray}), Argument(arguments, 0, Kind::kDtype), {}, false,
           Argument(arguments, 1, Kind::kText));
    } else if (function.text == "numpy.core.numeric._frombuffer") {
      Fill(*Push({.kind = Kind::kArray}), Argument(arguments, 1, Kind::kDtype),
           Argument(arguments, 2, Kind::kList).items,
           Argument(arguments, 3, Kind::kText).text == "F", Argument(arguments, 0, Kind::kText));
    } else if (function.text == "_codecs.encode") {
      PushLatin1(Argument(arguments, 0, Kind::kText).text);
    } else if (options_.storage && function.text == "torch._utils._rebuild_tensor_v2") {
      PushTensor(arguments);
    } else if (options_.objects) {
      PushObject(function, arguments);
    } else {
      Fail(fmt::format("a call of {}", function.text));
    }
  }

  // Protocol 2 writes bytes as a text of the code points 0 to 255.
  void PushLatin1(const std::string& text) {
    Charge(text.size());
    std::string latin1;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte < 0x80) {
        latin1 += text[i];
      } else if ((byte == 0xc2 || byte == 0xc3) && i + 1 < text.size()) {
        latin1 += static_cast<char>(((byte & 3) << 6) | (text[++i] & 0x3f));
      } else {
        Fail("bytes that are not written as latin-1 text");
      }
    }
    Push({.kind = Node::Kind::kText, .text = std::move(latin1)});
  }

  // State that follows a dtype or an array (numpy's __setstate__).
  void Build(Node* target, const Node& state_node) {
    using Kind = Node::Kind;
    const std::vector<Node*>& state = state_node.items;
    if (target->kind == Kind::kDtype) {
      const std::string& order = Argument(state, 1, Kind::kText).text;
      Argument(state, 3, Kind::kNone);
      if (order == ">") Fail("a big-endian array, expected little-endian");
    } else if (target->kind == Kind::kArray) {
      Fill(*target, Argument(state, 2, Kind::kDtype), Argument(state, 1, Kind::kList).items,
           Argument(state, 3, Kind::kBool).integer != 0, Argument(state, 4, Kind::kText));
    } else if (options_.objects && target->kind == Kind::kObject) {
      target->state = &state_node;
    } else if (!((options_.storage || options_.objects) && target->kind == Kind::kDict)) {
      // what a dictionary of PyTorch keeps beside its items is of no use here
      Fail("state of an object that is no numpy array");
    }
  }

  void Fill(Node& node, const Node& dtype, const std::vector<Node*>& dims, bool fortran_order,
            const Node& content) {
    Charge(content.text.size());
    if (dims.size() > kMaxPickleRank) Fail(fmt::format("an array of {} dimensions", dims.size()));
    NpyHeader header{.type = dtype.text, .shape = {}, .fortran_order = fortran_order};
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const std::int64_t dim = Argument(dims, k, Node::Kind::kInteger).integer;
      if (dim < 0) Fail(fmt::format("an array with dimension {}", dim));
      header.shape.push_back(dim);
    }
    if (NpyItemSize(header.type) == 0) {
      Fail(fmt::format("an array of type '{}', expected plain numbers", header.type.substr(0, 40)));
    }
    const std::int64_t expected = NpyByteCount(header, source_);
    if (expected != std::ssize(content.text)) {
      Fail(fmt::format("an array of shape [{}] and type {} with {} bytes, expected {}",
                       fmt::join(header.shape, ", "), header.type, content.text.size(), expected));
    }
    const auto bytes = std::as_bytes(std::span(content.text));
    node.array = {header.type, header.shape, {bytes.begin(), bytes.end()}};
    if (fortran_order && header.shape.size() > 1) {
      node.array.bytes = RowMajorBytes(node.array.bytes, header);
    }
  }

  // The tree below a node.
  PickleValue Convert(const Node& node, int depth) {
    using Kind = Node::Kind;
    if (depth > kMaxPickleDepth)
      Fail(fmt::format("values nested more than {} deep", kMaxPickleDepth));
    Charge(1 + node.text.size() + node.array.bytes.size());
    switch (node.kind) {
      case Kind::kBool:
        return {node.integer != 0};
      case Kind::kInteger:
        return {node.integer};
      case Kind::kFloat:
        return {node.number};
      case Kind::kText:
        return {node.text};
      case Kind::kArray:
        return {node.array};
      case Kind::kList:
        return {ConvertItems(node, depth)};
      case Kind::kDict:
        return {ConvertPairs(node, depth)};
      case Kind::kNone:
        return {};
      case Kind::kObject:
        return {ConvertObject(node, depth)};
      case Kind::kGlobal:
      case Kind::kDtype:
        if (options_.objects) return {PickleValue::Object{node.text, {}, {}}};
        [[fallthrough]];
      case Kind::kStorage:
        Fail(fmt::format("{} where a value is expected", node.text));
    }
    return {};
  }

  PickleValue::List ConvertItems(const Node& node, int depth) {
    PickleValue::List list;
    for (const Node* item : node.items) list.push_back(Convert(*item, depth + 1));
    return list;
  }

  PickleValue::Object ConvertObject(const Node& node, int depth) {
    PickleValue::Object object{node.text, ConvertItems(node, depth), {}};
    if (node.state != nullptr) object.state.push_back(Convert(*node.state, depth + 1));
    return object;
  }

  PickleValue::Dict ConvertPairs(const Node& node, int depth) {
    PickleValue::Dict dict;
    for (std::size_t k = 0; k + 1 < node.items.size(); k += 2) {
      PickleValue key = Convert(*node.items[k], depth + 1);
      dict.push_back({std::move(key), Convert(*node.items[k + 1], depth + 1)});
    }
    return dict;
  }

  std::string_view bytes_;
  const std::string& source_;
  const PickleOptions& options_;
  std::size_t at_ = 0;
  std::deque<Node> nodes_;
  std::vector<Node*> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Node*> memo_;
  std::map<std::string, std::string> storages_;  // by their keys
  std::int64_t copy_budget_;
};

template <class T>
NpzArray ScalarArray(std::string type, T value) {
  NpzArray array{std::move(type), {}, std::vector<std::byte>(sizeof(T))};
  std::memcpy(array.bytes.data(), &value, sizeof(T));
  return array;
}

void PutValue(const std::string& name, const PickleValue& item, const std::string& source,
              NpzFile& file) {
  if (const auto* array = std::get_if<NpzArray>(&item.value)) {
    file.Put(name, *array);
  } else if (const auto* text = std::get_if<std::string>(&item.value)) {
    file.Put(name, *text);
  } else if (const auto* integer = std::get_if<std::int64_t>(&item.value)) {
    file.Put(name, ScalarArray("i8", *integer));
  } else if (const auto* number = std::get_if<double>(&item.value)) {
    file.Put(name, ScalarArray("f8", *number));
  } else {
    Throw<DataError>("{}: '{}' is no array, text or number", source, name);
  }
}

}  // namespace

PickleValue ParsePickle(std::string_view bytes, const std::string& source,
                        const PickleOptions& options) {
  return Parser(bytes, source, options).Parse();
}

const PickleValue* FindKey(const PickleValue& value, std::string_view key) {
  if (const auto* object = std::get_if<PickleValue::Object>(&value.value)) {
    return object->state.empty() ? nullptr : FindKey(object->state.front(), key);
  }
  const auto* dict = std::get_if<PickleValue::Dict>(&value.value);
  if (dict == nullptr) return nullptr;
  for (const auto& [name, item] : *dict) {
    const auto* text = std::get_if<std::string>(&name.value);
    if (text != nullptr && *text == key) return &item;
  }
  return nullptr;
}

NpzFile ArraysOfDict(const PickleValue& value, const std::string& source) {
  const auto* dict = std::get_if<PickleValue::Dict>(&value.value);
  if (dict == nullptr) Throw<DataError>("{}: the pickle holds no dictionary", source);
  NpzFile file;
  for (const auto& [key, item] : *dict) {
    const auto* name = std::get_if<std::string>(&key.value);
    if (name == nullptr) Throw<DataError>("{}: a key of the dictionary is no text", source);
    PutValue(*name, item, source, file);
  }
  return file;
}

}  // namespace lfiw::core
