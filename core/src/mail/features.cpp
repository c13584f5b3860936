#include "weigh/mail/features.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <thread>

#include "../parallel.h"
#include "feature_views.h"
#include "weigh/mail/reader.h"

namespace weigh::mail {
namespace {

template <class Number>
void append_number(Number number, std::string& out) {
    for (std::size_t byte = 0; byte < sizeof number; ++byte) out += static_cast<char>(number >> (8 * byte));
}

void append_keys(std::span<const std::uint64_t> keys, std::string& out) {
    if constexpr (std::endian::native == std::endian::little) {
        out.append(reinterpret_cast<const char*>(keys.data()), keys.size_bytes());
    } else {
        for (const std::uint64_t key : keys) append_number(key, out);
    }
}

}  // namespace

struct FeatureExtractor::Scratch {
    explicit Scratch(const FeatureSettings& settings) : headers(settings), body(settings) {}

    void read(const Message& message, std::vector<Feature>* names) {
        headers.set.begin(names);
        headers.read(message);
        body.set.begin(names);
        body.read(message);
    }

    HeaderFeatures headers;
    BodyFeatures body;
};

FeatureExtractor::FeatureExtractor(const FeatureSettings& settings) : scratch_(std::make_unique<Scratch>(settings)) {}
FeatureExtractor::~FeatureExtractor() = default;
FeatureExtractor::FeatureExtractor(FeatureExtractor&&) noexcept = default;
FeatureExtractor& FeatureExtractor::operator=(FeatureExtractor&&) noexcept = default;

void FeatureExtractor::hash(const Message& message, std::string& out, std::vector<Feature>* names) {
    if (names != nullptr) names->clear();
    scratch_->read(message, names);
    FeatureSet &headers = scratch_->headers.set, &body = scratch_->body.set;
    out.clear();
    out.reserve(8 + 8 * (headers.size() + body.size()));
    append_number(static_cast<std::uint32_t>(headers.size()), out);
    append_number(static_cast<std::uint32_t>(body.size()), out);
    append_keys(headers.sorted(), out);
    append_keys(body.sorted(), out);
}

std::vector<std::string> hash_features(std::span<const std::string_view> contents, const FeatureSettings& settings,
                                       std::size_t threads, std::vector<Identity>* identities) {
    std::vector<std::string> found(contents.size());
    if (identities != nullptr) identities->resize(contents.size());
    if (threads == 0) threads = std::max(std::thread::hardware_concurrency(), 1U);
    const std::size_t parts = std::clamp<std::size_t>(contents.size(), 1, threads);
    std::vector<std::exception_ptr> failures(parts);
    std::atomic<std::size_t> next = 0;
    parallel_for(parts, [&](std::size_t part) {
        try {
            Canonicalizer canonical;
            Reader reader;
            Message message;
            FeatureExtractor features(settings);
            for (std::size_t i; (i = next++) < contents.size();) {
                const std::string_view content = canonical.canonicalize(contents[i]);
                if (identities != nullptr) (*identities)[i] = compute_identity(content, settings.salt);
                reader.read(content, message);
                features.hash(message, found[i]);
            }
        } catch (...) {
            failures[part] = std::current_exception();
        }
    });
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return found;
}

}  // namespace weigh::mail
