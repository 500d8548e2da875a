#include "experiments/presentation/event_file.h"

#include <bit>
#include <boost/crc.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

// A name that TensorBoard takes for an event file.
constexpr const char* kFileName = "events.out.tfevents.0.lfiw";

// Of a field of a protocol buffer.
enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

template <class Unsigned>
std::string LittleEndian(Unsigned number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(number); ++i) {
    bytes.push_back(static_cast<char>(number >> (8 * i) & 0xff));
  }
  return bytes;
}

std::string Varint(std::uint64_t number) {
  std::string bytes;
  for (; number > 0x7f; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
  return bytes;
}

std::string Field(std::uint64_t number, WireType type, const std::string& value) {
  return Varint(number << 3 | static_cast<std::uint64_t>(type)) + value;
}

std::string BytesField(std::uint64_t number, const std::string& value) {
  return Field(number, WireType::kBytes, Varint(value.size()) + value);
}

// CRC-32C, rotated and shifted as records hold it.
std::uint32_t MaskedCrc(const std::string& bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + 0xa282ead8u;
}

}  // namespace

EventFile::EventFile() { Append(BytesField(3, "brain.Event:2")); }

void EventFile::Add(const std::string& tag, std::int64_t step, double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::string scalar = BytesField(1, tag) + Field(2, WireType::kFixed32, LittleEndian(bits));
  Append(Field(2, WireType::kVarint, Varint(static_cast<std::uint64_t>(step))) +
         BytesField(5, BytesField(1, scalar)));
}

void EventFile::Append(const std::string& event) {
  // wall_time, the first field, is always there
  const std::string record = Field(1, WireType::kFixed64, LittleEndian(std::uint64_t{0})) + event;
  const std::string length = LittleEndian(static_cast<std::uint64_t>(record.size()));
  bytes_ += length + LittleEndian(MaskedCrc(length)) + record + LittleEndian(MaskedCrc(record));
}

std::string EventsOfMetrics(const std::string& lines) {
  EventFile events;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const auto point = nlohmann::json::parse(line, nullptr, false);
    if (!point.is_object() || !point.contains("series") || !point.contains("step")) {
      Throw<DataError>("metrics: {}: expected an object with series and step", line);
    }
    for (const auto& [name, value] : point.items()) {
      if (name == "step" || !value.is_number()) continue;
      events.Add(std::string(point["series"]) + "/" + name, point["step"].get<std::int64_t>(),
                 value.get<double>());
    }
  }
  return events.bytes();
}

void WriteMetrics(const RunDirectory& directory, const std::string& lines,
                  const std::string& estimates) {
  directory.Write("metrics.jsonl", lines);
  directory.Write(kFileName, EventsOfMetrics(lines + estimates));
}

}  // namespace lfiw::experiments
