// Features of mail: what is there or not, each under a name that people can read.
//
// A message is seen in two views, its headers and its body. A feature is known by a key, a hash of its name
// that is keyed by a salt: who has the keys but not the salt cannot try names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/mail/canonical.h"
#include "weigh/mail/message.h"
#include "weigh/mail/print.h"

namespace weigh::mail {

enum class View : std::uint8_t { headers, body };

// How far the neighbours of a word are that it is joined with.
enum class Pairs : std::uint8_t { none = 0, pairs = 1, sparse = 4 };

struct FeatureSettings {
    Pairs pairs = Pairs::pairs;
    std::size_t characters = 0;  // length of runs of bytes; none if 0
    std::uint64_t salt = 0;
};

// The most features of one view; those that come later are left out.
inline constexpr std::size_t kMostFeatures = 20000;

struct Feature {
    View view;
    std::string name;
    std::uint64_t key;
};

// Holds memory that is used again from message to message; one for each thread.
class Features {
public:
    explicit Features(const FeatureSettings& settings);
    ~Features();
    Features(Features&&) noexcept;
    Features& operator=(Features&&) noexcept;

    // Replace `out` by the features' keys: the numbers of those of the headers and of the body (32 bits each),
    // then theirs (64 bits each), each view's sorted and without repetitions; little-endian.
    void print(const Message& message, std::string& out);

    // Replace `out` by the features themselves, in the order in which they were met.
    void name(const Message& message, std::vector<Feature>& out);

private:
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;
};

// The prints of many raw messages, on several threads; 0 means as many as there are cores. They are made of
// canonical bytes, so that one identity has one print. `identities` may be null; it gets those of the messages.
std::vector<std::string> prints(std::span<const std::string_view> contents, const FeatureSettings& settings,
                                std::size_t threads, std::vector<Identity>* identities = nullptr);

}  // namespace weigh::mail
