#include "core/arrays/hdf5_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays/hdf5_handle.h"
#include "core/arrays/hdf5_writer.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Message {
  Hdf5Tag tag = Hdf5Tag::kEnd;
  std::string text;
};

// A server of one file in a child process, as its client sees it.
class Served {
 public:
  explicit Served(const std::string& path) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      close(sockets[0]);
      ServeHdf5(path, sockets[1], 10);
      _exit(7);
    }
    close(sockets[1]);
    socket_ = sockets[0];
  }
  ~Served() { End(); }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  Message Receive() const {
    Hdf5Header header;
    if (recv(socket_, &header, sizeof header, MSG_WAITALL) != sizeof header) {
      return {Hdf5Tag::kFailure, "the server sent nothing"};
    }
    std::string text(header.size, '\0');
    if (!text.empty()) recv(socket_, text.data(), text.size(), MSG_WAITALL);
    return {static_cast<Hdf5Tag>(header.tag), text};
  }
  // All messages up to the end of the listing, without it.
  std::vector<std::string> Listing() const {
    std::vector<std::string> texts;
    for (Message next = Receive(); next.tag != Hdf5Tag::kEnd; next = Receive()) {
      texts.push_back(next.text);
      if (next.tag == Hdf5Tag::kFailure) break;
    }
    return texts;
  }
  Message Ask(const Hdf5Request& request) const {
    send(socket_, &request, sizeof request, MSG_NOSIGNAL);
    return Receive();
  }
  // Closes the socket. Returns the child's exit status.
  int End() {
    if (socket_ < 0) return -1;
    close(std::exchange(socket_, -1));
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

std::string Written(const TestDir& dir) {
  Hdf5Writer writer(dir / "a");
  writer.Put("group/x", MakeNpzArray<float>("f4", {3, 2}, {1, 2, 3, 4, 5, 6}));
  writer.Put("y", MakeNpzArray<std::int64_t>("i8", {2}, {-1, 1}));
  writer.SetAttribute("", "environment", "Swimmer");
  writer.SetAttribute("group", "count", 3);
  writer.Close();
  return dir / "a";
}

TEST(ServeHdf5, ListsAttributesAndArraysWithTypeAndShape) {
  const TestDir dir;
  const Served server(Written(dir));
  EXPECT_THAT(server.Listing(), ElementsAre("environment\nSwimmer", "group@count\n3",
                                            "f4\n\n3 2\ngroup/x", "i8\n\n2\ny"));
}

TEST(ServeHdf5, GivesTheRowsThatAreAskedForUntilTheClientCloses) {
  const TestDir dir;
  Served server(Written(dir));
  server.Listing();
  const auto rows = [&](std::int64_t first, std::int64_t count) {
    const Message message = server.Ask({.array = 0, .first = first, .count = count});
    EXPECT_EQ(message.tag, Hdf5Tag::kRows);
    std::vector<float> values(message.text.size() / sizeof(float));
    std::memcpy(values.data(), message.text.data(), message.text.size());
    return values;
  };
  EXPECT_THAT(rows(1, 2), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(rows(0, 1), ElementsAre(1, 2));
  EXPECT_EQ(server.End(), 7) << "the server went on after its client";
}

TEST(ServeHdf5, RowsAndArraysThatAreNotThereAreFailures) {
  const TestDir dir;
  for (const Hdf5Request& request :
       {Hdf5Request{.array = 0, .first = 2, .count = 2}, Hdf5Request{.array = 2, .count = 1},
        Hdf5Request{.array = -1, .count = 1}}) {
    const Served server(Written(dir));
    server.Listing();
    EXPECT_EQ(server.Ask(request).tag, Hdf5Tag::kFailure) << request.array;
  }
}

TEST(ServeHdf5, AnotherFileIsAFailureOfOneLine) {
  const TestDir dir;
  WriteFileAtomically(dir / "a", "not HDF5");
  const Message message = Served(dir / "a").Receive();
  EXPECT_EQ(message.tag, Hdf5Tag::kFailure);
  EXPECT_THAT(message.text, Not(HasSubstr("\n")));
}

// A log must not make the program read other files of its user.
TEST(ServeHdf5, StorageInOtherFilesIsListedAsUnreadable) {
  const TestDir dir;
  WriteFileAtomically(dir / "secret", "secret!!");
  {
    const Hdf5Handle file(H5Fcreate((dir / "a").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                          H5Fclose);
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(creation.get(), (dir / "secret").c_str(), 0, 8);
    const hsize_t size = 8;
    const Hdf5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
    const Hdf5Handle dataset(H5Dcreate2(file.get(), "x", H5T_STD_U8LE, space.get(), H5P_DEFAULT,
                                        creation.get(), H5P_DEFAULT),
                             H5Dclose);
    ASSERT_GE(dataset.get(), 0);
  }
  EXPECT_THAT(Served(dir / "a").Listing(),
              ElementsAre("u1\nstorage in other files is not followed\n8\nx"));
}

}  // namespace
}  // namespace lfiw::core
