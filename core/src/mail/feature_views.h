// What the two views of a message see in it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "feature_set.h"
#include "neighbours.h"
#include "weigh/mail/message.h"

namespace weigh::mail {

// Adds names that begin with what they are about.
class Prefixed {
public:
    static constexpr std::size_t kLookedAt = 16000;  // bytes at the start of a text, for runs

    Prefixed(FeatureSet& features, Arena& arena) : features_(features), arena_(arena) {}

    void begin(std::string_view prefix) {
        name_ = prefix;
        prefix_ = prefix.size();
    }

    void add(std::string_view rest) {
        name_.resize(prefix_);
        name_ += rest;
        features_.add(name_);
    }

    // Add the names of the words.
    void add_words(std::string_view text);

    // Add a host in lower case, and the domains it is in.
    void add_host(std::string_view host);

    // Add the numeric address of a machine, and the networks it is in.
    void add_machine(std::string_view address);

    // Add all runs of so many bytes at the start of a text; blanks count as one space.
    void add_runs(std::string_view text, std::size_t size);

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
    void add_runs(const Message& message);

    Arena arena_;  // words that are no part of the message
    Prefixed names_;
    Neighbours pairs_;
    std::size_t characters_;
    std::string scratch_, held_, before_, host_;
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
    void add_figures(std::string_view word);
    std::string_view folded(std::string_view word);

    Arena arena_;  // words that are no part of the message
    Prefixed names_;
    Neighbours pairs_;
    std::size_t characters_;
    std::string scratch_, lowered_;
};

// Whether a flag is about the headers: those are seen in their view.
inline bool is_of_headers(Flag flag) { return flag <= Flag::broken_header || flag == Flag::cut_headers; }

}  // namespace weigh::mail
