// A private, copy-on-write memory mapping of a file.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace weigh::mail {

class MappedFile {
public:
    MappedFile() = default;
    // Throws std::system_error.
    explicit MappedFile(const std::string& path);
    MappedFile(MappedFile&& other) noexcept { swap(other); }
    MappedFile& operator=(MappedFile&& other) noexcept {
        MappedFile(std::move(other)).swap(*this);
        return *this;
    }
    ~MappedFile();

    char* data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    void swap(MappedFile& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    char* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace weigh::mail
