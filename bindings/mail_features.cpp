#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/mail/features.h"
#include "weigh/mail/reader.h"

namespace nb = nanobind;
using namespace nb::literals;
namespace mail = weigh::mail;

namespace {

mail::Pairs pairs_of(std::string_view name) {
    if (name == "none") return mail::Pairs::none;
    if (name == "pairs") return mail::Pairs::pairs;
    if (name == "sparse") return mail::Pairs::sparse;
    throw std::invalid_argument("pairs must be 'none', 'pairs' or 'sparse'");
}

std::string_view view_of(nb::handle bytes) {
    return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

nb::bytes bytes_of(const std::string& hashed) { return nb::bytes(hashed.data(), hashed.size()); }
nb::bytes bytes_of(const mail::Identity& identity) { return nb::bytes(identity.data(), sizeof identity); }

std::vector<std::string> hash_contents(const nb::list& contents, const mail::FeatureSettings& settings,
                                       std::size_t threads, std::vector<mail::Identity>* identities) {
    // The tuple keeps the bytes alive if the list is changed concurrently.
    const nb::tuple owners(contents);
    std::vector<std::string_view> views;
    views.reserve(owners.size());
    for (nb::handle each : owners) {
        if (!PyBytes_Check(each.ptr())) throw nb::type_error("contents must be bytes");
        views.push_back(view_of(each));
    }
    nb::gil_scoped_release released;
    return mail::hash_features(views, settings, threads, identities);
}

nb::list hash_mail_features(const nb::list& contents, std::string_view pairs, std::size_t characters,
                            std::uint64_t salt, std::size_t threads) {
    nb::list found;
    for (const std::string& hashed : hash_contents(contents, {pairs_of(pairs), characters, salt}, threads, nullptr))
        found.append(bytes_of(hashed));
    return found;
}

nb::list hash_mail_features_with_ids(const nb::list& contents, std::string_view pairs, std::size_t characters,
                                     std::uint64_t salt, std::size_t threads) {
    std::vector<mail::Identity> identities;
    const mail::FeatureSettings settings{pairs_of(pairs), characters, salt};
    const std::vector<std::string> hash_features = hash_contents(contents, settings, threads, &identities);
    nb::list found;
    for (std::size_t at = 0; at < hash_features.size(); ++at)
        found.append(nb::make_tuple(bytes_of(identities[at]), bytes_of(hash_features[at])));
    return found;
}

// Byte n-grams may begin or end within a character.
nb::object text_of(std::string_view name) {
    return nb::steal(PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "backslashreplace"));
}

nb::tuple extract_mail_features(const nb::bytes& content, std::string_view pairs, std::size_t characters,
                                std::uint64_t salt) {
    const mail::FeatureSettings settings{pairs_of(pairs), characters, salt};
    std::vector<mail::Feature> features;
    std::string hashed;
    {
        nb::gil_scoped_release released;
        mail::Canonicalizer canonical;
        mail::Message message;
        mail::Reader().read(canonical.canonicalize({content.c_str(), content.size()}), message);
        mail::FeatureExtractor(settings).hash(message, hashed, &features);
    }
    nb::list found;
    for (const mail::Feature& each : features)
        found.append(nb::make_tuple(static_cast<int>(each.view), text_of(each.name), each.key));
    return nb::make_tuple(found, bytes_of(hashed));
}

}  // namespace

void bind_mail_features(nb::module_& m) {
    m.attr("MAIL_MAX_FEATURES") = mail::kMaxFeatures;
    m.def("hash_mail_features", &hash_mail_features, "contents"_a, "pairs"_a, "characters"_a, "salt"_a, "threads"_a,
          "Return the serialized feature keys of each raw message, sorted within each view.");
    m.def("hash_mail_features_with_ids", &hash_mail_features_with_ids, "contents"_a, "pairs"_a, "characters"_a,
          "salt"_a, "threads"_a, "Return (identity, serialized feature keys) of each raw message.");
    m.def("extract_mail_features", &extract_mail_features, "content"_a, "pairs"_a, "characters"_a, "salt"_a,
          "Return (view, name, key) of the features of one raw message, and its serialized feature keys.");
}
