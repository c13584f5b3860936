#include "weigh/mail/random_access_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace weigh::mail {

namespace {

[[noreturn]] void throw_errno(int code) { throw std::system_error(code, std::generic_category()); }

}  // namespace

#if defined(__unix__) || defined(__APPLE__)

RandomAccessFile::RandomAccessFile(const std::string& path) {
    // O_NONBLOCK, because opening a named pipe would block.
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) throw_errno(errno);
    struct stat status{};
    const int code = fstat(descriptor_, &status) < 0 ? errno
                     : S_ISREG(status.st_mode)       ? 0
                     : S_ISDIR(status.st_mode)       ? EISDIR
                                                     : EINVAL;
    if (code != 0) {
        close(descriptor_);
        throw_errno(code);
    }
    size_ = static_cast<std::size_t>(status.st_size);
}

RandomAccessFile::~RandomAccessFile() {
    if (descriptor_ >= 0) close(descriptor_);
}

std::size_t RandomAccessFile::read(std::size_t offset, char* target, std::size_t size) const {
    // Linux and macOS transfer slightly less than 2 GiB per call.
    constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;
    std::size_t done = 0;
    while (done < size) {
        const ssize_t transferred = pread(descriptor_, target + done, std::min(size - done, kMaxTransfer),
                                          static_cast<off_t>(offset + done));
        if (transferred < 0 && errno != EINTR) throw_errno(errno);
        if (transferred == 0) break;
        done += static_cast<std::size_t>(std::max<ssize_t>(transferred, 0));
    }
    return done;
}

#else

// A mail store needs the file locks of Unix, so no store gets here.
RandomAccessFile::RandomAccessFile(const std::string&) { throw_errno(ENOTSUP); }
RandomAccessFile::~RandomAccessFile() = default;
std::size_t RandomAccessFile::read(std::size_t, char*, std::size_t) const { return 0; }

#endif

}  // namespace weigh::mail
