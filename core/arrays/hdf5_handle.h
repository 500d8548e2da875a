#ifndef LFIW_CORE_ARRAYS_HDF5_HANDLE_H_
#define LFIW_CORE_ARRAYS_HDF5_HANDLE_H_

#include <hdf5.h>

#include <utility>

namespace lfiw::core {

// Owns an identifier of the HDF5 library and closes it at the end of its life. A negative one
// stands for a failed call and is not closed.
class Hdf5Handle {
 public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_HDF5_HANDLE_H_
