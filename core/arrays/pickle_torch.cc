#include "core/arrays/pickle_torch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace lfiw::core {
namespace {

using Kind = PickleNode::Kind;
using Nodes = std::vector<PickleNode*>;

constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
// Numbers of a storage.
constexpr std::int64_t kMaxStorageItems = std::int64_t{1} << 31;

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

constexpr const char* kNotTorch = "a tensor that is not written as PyTorch does";

// The items of a tensor in C order.
std::vector<std::byte> Gather(const std::string& storage, const NpyHeader& header,
                              std::int64_t offset, const std::vector<std::int64_t>& strides) {
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

}  // namespace

bool TorchTensors::Knows(std::string_view global) {
  return global == kRebuildTensor || StorageType(global) != nullptr;
}

bool TorchTensors::Call(const PickleNode& function, const Nodes& arguments) {
  if (function.text != kRebuildTensor) return false;
  PushTensor(arguments);
  return true;
}

// The tuple that PyTorch writes for a storage: "storage", its class, key, device, size.
void TorchTensors::PushStorage(const Nodes& id) {
  const char* type = StorageType(stack_.Argument(id, 1, Kind::kGlobal, kNotTorch).text);
  if (type == nullptr) stack_.Fail(fmt::format("a storage of {}", id[1]->text));
  const std::int64_t size = stack_.Argument(id, 4, Kind::kInteger, kNotTorch).integer;
  if (size < 0 || size > kMaxStorageItems)
    stack_.Fail(fmt::format("a storage of {} numbers", size));
  stack_.Push({.kind = Kind::kStorage,
               .integer = size,
               .text = stack_.Argument(id, 2, Kind::kText, kNotTorch).text,
               .array = {type, {}, {}}});
}

// The arguments of torch._utils._rebuild_tensor_v2: storage, offset, size, stride, ...
void TorchTensors::PushTensor(const Nodes& arguments) {
  const PickleNode& storage = stack_.Argument(arguments, 0, Kind::kStorage, kNotTorch);
  const std::int64_t offset = stack_.Argument(arguments, 1, Kind::kInteger, kNotTorch).integer;
  const Nodes& dims = stack_.Argument(arguments, 2, Kind::kList, kNotTorch).items;
  const Nodes& steps = stack_.Argument(arguments, 3, Kind::kList, kNotTorch).items;
  if (dims.size() != steps.size() || dims.size() > kMaxPickleRank) {
    stack_.Fail(fmt::format("a tensor of {} dimensions and {} strides", dims.size(), steps.size()));
  }
  NpyHeader header{.type = storage.array.type, .shape = {}, .fortran_order = false};
  std::vector<std::int64_t> strides;
  std::int64_t count = 1, last = offset;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    header.shape.push_back(stack_.Argument(dims, k, Kind::kInteger, kNotTorch).integer);
    strides.push_back(stack_.Argument(steps, k, Kind::kInteger, kNotTorch).integer);
    const std::int64_t dim = header.shape.back(), stride = strides.back();
    // products of two such numbers stay below 2^63
    if (dim < 0 || dim > storage.integer || stride < 0 || stride > kMaxStorageItems || last < 0 ||
        last > kMaxStorageItems || count > kMaxStorageItems) {
      stack_.Fail("a tensor beyond its storage");
    }
    count *= dim;
    last += std::max<std::int64_t>(dim - 1, 0) * (dim > 0 ? stride : 0);
  }
  if (offset < 0 || count > storage.integer || (count > 0 && last >= storage.integer)) {
    stack_.Fail(fmt::format("a tensor of shape [{}] beyond its storage of {} numbers",
                            fmt::join(header.shape, ", "), storage.integer));
  }
  PickleNode* node = stack_.Push({.kind = Kind::kArray, .array = {header.type, header.shape, {}}});
  const std::string& content = ReadStorage(storage);
  stack_.Charge(static_cast<std::size_t>(count * NpyItemSize(header.type)));
  node->array.bytes = Gather(content, header, offset, strides);
}

// The bytes of a storage. What they are copied to counts as the file's content does.
const std::string& TorchTensors::ReadStorage(const PickleNode& storage) {
  const std::int64_t bytes = storage.integer * NpyItemSize(storage.array.type);
  const auto [found, is_new] = storages_.try_emplace(storage.text);
  std::string& content = found->second;
  if (is_new) {
    content = storage_(storage.text, bytes);
    stack_.CountInput(content.size());
  }
  if (std::ssize(content) != bytes) {
    stack_.Fail(
        fmt::format("storage {} of {} bytes, expected {}", storage.text, content.size(), bytes));
  }
  return content;
}

}  // namespace lfiw::core
