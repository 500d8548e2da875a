#include <zip.h>

#include <span>

#include "core/arrays/npy_header.h"
#include "core/arrays/npz_entry.h"
#include "core/error.h"
#include "core/logs/log_writers.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

// Room for the header of any array here, whose size is known at the end only.
constexpr std::size_t kHeaderBytes = 192;
// 1 January 1980, the epoch of zip files
constexpr zip_uint16_t kZipEpochDate = (1 << 5) | 1;

// One array that grows on disk: a .npy file beside the archive, removed with this object.
class GrowingArray {
 public:
  GrowingArray(const std::string& path, const std::string& name, std::string type)
      : name_(name), type_(std::move(type)), file_(path + "." + name), out_(file_.temporary()) {
    out_.Write(std::string(kHeaderBytes, ' '));
  }

  template <class T>
  void Append(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    out_.Write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    items_ += static_cast<std::int64_t>(values.size());
  }

  // `columns` of 0: a vector. The file is whole afterwards.
  void Finish(std::int64_t columns) {
    NpyHeader header{type_, {items_}, false};
    if (columns > 0) header.shape = {items_ / columns, columns};
    const std::string text = FormatNpyHeader(header, kHeaderBytes);
    LFIW_ASSERT(text.size() == kHeaderBytes);
    out_.WriteAt(0, text);
    out_.Close();
  }

  const std::string& name() const { return name_; }
  const std::string& path() const { return file_.temporary(); }

 private:
  std::string name_;
  std::string type_;
  AtomicFile file_;
  CheckedStream out_;
  std::int64_t items_ = 0;
};

template <class T>
std::span<const float> Flat(const T& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.size())};
}

class NpzLogWriter final : public LogWriter {
 public:
  NpzLogWriter(const std::string& path, const LogInfo& info)
      : path_(path),
        info_(info),
        file_(path),
        observations_(path, "observations", "f4"),
        actions_(path, "actions", "f4"),
        rewards_(path, "rewards", "f8"),
        offsets_(path, "offsets", "i8"),
        terminated_(path, "terminated", "u1"),
        aux_(path, "aux", "f4"),
        density_(path, "behavior_log_density", "f8"),
        discrete_(path, "discrete_actions", "i8"),
        environment_(path, "environment", "u1") {
    offsets_.Append<std::int64_t>(std::vector<std::int64_t>{0});
  }

  void Append(const EpisodeBatch& batch) override {
    if (batch.episodes() == 0) return;
    obs_dim_ = batch.obs_dim();
    action_dim_ = batch.action_dim();
    aux_dim_ = batch.aux_dim();
    has_density_ = !batch.behavior_log_density.empty();
    observations_.Append(Flat(ObservationsToWrite(batch)));
    actions_.Append(Flat(batch.actions));
    aux_.Append(Flat(batch.aux));
    rewards_.Append<double>(batch.rewards);
    density_.Append<double>(batch.behavior_log_density);
    terminated_.Append<std::uint8_t>(batch.terminated);
    std::vector<std::int64_t> ends;
    for (std::size_t e = 1; e < batch.offsets.size(); ++e) {
      ends.push_back(steps_ + batch.offsets[e]);
    }
    offsets_.Append<std::int64_t>(ends);
    steps_ += batch.steps();
  }

  void Finish() override {
    if (info_.discrete_actions > 0) {
      discrete_.Append<std::int64_t>(std::vector<std::int64_t>{info_.discrete_actions});
    }
    environment_.Append<char>(info_.environment);
    Zip zip = OpenZip(file_.temporary(), ZIP_CREATE | ZIP_TRUNCATE, "write");
    Add(zip.get(), actions_, action_dim_);
    if (aux_dim_ > 0) Add(zip.get(), aux_, aux_dim_);
    if (has_density_) Add(zip.get(), density_, 0);
    if (info_.discrete_actions > 0) Add(zip.get(), discrete_, 0);
    if (!info_.environment.empty()) Add(zip.get(), environment_, 0);
    Add(zip.get(), observations_, obs_dim_);
    Add(zip.get(), offsets_, 0);
    Add(zip.get(), rewards_, 0);
    Add(zip.get(), terminated_, 0);
    if (zip_close(zip.get()) != 0) {
      Throw<DataError>("cannot write {}: {}", path_, zip_strerror(zip.get()));
    }
    // a successful close has freed the archive
    static_cast<void>(zip.release());
    file_.Commit();
  }

 private:
  void Add(zip_t* zip, GrowingArray& array, std::int64_t columns) const {
    array.Finish(columns);
    zip_source_t* source = zip_source_file(zip, array.path().c_str(), 0, -1);
    const zip_int64_t index = source == nullptr ? -1
                                                : zip_file_add(zip, (array.name() + ".npy").c_str(),
                                                               source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      if (source != nullptr) zip_source_free(source);
      Throw<DataError>("cannot write {}: array '{}': {}", path_, array.name(), zip_strerror(zip));
    }
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    zip_file_set_dostime(zip, static_cast<zip_uint64_t>(index), 0, kZipEpochDate, 0);
  }

  std::string path_;
  LogInfo info_;
  AtomicFile file_;
  GrowingArray observations_, actions_, rewards_, offsets_, terminated_, aux_, density_;
  GrowingArray discrete_, environment_;
  std::int64_t obs_dim_ = 0, action_dim_ = 0, aux_dim_ = 0, steps_ = 0;
  bool has_density_ = false;
};

}  // namespace

std::unique_ptr<LogWriter> CreateNpzLog(const std::string& path, const LogInfo& info) {
  return std::make_unique<NpzLogWriter>(path, info);
}

}  // namespace lfiw::core
