// Feature extraction for the two views of a message, headers and body.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "feature_set.h"
#include "weigh/mail/message.h"

namespace weigh::mail {

// Adds word pairs: "a b" for adjacent words, "a _ b" for words with one in between, and so on, up to a distance.
class WordPairs {
public:
    explicit WordPairs(Pairs pairs) : max_distance_(static_cast<std::size_t>(pairs)) {}

    // Start a new sequence of words; all names begin with the prefix.
    void begin(std::string_view prefix) {
        name_ = prefix;
        prefix_ = prefix.size();
        count_ = 0;
    }

    // Add the next word, which must stay valid until the next `begin`.
    void add(std::string_view word, FeatureSet& features) {
        for (std::size_t distance = 1; distance <= std::min(max_distance_, count_); ++distance) {
            name_.resize(prefix_);
            name_ += recent_[(count_ - distance) % recent_.size()];
            for (std::size_t between = 1; between < distance; ++between) name_ += " _";
            name_ += ' ';
            name_ += word;
            features.add(name_);
        }
        recent_[count_++ % recent_.size()] = word;
    }

private:
    std::size_t max_distance_, prefix_ = 0, count_ = 0;
    std::string name_;
    std::array<std::string_view, 8> recent_;
};

// Adds features whose names begin with a prefix for their category.
class PrefixedFeatures {
public:
    static constexpr std::size_t kMaxScannedBytes = 16000;  // bytes at the start of a text that are used for n-grams

    PrefixedFeatures(FeatureSet& features, Arena& arena) : features_(features), arena_(arena) {}

    void begin(std::string_view prefix) {
        name_ = prefix;
        prefix_ = prefix.size();
    }

    void add(std::string_view rest) {
        name_.resize(prefix_);
        name_ += rest;
        features_.add(name_);
    }

    // Add all words of a text.
    void add_words(std::string_view text);

    // Add a lower case host and its parent domains.
    void add_host(std::string_view host);

    // Add an IP address and its networks.
    void add_ip_address(std::string_view address);

    // Add all byte n-grams at the start of a text, with white space collapsed.
    void add_character_ngrams(std::string_view text, std::size_t size);

private:
    FeatureSet& features_;
    Arena& arena_;
    std::string name_, spaced_;
    std::size_t prefix_ = 0;
};

class HeaderFeatures {
public:
    explicit HeaderFeatures(const FeatureSettings& settings)
        : set(View::headers, settings.salt),
          names_(set, arena_),
          pairs_(settings.pairs),
          characters_(settings.characters) {}

    void read(const Message& message);

    FeatureSet set;

private:
    void add_header(const Header& header);
    void add_words(std::string_view value);
    void add_domains(std::string_view value);
    void add_character_ngrams(const Message& message);

    Arena arena_;  // words that are not substrings of the message
    PrefixedFeatures names_;
    WordPairs pairs_;
    std::size_t characters_;
    std::string scratch_, value_scratch_, previous_name_, host_;
};

class BodyFeatures {
public:
    explicit BodyFeatures(const FeatureSettings& settings)
        : set(View::body, settings.salt),
          names_(set, arena_),
          pairs_(settings.pairs),
          characters_(settings.characters) {}

    void read(const Message& message);

    FeatureSet set;

private:
    void add_structure(const Message& message);
    void add_attributes(const Message& message);
    void add_links(const Message& message);
    void add_text(std::string_view text);
    void add_number_flags(std::string_view word);
    std::string_view folded(std::string_view word);

    Arena arena_;  // words that are no part of the message
    PrefixedFeatures names_;
    WordPairs pairs_;
    std::size_t characters_;
    std::string scratch_, lowered_;
};

// Whether a flag belongs to the headers view.
inline bool is_header_flag(Flag flag) { return flag <= Flag::broken_header || flag == Flag::cut_headers; }

}  // namespace weigh::mail
