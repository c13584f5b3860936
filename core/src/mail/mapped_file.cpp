#include "weigh/mail/mapped_file.h"

#include <cerrno>
#include <system_error>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#include <fstream>
#include <iterator>
#include <new>
#endif

namespace weigh::mail {

namespace {

[[noreturn]] void throw_errno(int code) { throw std::system_error(code, std::generic_category()); }

}  // namespace

#if defined(__unix__) || defined(__APPLE__)

MappedFile::MappedFile(const std::string& path) {
    // O_NONBLOCK, because opening a named pipe would block.
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) throw_errno(errno);
    struct stat status{};
    int code = fstat(file, &status) < 0  ? errno
               : S_ISREG(status.st_mode) ? 0
               : S_ISDIR(status.st_mode) ? EISDIR
                                         : EINVAL;
    if (code == 0 && status.st_size > 0) {
        const auto size = static_cast<std::size_t>(status.st_size);
        void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
        code = address == MAP_FAILED ? errno : 0;
        if (code == 0) {
            data_ = static_cast<char*>(address);
            size_ = size;
        }
    }
    close(file);
    if (code != 0) throw_errno(code);
}

MappedFile::~MappedFile() {
    if (data_) munmap(data_, size_);
}

#else

MappedFile::MappedFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw_errno(ENOENT);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    data_ = static_cast<char*>(::operator new(all.size() + 1));
    size_ = all.copy(data_, all.size());
}

MappedFile::~MappedFile() { ::operator delete(data_); }

#endif

}  // namespace weigh::mail
