// A file in memory, copied page by page as it is written to: the file itself never changes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace weigh::mail {

class Mapping {
public:
    Mapping() = default;
    // Throws std::system_error.
    explicit Mapping(const std::string& path);
    Mapping(Mapping&& other) noexcept { swap(other); }
    Mapping& operator=(Mapping&& other) noexcept {
        Mapping(std::move(other)).swap(*this);
        return *this;
    }
    ~Mapping();

    char* data() const { return data_; }
    std::size_t size() const { return size_; }

private:
    void swap(Mapping& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    char* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace weigh::mail
