#include "core/arrays/pickle_numpy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "core/arrays/npy_header.h"

namespace lfiw::core {
namespace {

using Kind = PickleNode::Kind;
using Nodes = std::vector<PickleNode*>;

constexpr std::array<std::string_view, 6> kGlobals = {"numpy.core.multiarray._reconstruct",
                                                      "numpy.core.multiarray.scalar",
                                                      "numpy.ndarray",
                                                      "numpy.dtype",
                                                      "numpy.core.numeric._frombuffer",
                                                      "_codecs.encode"};

constexpr const char* kNotNumpy = "a numpy array that is not written as numpy does";

// Protocol 2 writes bytes as a text of the code points 0 to 255.
void PushLatin1(const std::string& text, PickleStack& stack) {
  stack.Charge(text.size());
  std::string latin1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      latin1 += text[i];
    } else if ((byte == 0xc2 || byte == 0xc3) && i + 1 < text.size()) {
      latin1 += static_cast<char>(((byte & 3) << 6) | (text[++i] & 0x3f));
    } else {
      stack.Fail("bytes that are not written as latin-1 text");
    }
  }
  stack.Push({.kind = Kind::kText, .text = std::move(latin1)});
}

// The shape, type and order of an array whose items are `content`.
struct ArrayState {
  const PickleNode& dtype;
  const Nodes& dims;
  bool fortran_order;
  const PickleNode& content;
};

void Fill(PickleNode& node, const ArrayState& state, PickleStack& stack) {
  stack.Charge(state.content.text.size());
  if (state.dims.size() > kMaxPickleRank)
    stack.Fail(fmt::format("an array of {} dimensions", state.dims.size()));
  NpyHeader header{.type = state.dtype.text, .shape = {}, .fortran_order = state.fortran_order};
  for (std::size_t k = 0; k < state.dims.size(); ++k) {
    const std::int64_t dim = stack.Argument(state.dims, k, Kind::kInteger, kNotNumpy).integer;
    if (dim < 0) stack.Fail(fmt::format("an array with dimension {}", dim));
    header.shape.push_back(dim);
  }
  if (NpyItemSize(header.type) == 0) {
    stack.Fail(
        fmt::format("an array of type '{}', expected plain numbers", header.type.substr(0, 40)));
  }
  const std::int64_t expected = NpyByteCount(header, stack.source());
  if (expected != std::ssize(state.content.text)) {
    stack.Fail(fmt::format("an array of shape [{}] and type {} with {} bytes, expected {}",
                           fmt::join(header.shape, ", "), header.type, state.content.text.size(),
                           expected));
  }
  const auto bytes = std::as_bytes(std::span(state.content.text));
  node.array = {header.type, header.shape, {bytes.begin(), bytes.end()}};
  if (header.fortran_order && header.shape.size() > 1) {
    node.array.bytes = RowMajorBytes(node.array.bytes, header);
  }
}

}  // namespace

bool IsNumpyGlobal(std::string_view global) {
  return std::ranges::find(kGlobals, global) != kGlobals.end();
}

bool CallNumpy(const PickleNode& function, const Nodes& arguments, PickleStack& stack) {
  const auto argument = [&](std::size_t index, Kind kind) -> const PickleNode& {
    return stack.Argument(arguments, index, kind, kNotNumpy);
  };
  if (function.text == "numpy.dtype") {
    stack.Push({.kind = Kind::kDtype, .text = argument(0, Kind::kText).text});
  } else if (function.text == "numpy.core.multiarray._reconstruct") {
    stack.Push({.kind = Kind::kArray});
  } else if (function.text == "numpy.core.multiarray.scalar") {
    PickleNode& node = *stack.Push({.kind = Kind::kArray});
    Fill(node, {argument(0, Kind::kDtype), {}, false, argument(1, Kind::kText)}, stack);
  } else if (function.text == "numpy.core.numeric._frombuffer") {
    PickleNode& node = *stack.Push({.kind = Kind::kArray});
    Fill(node,
         {argument(1, Kind::kDtype), argument(2, Kind::kList).items,
          argument(3, Kind::kText).text == "F", argument(0, Kind::kText)},
         stack);
  } else if (function.text == "_codecs.encode") {
    PushLatin1(argument(0, Kind::kText).text, stack);
  } else {
    return false;
  }
  return true;
}

bool BuildNumpy(PickleNode& target, const Nodes& state, PickleStack& stack) {
  const auto argument = [&](std::size_t index, Kind kind) -> const PickleNode& {
    return stack.Argument(state, index, kind, kNotNumpy);
  };
  if (target.kind == Kind::kDtype) {
    const std::string& order = argument(1, Kind::kText).text;
    argument(3, Kind::kNone);
    if (order == ">") stack.Fail("a big-endian array, expected little-endian");
    return true;
  }
  if (target.kind != Kind::kArray) return false;
  Fill(target,
       {argument(2, Kind::kDtype), argument(1, Kind::kList).items,
        argument(3, Kind::kBool).integer != 0, argument(4, Kind::kText)},
       stack);
  return true;
}

}  // namespace lfiw::core
