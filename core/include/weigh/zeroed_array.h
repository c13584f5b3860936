// Large zero-initialised arrays, in huge pages where the system has them.
//
// Tables with random access spend most of their time on TLB misses, which huge pages avoid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace weigh {

template <class Item>
class ZeroedArray {
    static_assert(std::is_trivially_copyable_v<Item>);

public:
    ZeroedArray() = default;
    // Memory is committed only when it is touched: in normal pages, or in huge ones if all of it will be needed.
    explicit ZeroedArray(std::size_t size, bool use_huge_pages = true) : size_(size) {
        const std::size_t bytes = size * sizeof(Item);
#ifdef __linux__
        // Not calloc, which clears a large block that was used before, and so commits all of it.
        if (bytes >= kHugePage) {
            mapped_ = bytes + kHugePage;
            base_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (base_ == MAP_FAILED) throw std::bad_alloc();
            const auto begin = (reinterpret_cast<std::uintptr_t>(base_) + kHugePage - 1) / kHugePage * kHugePage;
            items_ = reinterpret_cast<Item*>(begin);
            madvise(items_, bytes, use_huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
            return;
        }
#endif
        base_ = std::calloc(size == 0 ? 1 : size, sizeof(Item));
        if (!base_) throw std::bad_alloc();
        items_ = static_cast<Item*>(base_);
    }

    ZeroedArray(ZeroedArray&& other) noexcept { swap(other); }
    ZeroedArray& operator=(ZeroedArray&& other) noexcept {
        ZeroedArray(std::move(other)).swap(*this);
        return *this;
    }

    ~ZeroedArray() {
#ifdef __linux__
        if (mapped_ != 0) {
            munmap(base_, mapped_);
            return;
        }
#endif
        std::free(base_);
    }

    void swap(ZeroedArray& other) noexcept {
        std::swap(items_, other.items_);
        std::swap(size_, other.size_);
        std::swap(base_, other.base_);
        std::swap(mapped_, other.mapped_);
    }

    std::size_t size() const { return size_; }
    Item* data() const { return items_; }
    Item& operator[](std::size_t at) const { return items_[at]; }
    Item* begin() const { return items_; }
    Item* end() const { return items_ + size_; }

private:
    static constexpr std::size_t kHugePage = std::size_t{2} << 20;

    Item* items_ = nullptr;
    std::size_t size_ = 0;
    void* base_ = nullptr;
    std::size_t mapped_ = 0;
};

}  // namespace weigh
