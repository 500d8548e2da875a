#include "models/image/network.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"

namespace lfiw::models {
namespace {

// 0.9^100 = 2.7e-5 is left of moments that move by a tenth
constexpr std::int64_t kSettlingPasses = 100;

// One flat tensor that views a host buffer; passes only read it.
at::Tensor HostView(const VectorF& values) {
  return at::from_blob(const_cast<float*>(values.data()), {values.size()}, at::kFloat);
}

// Views of host numbers, or of a copy on another device.
std::vector<at::Tensor> OnDevice(const TensorLayout& layout, const VectorF& values,
                                 at::Device device) {
  if (device.is_cpu()) return layout.Views(const_cast<float*>(values.data()));
  return layout.Cut(HostView(values).to(device));
}

// What one chunk contributes.
struct ChunkResult {
  VectorF gradient;
  VectorF state;
  std::vector<double> figures;
};

// `values` with the defined tensors put in the place of the old ones.
VectorF Updated(const TensorLayout& layout, const VectorF& values,
                const std::vector<at::Tensor>& observed) {
  VectorF updated = values;
  const std::vector<at::Tensor> views = layout.Views(updated.data());
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (observed[i].defined()) views[i].copy_(observed[i]);
  }
  return updated;
}

ChunkResult RunChunk(const Network& network, at::Device device,
                     const std::function<ChunkLoss(Pass&)>& body) {
  Pass pass = network.MakePass(PassMode::kTraining, device);
  for (at::Tensor& parameter : pass.parameters) parameter.requires_grad_();
  const ChunkLoss result = body(pass);
  const auto gradients = torch::autograd::grad({result.loss}, pass.parameters, {}, c10::nullopt,
                                               false, /*allow_unused=*/true);
  VectorF flat = VectorF::Zero(network.parameters.size());
  const c10::InferenceMode inference;
  return {Updated(network.layout.parameters, flat, gradients),
          Updated(network.layout.state, network.state, pass.observed), result.figures};
}

void LoadVector(const NpzFile& file, const std::string& name, VectorF& values) {
  VectorF loaded = file.GetVector(name);
  if (loaded.size() != values.size()) {
    Throw<DataError>("array {} has {} values, expected {}: it is of a network of another shape",
                     name, loaded.size(), values.size());
  }
  values = std::move(loaded);
}

}  // namespace

void Network::Draw(const Stream& stream) {
  parameters = layout.parameters.Draw(stream.Child(0));
  state = layout.state.Draw(stream.Child(1));
}

Pass Network::MakePass(PassMode mode, at::Device device) const {
  Pass pass;
  pass.parameters = OnDevice(layout.parameters, parameters, device);
  pass.state = OnDevice(layout.state, state, device);
  pass.mode = mode;
  return pass;
}

void Network::Save(const std::string& prefix, NpzFile& file) const {
  file.Put(prefix + ".parameters", parameters);
  if (state.size() > 0) file.Put(prefix + ".state", state);
}

void Network::Load(const NpzFile& file, const std::string& prefix) {
  LoadVector(file, prefix + ".parameters", parameters);
  if (state.size() > 0) LoadVector(file, prefix + ".state", state);
}

StepGradient ChunkedGradient(Network& network, at::Device device, std::int64_t chunks,
                             const std::function<ChunkLoss(std::int64_t, Pass&)>& body) {
  std::vector<ChunkResult> results(static_cast<std::size_t>(chunks));
  ParallelFor(chunks, [&](std::int64_t chunk) {
    results[static_cast<std::size_t>(chunk)] =
        RunChunk(network, device, [&](Pass& pass) { return body(chunk, pass); });
  });
  // sums in the order of the chunks
  StepGradient sum{std::move(results[0].gradient), std::move(results[0].figures)};
  VectorF state = results[0].state;
  for (std::size_t c = 1; c < results.size(); ++c) {
    sum.gradient += results[c].gradient;
    state += results[c].state;
    for (std::size_t i = 0; i < sum.figures.size(); ++i) sum.figures[i] += results[c].figures[i];
  }
  network.state = state / static_cast<float>(chunks);
  return sum;
}

void SettleState(Network& network, at::Device device,
                 const std::function<void(std::int64_t, Pass&)>& apply) {
  const c10::InferenceMode inference;
  for (std::int64_t i = 0; i < kSettlingPasses; ++i) {
    Pass pass = network.MakePass(PassMode::kTraining, device);
    apply(i, pass);
    network.state = Updated(network.layout.state, network.state, pass.observed);
  }
}

std::pair<std::int64_t, std::int64_t> ChunkRange(std::int64_t count, std::int64_t chunks,
                                                 std::int64_t chunk) {
  return {count * chunk / chunks, count * (chunk + 1) / chunks};
}

at::Device TorchDevice(Device resolved) {
  LFIW_ASSERT(resolved != Device::kAuto);
  return resolved == Device::kCuda ? at::Device(at::kCUDA) : at::Device(at::kCPU);
}

void SampleBlocks(std::int64_t count, std::int64_t block, Progress* progress,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  ParallelBlocks(count, block, [&](std::int64_t begin, std::int64_t end) {
    if (InterruptRequested()) throw Interrupted();
    body(begin, end);
    if (progress != nullptr) progress->Advance(end - begin);
  });
}

std::vector<std::int64_t> DrawIndices(Stream stream, std::int64_t n, std::int64_t count) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(n));
  for (std::int64_t& index : indices) {
    index = static_cast<std::int64_t>(stream.Below(static_cast<std::uint64_t>(count)));
  }
  return indices;
}

at::Tensor ImageTensor(const ImageBatch& images, std::span<const std::int64_t> indices) {
  at::Tensor tensor =
      at::empty({std::ssize(indices), images.channels, images.height, images.width}, at::kFloat);
  float* out = tensor.data_ptr<float>();
  for (const std::int64_t i : indices) {
    const auto pixels = images.Image(i);
    for (std::int64_t c = 0; c < images.channels; ++c) {
      for (std::int64_t p = 0; p < images.height * images.width; ++p) {
        const std::uint8_t value = pixels[static_cast<std::size_t>(p * images.channels + c)];
        *out++ = static_cast<float>(value) / 127.5f - 1.0f;
      }
    }
  }
  return tensor;
}

at::Tensor NoiseTensor(const Stream& stream, std::span<const std::int64_t> indices,
                       std::int64_t dim) {
  at::Tensor noise = at::empty({std::ssize(indices), dim}, at::kFloat);
  float* row = noise.data_ptr<float>();
  for (const std::int64_t i : indices) {
    stream.Child(static_cast<std::uint64_t>(i)).FillNormal({row, static_cast<std::size_t>(dim)});
    row += dim;
  }
  return noise;
}

void StoreImages(const at::Tensor& tensor, std::int64_t first, ImageBatch& images) {
  const at::Tensor bytes = ((tensor.detach().to(at::kCPU).permute({0, 2, 3, 1}) + 1.0) * 127.5)
                               .round()
                               .clamp(0.0, 255.0)
                               .to(at::kByte)
                               .contiguous();
  LFIW_ASSERT(first + tensor.size(0) <= images.count && bytes[0].numel() == images.image_size());
  std::copy_n(bytes.data_ptr<std::uint8_t>(), bytes.numel(),
              images.pixels.begin() + first * images.image_size());
}

ImageBatch EmptyImages(std::int64_t count, std::int64_t height, std::int64_t width,
                       std::int64_t channels) {
  ImageBatch images{count, height, width, channels, {}, {}};
  images.pixels.resize(static_cast<std::size_t>(count * images.image_size()));
  return images;
}

}  // namespace lfiw::models
