#include "weigh/mail/mapping.h"

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

[[noreturn]] void refuse(int code) { throw std::system_error(code, std::generic_category()); }

}  // namespace

#if defined(__unix__) || defined(__APPLE__)

Mapping::Mapping(const std::string& path) {
    // Without O_NONBLOCK a pipe of that name would be waited for.
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) refuse(errno);
    struct stat facts{};
    int code = fstat(file, &facts) < 0 ? errno : S_ISREG(facts.st_mode) ? 0 : S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
    if (code == 0 && facts.st_size > 0) {
        const auto size = static_cast<std::size_t>(facts.st_size);
        void* begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
        code = begin == MAP_FAILED ? errno : 0;
        if (code == 0) {
            data_ = static_cast<char*>(begin);
            size_ = size;
        }
    }
    close(file);
    if (code != 0) refuse(code);
}

Mapping::~Mapping() {
    if (data_) munmap(data_, size_);
}

#else

Mapping::Mapping(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(ENOENT);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    data_ = static_cast<char*>(::operator new(all.size() + 1));
    size_ = all.copy(data_, all.size());
}

Mapping::~Mapping() { ::operator delete(data_); }

#endif

}  // namespace weigh::mail
