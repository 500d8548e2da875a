#include "models/classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::models {
namespace {

VectorF Vector(std::initializer_list<float> values) {
  VectorF out(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

// Two states (the second next state dropped), one action, one aux; the logit is linear:
// 1 s0 + 2 s1 + 3 a + 4 o0 + 5 aux + 6, with scaled s0 = s0 / 2 and o0 = (o0 - 1) / 4.
RatioClassifier LinearClassifier(bool input_delta, double generated_per_real) {
  TripleScaler scaler{Scaler(Vector({0, 0}), Vector({2, 1})), Scaler(Vector({0}), Vector({1})),
                      Scaler(Vector({1, 0}), Vector({4, 1})), Scaler(Vector({0}), Vector({1})),
                      input_delta};
  scaler.outcomes.Drop(std::vector<std::int64_t>{1});
  Mlp network(5, 1, {.hidden_layers = 0, .width = 1, .activation = {}, .precision = {}},
              Stream(1, "w"));
  network.parameters() << 1, 2, 3, 4, 5, 6;
  return RatioClassifier(std::move(scaler), std::move(network), generated_per_real);
}

struct Triple {
  MatrixF states{{0.2f, 0.3f}}, actions{{0.4f}}, next_states{{0.7f, 9.0f}}, aux{{0.5f}};
};

double LogRatio(const RatioClassifier& classifier) {
  const Triple t;
  std::vector<double> out(1);
  classifier.LogRatios(t.states, t.actions, t.next_states, t.aux, out);
  return out[0];
}

TEST(RatioClassifier, LogRatioIsTheLogitOfTheScaledTriple) {
  const double rest = 0.1 + 2 * 0.3 + 3 * 0.4 + 5 * 0.5 + 6;
  EXPECT_NEAR(LogRatio(LinearClassifier(false, 1.0)), rest + 4 * (0.7 - 1) / 4, 1e-5);
  EXPECT_NEAR(LogRatio(LinearClassifier(true, 1.0)), rest + 4 * (0.7 - 0.2 - 1) / 4, 1e-5);
}

TEST(RatioClassifier, ClassRatioAddsItsLog) {
  // case C26: 1000 real and 4000 generated rows
  EXPECT_NEAR(LogRatio(LinearClassifier(false, 4.0)) - LogRatio(LinearClassifier(false, 1.0)),
              std::log(4.0), 1e-12);
}

TEST(RatioClassifier, ManyRowsEqualRowsAlone) {
  const RatioClassifier classifier = LinearClassifier(false, 1.0);
  const MatrixF states = MatrixF::Random(1501, 2), actions = MatrixF::Random(1501, 1),
                next_states = MatrixF::Random(1501, 2), aux = MatrixF::Random(1501, 1);
  std::vector<double> all(1501), one(1);
  classifier.LogRatios(states, actions, next_states, aux, all);
  for (const Eigen::Index i : {0, 999, 1000, 1500}) {
    classifier.LogRatios(states.row(i), actions.row(i), next_states.row(i), aux.row(i), one);
    EXPECT_NEAR(all[static_cast<std::size_t>(i)], one[0], 1e-5);
  }
}

TEST(RatioClassifier, LoadsWhatItSaved) {
  const std::string path = TestFile("classifier.npz");
  const RatioClassifier classifier = LinearClassifier(true, 4.0);
  classifier.Save(path);
  EXPECT_EQ(LogRatio(RatioClassifier::Load(path)), LogRatio(classifier));
}

TEST(RatioClassifier, LoadRejectsANetworkOfOtherInputs) {
  const std::string path = TestFile("bad.npz");
  LinearClassifier(true, 4.0).Save(path);
  NpzFile file = NpzFile::Read(path);
  file.Put("actions.active", std::vector<std::int64_t>{});
  file.Write(path);
  EXPECT_THROW(RatioClassifier::Load(path), DataError);
}

}  // namespace
}  // namespace lfiw::models
