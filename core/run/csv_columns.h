#ifndef LFIW_CORE_RUN_CSV_COLUMNS_H_
#define LFIW_CORE_RUN_CSV_COLUMNS_H_

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/run/csv_text.h"

namespace lfiw::core {

// Whether CsvCell writes a value of this type as a text.
template <class T>
inline constexpr bool kIsText =
    std::convertible_to<T, std::string_view> || std::same_as<std::remove_cvref_t<T>, QuotedText>;

// A column of a CSV file whose lines are made from rows of type Row.
template <class Row>
struct CsvColumn {
  // `accessor` is a member of Row or a function of it; its result is written by CsvCell. `unit` is
  // empty for a text and for a pure number.
  template <class Accessor>
  CsvColumn(std::string its_name, std::string its_unit, std::string its_meaning, Accessor accessor)
      : name(std::move(its_name)),
        unit(std::move(its_unit)),
        meaning(std::move(its_meaning)),
        is_text(kIsText<std::invoke_result_t<Accessor, const Row&>>),
        cell([accessor](const Row& row) { return CsvCell(std::invoke(accessor, row)); }) {}

  std::string name;
  std::string unit;
  std::string meaning;
  bool is_text;  // rather than a number
  std::function<std::string(const Row&)> cell;
};

// The columns of a CSV file, declared once for its header, its lines and its documentation:
//
//   const CsvColumns<Point> columns = {
//       {"steps", "steps", "environment steps so far", &Point::steps},
//       {"loss", "nats", "mean over a batch", [](const Point& p) { return p.sum / p.count; }}};
//   directory.Write("curve.csv", columns.Format(points));
template <class Row>
class CsvColumns {
 public:
  CsvColumns(std::initializer_list<CsvColumn<Row>> columns) : columns_(columns) {}
  explicit CsvColumns(std::vector<CsvColumn<Row>> columns) : columns_(std::move(columns)) {}

  const std::vector<CsvColumn<Row>>& columns() const { return columns_; }

  // Returns the names on one line.
  std::string Header() const {
    return Joined([](const CsvColumn<Row>& column) { return column.name; });
  }

  // Returns the cells of a row on one line.
  std::string Line(const Row& row) const {
    return Joined([&](const CsvColumn<Row>& column) { return column.cell(row); });
  }

  // Returns the file (RFC 4180): the header, then a line for each row.
  template <class Rows>
  std::string Format(const Rows& rows) const {
    std::string csv = Header();
    for (const Row& row : rows) csv += Line(row);
    return csv;
  }

  // Returns the documentation of the file, a line such as "loss [nats]: mean over a batch" for each
  // column.
  std::string Describe() const {
    std::string text;
    for (const CsvColumn<Row>& column : columns_) {
      const std::string unit = column.unit.empty() ? "" : " [" + column.unit + "]";
      text += column.name + unit + ": " + column.meaning + "\n";
    }
    return text;
  }

 private:
  template <class Text>
  std::string Joined(const Text& text) const {
    std::string line;
    for (const CsvColumn<Row>& column : columns_) {
      if (&column != &columns_.front()) line += ',';
      line += text(column);
    }
    return line + '\n';
  }

  std::vector<CsvColumn<Row>> columns_;
};

// Makes an accessor whose text is quoted even where it need not be.
template <class Accessor>
auto InQuotes(Accessor accessor) {
  return
      [accessor](const auto& row) { return QuotedText{std::string(std::invoke(accessor, row))}; };
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_CSV_COLUMNS_H_
