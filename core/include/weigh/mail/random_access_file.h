// A file that is read at given offsets.
//
// It is not mapped into memory: a process ends when a file that it has mapped is truncated, and mapped bytes may change
// after they were verified.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace weigh::mail {

class RandomAccessFile {
public:
    // Throws std::system_error.
    explicit RandomAccessFile(const std::string& path);
    RandomAccessFile(RandomAccessFile&& other) noexcept
        : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
    RandomAccessFile& operator=(RandomAccessFile&&) = delete;
    ~RandomAccessFile();

    // The size when the file was opened.
    std::size_t size() const { return size_; }
    // Read bytes at an offset and return their number, which is smaller than `size` only at the end of the file. Throws
    // std::system_error. Several threads may read at once.
    std::size_t read(std::size_t offset, char* target, std::size_t size) const;

private:
    int descriptor_ = -1;
    std::size_t size_ = 0;
};

}  // namespace weigh::mail
