#include "entity.h"

#include <algorithm>

#include "ascii.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kLongest = 16384, kLongestName = 256;  // of a header that is read for its parameters; of a name

void keep_first(std::string_view& kept, std::string_view value) {
    if (kept.data() == nullptr) kept = value.substr(0, kLongest);
}

}  // namespace

void Entity::take(const Field& field) {
    if (same(field.name, "content-type")) keep_first(type_value, field.value);
    else if (same(field.name, "content-transfer-encoding")) keep_first(encoding_value, field.value);
    else if (same(field.name, "content-disposition")) keep_first(disposition_value, field.value);
}

void Entity::settle(Charsets& charsets) {
    std::string value, main;
    const auto named = [&](std::string_view header, std::string& name) {
        unfold(header, value);
        main_value(value, main);
        name.clear();
        append_utf8(main.substr(0, kLongestName), name);
    };
    const auto with = [&](std::string_view parameter_name, std::string& to) {
        parameter(value, parameter_name, charsets, to);
        cut_at(to, kLongestName);
    };
    if (encoding_value.data()) named(encoding_value, encoding);
    if (disposition_value.data()) {
        named(disposition_value, disposition);
        with("filename", file);
    }
    if (!type_value.data()) return;
    named(type_value, type);
    if (std::count(type.begin(), type.end(), '/') != 1) type = "text/plain";
    with("charset", charset);
    make_lower(charset);
    with("boundary", boundary);
    if (file.empty()) with("name", file);
}

}  // namespace weigh::mail
