#include "core/nearest_name.h"

#include <algorithm>
#include <vector>

#include "core/index_list.h"

namespace lfiw::core {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row = IndexList(b.size() + 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] =
          std::min({above + 1, row[j] + 1, diagonal + static_cast<std::size_t>(a[i] != b[j])});
      diagonal = above;
    }
  }
  return row.back();
}

std::optional<std::size_t> NearestName(std::string_view name,
                                       std::span<const std::string_view> names,
                                       std::size_t max_distance) {
  std::optional<std::size_t> nearest;
  std::size_t smallest = max_distance;
  for (std::size_t i = 0; i < names.size(); ++i) {
    // part of a name counts as near: `rate` and `learning_rate`
    const bool part = name.size() >= 4 && names[i].find(name) != std::string_view::npos;
    const std::size_t distance = part ? 1 : EditDistance(name, names[i]);
    if (distance < smallest || (!nearest && distance == smallest)) {
      nearest = i;
      smallest = distance;
    }
  }
  return nearest;
}

}  // namespace lfiw::core
