#include "weigh/mail/block_loader.h"

#include <algorithm>
#include <string>

#include "checksum.h"

namespace weigh::mail {

namespace {

constexpr std::size_t kMaxRunBlocks = 256;  // blocks per read

std::string_view block_of(std::string_view bytes, std::size_t block) {
    return bytes.substr(block * BlockLoader::kBlockSize, BlockLoader::kBlockSize);
}

}  // namespace

BlockLoader::BlockLoader(RandomAccessFile&& file, std::size_t begin, std::vector<std::uint64_t> checksums,
                         std::span<char> target)
    : file_(std::move(file)),
      begin_(begin),
      checksums_(std::move(checksums)),
      target_(target),
      is_loaded_(std::make_unique<std::atomic<bool>[]>(checksums_.size())) {}

std::vector<std::uint64_t> BlockLoader::checksums(std::string_view bytes) {
    std::vector<std::uint64_t> checksums((bytes.size() + kBlockSize - 1) / kBlockSize);
    // The number of the block is part of its checksum, so that blocks cannot change places.
    for (std::size_t block = 0; block < checksums.size(); ++block)
        checksums[block] = block_checksum(block_of(bytes, block), block);
    return checksums;
}

void BlockLoader::load_blocks(std::size_t first, std::size_t last) {
    const std::lock_guard lock(mutex_);
    while (first < last) {
        if (is_loaded_[first].load(std::memory_order_relaxed)) {
            ++first;
            continue;
        }
        std::size_t end = first + 1;
        while (end < std::min(last, first + kMaxRunBlocks) && !is_loaded_[end].load(std::memory_order_relaxed)) ++end;
        read_run(first, end, target_.data() + first * kBlockSize);
        for (; first < end; ++first) is_loaded_[first].store(true, std::memory_order_release);
    }
}

void BlockLoader::verify_all() const {
    std::vector<char> scratch(std::min(kMaxRunBlocks * kBlockSize, target_.size()));
    for (std::size_t first = 0; first < checksums_.size(); first += kMaxRunBlocks)
        read_run(first, std::min(first + kMaxRunBlocks, checksums_.size()), scratch.data());
}

// Read blocks into memory, and verify them.
void BlockLoader::read_run(std::size_t first, std::size_t last, char* out) const {
    const std::size_t offset = first * kBlockSize, size = std::min(last * kBlockSize, target_.size()) - offset;
    const std::size_t done = file_.read(begin_ + offset, out, size);
    for (std::size_t block = first; block < last; ++block) {
        const std::string_view bytes = block_of({out, size}, block - first);
        const std::size_t begin = (block - first) * kBlockSize;
        if (begin + bytes.size() > done || block_checksum(bytes, block) != checksums_[block])
            throw DamagedFile("its bytes " + std::to_string(begin_ + offset + begin) + " to " +
                              std::to_string(begin_ + offset + begin + bytes.size() - 1) + " are damaged.");
    }
}

}  // namespace weigh::mail
