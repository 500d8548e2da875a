#ifndef LFIW_CORE_ARRAYS_PICKLE_OPS_H_
#define LFIW_CORE_ARRAYS_PICKLE_OPS_H_

namespace lfiw::core {

// The opcodes of plain data and of numpy's arrays (Python's Lib/pickletools.py).
struct PickleOp {
  enum : unsigned char {
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
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_PICKLE_OPS_H_
