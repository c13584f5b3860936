// Extracts binary features with readable names from mail.
//
// A message has two views, its headers and its body. A feature is identified by its key, a hash of its name keyed by
// a salt: without the salt, the names cannot be recovered by trying candidates.
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
#include "weigh/mail/hashed_features.h"

namespace weigh::mail {

enum class View : std::uint8_t { headers, body };

// Maximum distance of the words that are combined into a pair.
enum class Pairs : std::uint8_t { none = 0, pairs = 1, sparse = 4 };

struct FeatureSettings {
    Pairs pairs = Pairs::pairs;
    std::size_t characters = 0;  // length of byte n-grams; 0 means none
    std::uint64_t salt = 0;
};

// Maximum number of features per view; later ones are ignored.
inline constexpr std::size_t kMaxFeatures = 20000;

struct Feature {
    View view;
    std::string name;
    std::uint64_t key;
};

// Holds scratch memory for reuse; use one instance per thread.
class FeatureExtractor {
public:
    explicit FeatureExtractor(const FeatureSettings& settings);
    ~FeatureExtractor();
    FeatureExtractor(FeatureExtractor&&) noexcept;
    FeatureExtractor& operator=(FeatureExtractor&&) noexcept;

    // Replace `out` by the keys in the format of `HashedFeatures`, and `names`, if not null, by the features with
    // their names, in order of first appearance.
    void hash(const Message& message, std::string& out, std::vector<Feature>* names = nullptr);

private:
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;
};

// Hash the features of many raw messages on several threads; 0 means one per core. They are extracted from the
// canonical bytes, so that messages with the same identity have the same features. `identities`, if not null,
// receives the identities of the messages.
std::vector<std::string> hash_features(std::span<const std::string_view> contents, const FeatureSettings& settings,
                                       std::size_t threads, std::vector<Identity>* identities = nullptr);

}  // namespace weigh::mail
