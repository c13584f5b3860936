#include <string_view>

#include "arrays.h"
#include "weigh/mail/reader.h"

using namespace nb::literals;
namespace mail = weigh::mail;

namespace {

nb::str text_of(std::string_view text) { return nb::str(text.data(), text.size()); }

template <class Items, class Function>
nb::tuple tuple_of(const Items& items, Function function) {
    nb::list list;
    for (const auto& item : items) list.append(function(item));
    return nb::tuple(list);
}

// Names of the bits that are set.
template <class Names>
nb::tuple names_of(std::uint64_t bits, const Names& names) {
    nb::list list;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (bits >> i & 1) list.append(text_of(names[i]));
    return nb::tuple(list);
}

nb::tuple header(const mail::Header& each) { return nb::make_tuple(text_of(each.name), text_of(each.value)); }

nb::tuple attribute(const mail::TagAttribute& each) { return nb::make_tuple(text_of(each.name), text_of(each.value)); }

nb::tuple link(const mail::Link& each) {
    const std::string_view origin = mail::kOrigins[static_cast<std::size_t>(each.origin)];
    return nb::make_tuple(text_of(each.url), text_of(each.host), text_of(origin),
                          names_of(each.traits, mail::kTraitNames));
}

nb::tuple part(const mail::Part& each, std::string_view text) {
    return nb::make_tuple(text_of(each.type), text_of(each.charset), text_of(each.encoding), text_of(each.disposition),
                          text_of(each.file), each.size, each.depth,
                          text_of(text.substr(each.begin, each.end - each.begin)));
}

nb::tuple read_mail(const nb::bytes& raw, std::size_t text_bytes) {
    mail::Message message;
    {
        nb::gil_scoped_release released;
        mail::Limits limits;
        limits.text_bytes = text_bytes;
        mail::Reader(limits).read({raw.c_str(), raw.size()}, message);
    }
    return nb::make_tuple(tuple_of(message.headers, header),
                          tuple_of(message.parts, [&](const mail::Part& each) { return part(each, message.text); }),
                          text_of(message.text), text_of(message.hidden), tuple_of(message.links, link),
                          tuple_of(message.tags, text_of), tuple_of(message.attributes, attribute),
                          names_of(message.flags.bits(), mail::kFlagNames));
}

}  // namespace

void bind_mail(nb::module_& m) {
    m.def("read_mail", &read_mail, "raw"_a, "text_bytes"_a,
          "Parse a raw message; return headers (name, value), parts (type, charset, encoding, disposition, "
          "file, size, depth, text), text, hidden text, links (url, host, origin, traits), tags, attributes (name, "
          "value), flags.");
    m.attr("MAIL_FLAGS") = names_of(~std::uint64_t{0}, mail::kFlagNames);
}
