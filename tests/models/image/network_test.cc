#include "models/image/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/models/image/gradient_check.h"

namespace lfiw::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// A convolution and a batch norm, with a quadratic loss of their output.
struct SmallStep {
  SmallStep()
      : conv(network.layout, {3, 4, 3, 1, 1}, Initializer::Normal(0.3)), norm(network.layout, 4) {
    PrepareTorchForImages();
    network.Draw(Stream(1, "small"));
  }
  Network network;
  Conv conv;
  BatchNorm norm;
};

std::vector<std::int64_t> FirstIndices(std::int64_t n) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < n; ++i) indices.push_back(i);
  return indices;
}

StepGradient GradientOf(SmallStep& small, std::int64_t chunks) {
  const ImageBatch images = ColorfulImages(8, 8, 3);
  const auto indices = FirstIndices(8);
  return ChunkedGradient(small.network, at::kCPU, chunks, [&](std::int64_t chunk, Pass& pass) {
    const auto [begin, end] = ChunkRange(8, chunks, chunk);
    const at::Tensor x =
        ImageTensor(images, std::span(indices).subspan(static_cast<std::size_t>(begin),
                                                       static_cast<std::size_t>(end - begin)));
    const at::Tensor y = small.conv(pass, x);
    small.norm(pass, y);
    const at::Tensor loss = y.pow(2).sum() / 8.0;
    return ChunkLoss{loss, {loss.item<double>(), 1.0}};
  });
}

TEST(SettleStateTest, RunningMomentsBecomeThoseOfWhatThePassesShow) {
  SmallStep small;
  small.network.state.setConstant(1000.0f);  // of other parameters
  const at::Tensor x = ImageTensor(ColorfulImages(8, 8, 3), FirstIndices(8));
  SettleState(small.network, at::kCPU,
              [&](std::int64_t, Pass& pass) { small.norm(pass, small.conv(pass, x)); });
  const Pass pass = small.network.MakePass(PassMode::kInference, at::kCPU);
  const at::Tensor y = small.conv(pass, x);
  const at::Tensor mean = y.mean({0, 2, 3});
  EXPECT_LT((pass.state[0] - mean).abs().max().item<double>(), 0.1) << "2.7e-5 of 1000 is left";
}

TEST(ChunkedGradientTest, ChunksSumToTheWholeBatch) {
  SmallStep whole, chunked;
  const StepGradient one = GradientOf(whole, 1), four = GradientOf(chunked, 4);
  EXPECT_TRUE(one.gradient.isApprox(four.gradient, 1e-4f));
  EXPECT_NEAR(one.figures[0], four.figures[0], 1e-4 * one.figures[0]);
  EXPECT_EQ(four.figures[1], 4.0);
}

TEST(ChunkedGradientTest, TheNumberOfThreadsDoesNotShow) {
  SmallStep one, two;
  SetThreads(1);
  const StepGradient serial = GradientOf(one, 4);
  SetThreads(2);
  const StepGradient parallel = GradientOf(two, 4);
  SetThreads(0);
  EXPECT_EQ(serial.gradient, parallel.gradient);
  EXPECT_EQ(one.network.state, two.network.state);
  EXPECT_NE(one.network.state, SmallStep().network.state);
}

TEST(ChunkRangeTest, CutsWithoutGaps) {
  EXPECT_EQ(ChunkRange(7, 3, 0), (std::pair<std::int64_t, std::int64_t>{0, 2}));
  EXPECT_EQ(ChunkRange(7, 3, 1), (std::pair<std::int64_t, std::int64_t>{2, 4}));
  EXPECT_EQ(ChunkRange(7, 3, 2), (std::pair<std::int64_t, std::int64_t>{4, 7}));
}

TEST(NetworkTest, LoadRefusesAnotherShape) {
  SmallStep small;
  NpzFile file;
  small.network.Save("n", file);
  Network other;
  const Conv conv(other.layout, {1, 1, 1, 1, 0}, Initializer::Normal(1.0));
  other.Draw(Stream(1, "other"));
  EXPECT_THAT([&] { other.Load(file, "n"); },
              ThrowsMessage<DataError>(HasSubstr("n.parameters has 120 values, expected 2")));
}

TEST(ImageTensorTest, StoringUndoesLoading) {
  const ImageBatch images = ColorfulImages(5, 8, 3);
  ImageBatch stored = EmptyImages(5, 8, 8, 3);
  StoreImages(ImageTensor(images, FirstIndices(5)), 0, stored);
  EXPECT_EQ(stored.pixels, images.pixels);
  const at::Tensor tensor = ImageTensor(images, FirstIndices(5));
  EXPECT_FLOAT_EQ(tensor[2][1][3][4].item<float>(),
                  static_cast<float>(images.Image(2)[(3 * 8 + 4) * 3 + 1]) / 127.5f - 1.0f);
}

TEST(NoiseTensorTest, RowsDependOnTheirIndexAlone) {
  const Stream stream(1, "noise");
  const std::vector<std::int64_t> first = {4, 7}, second = {7};
  EXPECT_TRUE(at::equal(NoiseTensor(stream, first, 3)[1], NoiseTensor(stream, second, 3)[0]));
}

TEST(SampleBlocksTest, ReportsEveryImageOnceAndStopsWhenInterrupted) {
  class Counter : public Progress {
   public:
    void Advance(std::int64_t done) override { total += done; }
    void Note(const std::string& /*text*/) override {}
    std::atomic<std::int64_t> total = 0;
  } counter;
  SampleBlocks(25, 10, &counter, [](std::int64_t, std::int64_t) {});
  EXPECT_EQ(counter.total, 25);
  InterruptRequested() = true;
  EXPECT_THROW(SampleBlocks(25, 10, nullptr, [](std::int64_t, std::int64_t) {}), Interrupted);
  InterruptRequested() = false;
}

TEST(DrawIndicesTest, StaysBelowTheCount) {
  const auto indices = DrawIndices(Stream(1, "indices"), 1000, 3);
  EXPECT_THAT(indices, testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(3))));
  EXPECT_THAT(indices, testing::Contains(2));
}

}  // namespace
}  // namespace lfiw::models
