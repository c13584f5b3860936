// A print: what a message is learned by, the keys of its features as bytes.
//
// Little-endian: u32 n_headers, u32 n_body, then the u64 keys of the headers, then those of the body.
// The keys of each view rise and are above zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weigh/text_key.h"

namespace weigh::mail {

inline constexpr std::size_t kViews = 2;  // the headers, the body

// The keys of one view, wherever in memory they begin.
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

// A print that is in order; the bytes must outlive it.
class Print {
public:
    // Throws std::invalid_argument.
    explicit Print(std::string_view bytes);

    const Keys& operator[](std::size_t view) const { return views_[view]; }
    std::size_t size() const { return views_[0].size() + views_[1].size(); }

private:
    std::array<Keys, kViews> views_;
};

}  // namespace weigh::mail
