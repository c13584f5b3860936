// The hashed features of a message in serialized form.
//
// Little-endian: u32 n_headers, u32 n_body, then the u64 keys of the headers and of the body. The keys of each view
// are positive and strictly ascending.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weigh/text_key.h"

namespace weigh::mail {

inline constexpr std::size_t kViews = 2;  // headers and body

// The keys of one view, at any alignment.
class Keys {
public:
    Keys() = default;
    Keys(const char* begin, std::size_t size) : begin_(begin), size_(size) {}

    std::size_t size() const { return size_; }
    std::uint64_t operator[](std::size_t at) const { return load_word(begin_ + 8 * at); }

private:
    const char* begin_ = nullptr;
    std::size_t size_ = 0;
};

// A validated view of serialized features; the bytes must outlive it.
class HashedFeatures {
public:
    // Throws std::invalid_argument if the format is violated.
    explicit HashedFeatures(std::string_view bytes);

    const Keys& operator[](std::size_t view) const { return views_[view]; }
    std::size_t size() const { return views_[0].size() + views_[1].size(); }

private:
    std::array<Keys, kViews> views_;
};

}  // namespace weigh::mail
