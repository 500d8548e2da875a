#include "core/arrays/pickle.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "core/arrays/pickle_numpy.h"
#include "core/arrays/pickle_ops.h"
#include "core/arrays/pickle_plain.h"
#include "core/arrays/pickle_stack.h"
#include "core/arrays/pickle_torch.h"
#include "core/error.h"

namespace lfiw::core {
namespace {

using Kind = PickleNode::Kind;

// Deeper nesting is an attack, and values are walked recursively.
constexpr int kMaxPickleDepth = 64;
constexpr std::string_view kOrderedDict = "collections.OrderedDict";

// Carries out the opcodes of a pickle and converts what is left on the stack.
class Parser {
 public:
  Parser(std::string_view bytes, const std::string& source, const PickleOptions& options)
      : options_(options),
        stack_(bytes, source, options.objects ? PickleObjects::kKept : PickleObjects::kRefused),
        tensors_(options.storage, stack_) {}

  PickleValue Parse() {
    for (;;) {
      const auto op = static_cast<unsigned char>(stack_.Take(1)[0]);
      if (op == PickleOp::kStop) break;
      if (!ReadPlain(op, stack_) && !Call(op) && !Extended(op)) {
        stack_.Fail(
            fmt::format("opcode 0x{:02x}, which plain data and numpy arrays do not need", op));
      }
    }
    return Convert(*stack_.Pop(), 0);
  }

 private:
  bool Call(unsigned char op) {
    switch (op) {
      case PickleOp::kProto:
        if (const std::uint64_t version = stack_.TakeNumber(1); version < 2 || version > 5) {
          stack_.Fail(fmt::format("protocol {}, expected 2 to 5", version));
        }
        return true;
      case PickleOp::kFrame:
        stack_.Take(8);
        return true;
      case PickleOp::kGlobal: {
        const std::string module = stack_.TakeLine();
        PushGlobal(module, stack_.TakeLine());
        return true;
      }
      case PickleOp::kStackGlobal: {
        const std::vector<PickleNode*> names = stack_.PopSome(2);
        PushGlobal(names[0]->text, names[1]->text);
        return true;
      }
      case PickleOp::kReduce: {
        const PickleNode* arguments = stack_.Pop();
        Reduce(*stack_.Pop(), arguments->items);
        return true;
      }
      case PickleOp::kBuild: {
        const PickleNode* state = stack_.Pop();
        Build(stack_.Top(), *state);
        return true;
      }
      default:
        return false;
    }
  }

  // What only objects and tensors need.
  bool Extended(unsigned char op) {
    if (op == PickleOp::kPersistentId && options_.storage) {
      tensors_.PushStorage(stack_.Pop()->items);
      return true;
    }
    if (!options_.objects) return false;
    switch (op) {
      case PickleOp::kPopMark:
        stack_.PopToMark();
        return true;
      case PickleOp::kLong4:
        PushLong(stack_.TakeNumber(4), stack_);
        return true;
      case PickleOp::kEmptySet:
        stack_.PushList({});
        return true;
      case PickleOp::kAddItems: {
        const std::vector<PickleNode*> items = stack_.PopToMark();
        AddToList(stack_.Top(), items, stack_);
        return true;
      }
      case PickleOp::kFrozenSet:
        stack_.PushList(stack_.PopToMark());
        return true;
      case PickleOp::kNewObject:
      case PickleOp::kNewObjectEx: {
        if (op == PickleOp::kNewObjectEx) stack_.Pop();
        const PickleNode* arguments = stack_.Pop();
        PushObject(*stack_.Pop(), arguments->items);
        return true;
      }
      default:
        return false;
    }
  }

  void PushObject(const PickleNode& type, const std::vector<PickleNode*>& arguments) {
    stack_.Charge(type.text.size());
    stack_.Push({.kind = Kind::kObject, .text = type.text, .items = arguments});
  }

  // numpy 2 has renamed numpy.core to numpy._core.
  void PushGlobal(std::string module, const std::string& name) {
    if (module.starts_with("numpy._core")) module = "numpy.core" + module.substr(11);
    const std::string global = module + "." + name;
    const bool tensor = options_.storage && TorchTensors::Knows(global);
    if (!options_.objects && !tensor && !IsNumpyGlobal(global) && global != kOrderedDict) {
      stack_.Fail(
          fmt::format("it asks for {}, which could run code; only dictionaries, lists, texts, "
                      "numbers and numpy arrays are read",
                      global.substr(0, 100)));
    }
    stack_.Push({.kind = Kind::kGlobal, .text = global});
  }

  void Reduce(const PickleNode& function, const std::vector<PickleNode*>& arguments) {
    if (options_.objects && function.kind == Kind::kObject) return PushObject(function, arguments);
    if (function.kind != Kind::kGlobal) stack_.Fail("a call of what is no function");
    if (function.text == kOrderedDict && arguments.empty()) {
      stack_.Push({.kind = Kind::kDict});
      return;
    }
    if (CallNumpy(function, arguments, stack_)) return;
    if (options_.storage && tensors_.Call(function, arguments)) return;
    if (!options_.objects) stack_.Fail(fmt::format("a call of {}", function.text));
    PushObject(function, arguments);
  }

  // State that follows an object.
  void Build(PickleNode* target, const PickleNode& state) {
    if (BuildNumpy(*target, state.items, stack_)) return;
    if (options_.objects && target->kind == Kind::kObject) {
      target->state = &state;
    } else if (!((options_.storage || options_.objects) && target->kind == Kind::kDict)) {
      // what a dictionary of PyTorch keeps beside its items is of no use here
      stack_.Fail("state of an object that is no numpy array");
    }
  }

  // The tree below a node.
  PickleValue Convert(const PickleNode& node, int depth) {
    if (depth > kMaxPickleDepth)
      stack_.Fail(fmt::format("values nested more than {} deep", kMaxPickleDepth));
    stack_.Charge(1 + node.text.size() + node.array.bytes.size());
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
        stack_.Fail(fmt::format("{} where a value is expected", node.text));
    }
    return {};
  }

  PickleValue::List ConvertItems(const PickleNode& node, int depth) {
    PickleValue::List list;
    for (const PickleNode* item : node.items) list.push_back(Convert(*item, depth + 1));
    return list;
  }

  PickleValue::Object ConvertObject(const PickleNode& node, int depth) {
    PickleValue::Object object{node.text, ConvertItems(node, depth), {}};
    if (node.state != nullptr) object.state.push_back(Convert(*node.state, depth + 1));
    return object;
  }

  PickleValue::Dict ConvertPairs(const PickleNode& node, int depth) {
    PickleValue::Dict dict;
    for (std::size_t k = 0; k + 1 < node.items.size(); k += 2) {
      PickleValue key = Convert(*node.items[k], depth + 1);
      dict.push_back({std::move(key), Convert(*node.items[k + 1], depth + 1)});
    }
    return dict;
  }

  const PickleOptions& options_;
  PickleStack stack_;
  TorchTensors tensors_;
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
