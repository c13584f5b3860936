// Words joined with those before them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "feature_set.h"

namespace weigh::mail {

// Adds "a b" for neighbours, "a _ b" for words with one between them, and so on, up to a distance.
class Neighbours {
public:
    explicit Neighbours(Pairs pairs) : reach_(static_cast<std::size_t>(pairs)) {}

    // Forget the words so far; every name begins with the prefix.
    void begin(std::string_view prefix) {
        name_ = prefix;
        prefix_ = prefix.size();
        count_ = 0;
    }

    // Add the next word, which stays valid until the next beginning.
    void take(std::string_view word, FeatureSet& features) {
        for (std::size_t far = 1; far <= std::min(reach_, count_); ++far) {
            name_.resize(prefix_);
            name_ += recent_[(count_ - far) % recent_.size()];
            for (std::size_t between = 1; between < far; ++between) name_ += " _";
            name_ += ' ';
            name_ += word;
            features.add(name_);
        }
        recent_[count_++ % recent_.size()] = word;
    }

private:
    std::size_t reach_, prefix_ = 0, count_ = 0;
    std::string name_;
    std::array<std::string_view, 8> recent_;
};

}  // namespace weigh::mail
