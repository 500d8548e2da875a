#include "envs/mujoco_model.h"

#include <array>
#include <cstring>
#include <mutex>

#include "core/error.h"

namespace lfiw::envs {
namespace {

void IgnoreWarning(const char* /*message*/) {}

// A file system in memory with one file.
class MemoryFile {
 public:
  MemoryFile(const char* name, const std::string& text) : vfs_(std::make_unique<mjVFS>()) {
    mj_defaultVFS(vfs_.get());
    LFIW_ASSERT(Add(vfs_.get(), name, text));
  }
  ~MemoryFile() { mj_deleteVFS(vfs_.get()); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const mjVFS* vfs() const { return vfs_.get(); }

 private:
  // MuJoCo 3 replaced the file that the caller fills by one call that copies a buffer; a template,
  // so that the branch which the installed version lacks is never looked up.
  template <class Vfs>
  static bool Add(Vfs* vfs, const char* name, const std::string& text) {
    const int size = static_cast<int>(text.size());
    if constexpr (requires { mj_addBufferVFS(vfs, name, text.data(), size); }) {
      return mj_addBufferVFS(vfs, name, text.data(), size) == 0;
    } else {
      if (mj_makeEmptyFileVFS(vfs, name, size) != 0) return false;
      std::memcpy(vfs->filedata[mj_findFileVFS(vfs, name)], text.data(), text.size());
      return true;
    }
  }

  std::unique_ptr<mjVFS> vfs_;
};

}  // namespace

std::shared_ptr<const mjModel> CompileMjcf(const std::string& name, const std::string& mjcf) {
  static std::once_flag warnings_silenced;
  std::call_once(warnings_silenced, [] { mju_user_warning = IgnoreWarning; });

  constexpr const char* kFile = "model.xml";
  const MemoryFile file(kFile, mjcf);
  std::array<char, 1000> error{};
  mjModel* model = mj_loadXML(kFile, file.vfs(), error.data(), static_cast<int>(error.size()));
  if (model == nullptr) {
    Throw<ConfigError>("{}: MuJoCo cannot compile the model: {}", name, error.data());
  }
  return {model, [](mjModel* m) { mj_deleteModel(m); }};
}

MjDataPtr MakeMjData(const mjModel& model) { return MjDataPtr(mj_makeData(&model)); }

}  // namespace lfiw::envs
