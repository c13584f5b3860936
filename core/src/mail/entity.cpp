#include "entity.h"

#include <algorithm>
#include <utility>

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
    const auto named = [&](std::string& name) {
        append_utf8(std::exchange(main, {}).substr(0, kLongestName), name);
    };
    if (disposition_value.data()) {
        unfold(disposition_value, value);
        main_value(value, main);
        named(disposition);
        parameter(value, "filename", charsets, file);
    }
    if (encoding_value.data()) {
        unfold(encoding_value, value);
        main_value(value, main);
        named(encoding);
    }
    if (!type_value.data()) return;
    unfold(type_value, value);
    main_value(value, main);
    type.clear();
    named(type);
    if (std::count(type.begin(), type.end(), '/') != 1) type = "text/plain";
    parameter(value, "charset", charsets, charset);
    make_lower(charset);
    parameter(value, "boundary", charsets, boundary);
    if (file.empty()) parameter(value, "name", charsets, file);
}

}  // namespace weigh::mail
