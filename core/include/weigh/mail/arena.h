// Arena allocator for texts: they stay at their address until all are released together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace weigh::mail {

class Arena {
public:
    std::string_view keep(std::string_view text) {
        if (text.empty()) return {};
        if (text.size() > room_) open(text.size());
        char* to = at_;
        std::memcpy(to, text.data(), text.size());
        at_ += text.size();
        room_ -= text.size();
        return {to, text.size()};
    }

    // Release all texts; the first block is reused.
    void clear() {
        if (blocks_.empty()) return;
        blocks_.resize(1);
        at_ = blocks_[0].get();
        room_ = first_;
    }

private:
    static constexpr std::size_t kBlock = std::size_t{1} << 14;

    void open(std::size_t size) {
        room_ = std::max(size, kBlock);
        if (blocks_.empty()) first_ = room_;
        at_ = blocks_.emplace_back(new char[room_]).get();
    }

    std::vector<std::unique_ptr<char[]>> blocks_;
    char* at_ = nullptr;
    std::size_t room_ = 0, first_ = 0;
};

}  // namespace weigh::mail
