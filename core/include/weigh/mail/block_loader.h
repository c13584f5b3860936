// Loads a range of a file into memory on demand, block by block, and verifies the checksum of every block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "weigh/mail/random_access_file.h"

namespace weigh::mail {

// A block of a file differs from what was written. What was computed from the file must be discarded.
class DamagedFile : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class BlockLoader {
public:
    static constexpr std::size_t kBlockSize = 4096;  // a page of memory and of most disks

    // Load the bytes of the file from `begin` on into `target`, whose blocks have the given checksums.
    BlockLoader(RandomAccessFile&& file, std::size_t begin, std::vector<std::uint64_t> checksums, std::span<char> target);

    // The checksums of all blocks of some bytes.
    static std::vector<std::uint64_t> checksums(std::string_view bytes);

    // Load the block of the byte at an offset of the target, unless it is loaded. Throws DamagedFile, or
    // std::system_error if the file cannot be read. Several threads may load at once.
    void load(std::size_t offset) {
        const std::size_t block = offset / kBlockSize;
        if (!is_loaded_[block].load(std::memory_order_acquire)) load_blocks(block, block + 1);
    }
    // The same for all blocks.
    void load_all() { load_blocks(0, checksums_.size()); }
    // Verify all blocks of the file without loading them.
    void verify_all() const;

private:
    void load_blocks(std::size_t first, std::size_t last);
    void read_run(std::size_t first, std::size_t last, char* out) const;

    RandomAccessFile file_;
    std::size_t begin_;
    std::vector<std::uint64_t> checksums_;
    std::span<char> target_;
    std::unique_ptr<std::atomic<bool>[]> is_loaded_;
    std::mutex mutex_;
};

}  // namespace weigh::mail
