#include "experiments/presentation/json_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;

TEST(JsonObject, AbsentNullAndNotFiniteMembersAreMissing) {
  Json json = {{"null", nullptr}, {"one", 1}};
  json["nan"] = std::numeric_limits<double>::quiet_NaN();
  json["inf"] = std::numeric_limits<double>::infinity();
  const JsonObject object(json, "r.json");
  EXPECT_EQ(object.Number("one"), 1.0);
  for (const char* key : {"absent", "null", "nan", "inf"})
    EXPECT_FALSE(object.Number(key).has_value()) << key;
  EXPECT_EQ(object.Text("null"), "");
  EXPECT_FALSE(object.Flag("absent"));
  EXPECT_TRUE(object.Numbers("null").empty());
  EXPECT_TRUE(object.Objects("absent").empty());
  EXPECT_FALSE(object.Object("null").has_value());
}

TEST(JsonObject, NullEntriesOfNumbersBecomeNan) {
  const Json json = {{"x", {1, nullptr, 3}}};
  const std::vector<double> x = JsonObject(json, "r.json").Numbers("x", 3);
  EXPECT_EQ(x[0], 1.0);
  EXPECT_TRUE(std::isnan(x[1]));
  EXPECT_EQ(x[2], 3.0);
}

TEST(JsonObject, WrongTypeIsNamedWithItsPath) {
  const Json json = {{"rows", {Json::object(), {{"value", "high"}}}}, {"list", {1, "a"}}};
  const JsonObject root(json, "r.json");
  const JsonObject row = root.Objects("rows")[1];
  EXPECT_THAT(
      [&] { (void)row.Number("value"); },
      ThrowsMessage<DataError>("r.json: rows[1].value: found a string, expected a number or null"));
  EXPECT_THAT(
      [&] { (void)root.Numbers("list"); },
      ThrowsMessage<DataError>("r.json: list[1]: found a string, expected a number or null"));
  EXPECT_THAT([&] { (void)root.Object("list"); },
              ThrowsMessage<DataError>("r.json: list: found an array, expected an object"));
  EXPECT_THAT([] { JsonObject(Json::array(), "r.json"); },
              ThrowsMessage<DataError>("r.json: found an array, expected an object"));
}

TEST(JsonObject, WrongLengthIsNamedWithBoth) {
  const Json json = {{"x", {1, 2}}};
  EXPECT_THAT([&] { (void)JsonObject(json, "r.json").Numbers("x", 3); },
              ThrowsMessage<DataError>("r.json: x: found 2 entries, expected 3"));
}

TEST(JsonObject, AnyTextShowsStringsBareAndTheRestAsJson) {
  const Json json = {{"a", "text"}, {"b", 2}, {"c", {{"d", true}}}};
  const JsonObject object(json, "r.json");
  EXPECT_EQ(object.AnyText("a"), "text");
  EXPECT_EQ(object.AnyText("b"), "2");
  EXPECT_EQ(object.AnyText("c"), "{\"d\":true}");
  EXPECT_EQ(object.AnyText("e"), "");
  EXPECT_THAT(object.Keys(), ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace lfiw::experiments
