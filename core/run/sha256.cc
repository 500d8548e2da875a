#include "core/run/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "core/error.h"

namespace lfiw::core {
namespace {

class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    LFIW_ASSERT(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }

  void Add(std::string_view bytes) {
    LFIW_ASSERT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }

  std::string Hex() {
    std::array<unsigned char, 32> digest;
    LFIW_ASSERT(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
    return fmt::format("{:02x}", fmt::join(digest, ""));
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  Hasher hasher;
  hasher.Add(bytes);
  return hasher.Hex();
}

std::string Sha256HexOfFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  const auto fail = [&] {
    Throw<DataError>("cannot read {}: {}", path, std::generic_category().message(errno));
  };
  if (!file) fail();
  Hasher hasher;
  std::vector<char> block(1 << 18);
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    hasher.Add({block.data(), count});
  }
  if (std::ferror(file.get()) != 0) fail();
  return hasher.Hex();
}

}  // namespace lfiw::core
