#include "core/config/config_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

using Kind = ConfigNode::Kind;

TEST(ParseYamlTest, KeepsStructureOrderLinesAndQuotes) {
  const ConfigNode root = ParseYaml("b: 1\na:\n  - x\n  - '2'\nc:\n", "f.yaml");
  EXPECT_THAT(root.keys, ElementsAre("b", "a", "c"));
  EXPECT_EQ(root.Find("b")->text, "1");
  EXPECT_EQ(root.Find("b")->place, "f.yaml:1");
  EXPECT_FALSE(root.Find("a")->items[0].quoted);
  EXPECT_TRUE(root.Find("a")->items[1].quoted);
  EXPECT_EQ(root.Find("a")->items[1].place, "f.yaml:4");
  EXPECT_EQ(root.Find("c")->kind, Kind::kNull);
  EXPECT_EQ(root.Find("z"), nullptr);
}

TEST(ParseYamlTest, NothingIsAnEmptyMap) {
  EXPECT_EQ(ParseYaml("", "f").kind, Kind::kMap);
  EXPECT_EQ(ParseYaml("# only a comment\n", "f").kind, Kind::kMap);
}

TEST(ParseYamlTest, FaultsNameFileAndLine) {
  const auto expect = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { ParseYaml(text, "f.yaml"); }, ThrowsMessage<ConfigError>(HasSubstr(message)))
        << text;
  };
  expect("a: 1\nb: [1,\n", "f.yaml:");
  expect("a: 1\nb: 2\na: 3\n", "f.yaml:3: key 'a' twice");
  expect("a: &x 1\n", "f.yaml:1: anchors and aliases");
  expect("a: 1\n---\nb: 2\n", "f.yaml: more than one document");
  expect("[1, 2]: 3\n", "f.yaml:1: a key that is not a plain text");
  expect("a: !!python/object x\n", "f.yaml:1: the tag");
  expect(std::string(100, '[') + std::string(100, ']'), "f.yaml:1: nested too deeply");
}

TEST(ApplyOverrideTest, SetsReplacesAndCreates) {
  ConfigNode root = ParseYaml("a:\n  b: 1\n", "f");
  ApplyOverride(root, "a.b=2");
  ApplyOverride(root, "a.c.d=[1, 2]");
  ApplyOverride(root, "e=");
  EXPECT_EQ(EmitCanonicalJson(root), R"({"a":{"b":2,"c":{"d":[1,2]}},"e":""})");
  EXPECT_EQ(root.Find("a")->Find("b")->place, "argument 'a.b=2'");
}

TEST(ApplyOverrideTest, AValueMayHoldEqualsSignsAndColons) {
  ConfigNode root = ConfigNode::Map();
  ApplyOverride(root, "a=x=y");
  ApplyOverride(root, "b=C:/d");
  EXPECT_EQ(root.Find("a")->text, "x=y");
  EXPECT_EQ(root.Find("b")->text, "C:/d");
}

TEST(ApplyOverrideTest, NumbersIndexLists) {
  ConfigNode root = ParseYaml("a: [{b: 1}, {b: 2}]\n", "f");
  ApplyOverride(root, "a.1.b=3");
  EXPECT_EQ(EmitCanonicalJson(root), R"({"a":[{"b":1},{"b":3}]})");
  EXPECT_THAT([&] { ApplyOverride(root, "a.2.b=3"); },
              ThrowsMessage<ConfigError>(HasSubstr("'2' is no index of a list of 2")));
}

TEST(ApplyOverrideTest, MalformedArgumentsAreNamed) {
  ConfigNode root = ParseYaml("a: 1\n", "f.yaml");
  EXPECT_THAT([&] { ApplyOverride(root, "a"); },
              ThrowsMessage<ConfigError>("argument 'a': expected key.path=value"));
  EXPECT_THAT([&] { ApplyOverride(root, "a.b=1"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("'b' is inside a plain value"), HasSubstr("f.yaml:1"))));
  EXPECT_THAT([&] { ApplyOverride(root, "a=[1"); },
              ThrowsMessage<ConfigError>(StartsWith("argument 'a=[1'")));
}

TEST(EmitYamlTest, ParsesBackToTheSameNode) {
  ConfigNode root = ConfigNode::Map();
  for (const char* text : {"", "plain", "a/b.npz", "true", "No", "null", "12", "a: b", "# x", "é",
                           "line\nbreak", "\"quotes\"", " space ", "\\", "-", "~", "1e3"}) {
    root.Add(std::string("key of ") + text, ConfigNode::Text(text));
  }
  ConfigNode list = ConfigNode::List();
  ConfigNode inner = ConfigNode::Map();
  inner.Add("x", ConfigNode::Scalar("1.5"));
  inner.Add("y", ConfigNode::List());
  list.items = {inner, ConfigNode{}, ConfigNode::Map(), inner};
  root.Add("list", list);
  const ConfigNode again = ParseYaml(EmitYaml(root), "f");
  EXPECT_EQ(EmitYaml(again), EmitYaml(root));
  EXPECT_EQ(again.keys, root.keys);
  for (std::size_t i = 0; i + 1 < root.items.size(); ++i) {
    EXPECT_EQ(again.items[i].text, root.items[i].text);
    EXPECT_EQ(again.items[i].kind, Kind::kScalar);
  }
}

TEST(EmitYamlTest, BlocksForMapsAndOneLineForLists) {
  const std::string text =
      "a:\n"
      "  b: [1, 2]\n"
      "c:\n"
      "  - d: 1\n"
      "    e: {}\n"
      "  - d: 2\n";
  EXPECT_EQ(EmitYaml(ParseYaml(text, "f")), text);
}

TEST(EmitYamlTest, CommentsStandInOneColumnWhenAsked) {
  ConfigNode root = ConfigNode::Map();
  ConfigNode item = ConfigNode::Scalar("1");
  item.comment = "what it is";
  root.Add("a", item);
  EXPECT_EQ(EmitYaml(root), "a: 1\n");
  EXPECT_EQ(EmitYaml(root, YamlComments::kWrite), "a: 1" + std::string(32, ' ') + "# what it is\n");
}

TEST(EmitCanonicalJsonTest, SortsKeysAndQuotesTexts) {
  EXPECT_EQ(EmitCanonicalJson(ParseYaml("b: 'x\"'\na: [1, .inf]\nc:\n", "f")),
            R"({"a":[1,".inf"],"b":"x\"","c":null})");
}

}  // namespace
}  // namespace lfiw::core
