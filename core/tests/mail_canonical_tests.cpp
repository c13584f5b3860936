// Tests of canonical messages and their identities.
#include <string>
#include <string_view>

#include "expect.h"
#include "weigh/mail/canonical.h"

namespace {

using namespace std::string_view_literals;
using weigh::mail::Canonicalizer;
using weigh::mail::compute_identity;

constexpr std::string_view kPlain = "Subject: hello\n\nFirst line\n\nStatus: of things";

// A shared instance, so that state left over from a previous message would show.
std::string canonical_form(std::string_view content) {
    static Canonicalizer canonical;
    return std::string(canonical.canonicalize(content));
}

void mailbox_annotations_are_removed() {
    for (const std::string_view content : {
             "Subject: hello\n\nFirst line\n\nStatus: of things\n\n"sv,
             "Subject: hello\r\n\r\nFirst line\r\n\r\nStatus: of things\r\n"sv,
             "From me\nStatus: RO\nSubject: hello\n\nFirst line\n\nStatus: of things"sv,
             "x-weigh-A b: spam;\n more\n\tof it\nSubject: hello\nLINES: 3\n\nFirst line\n\nStatus: of things"sv,
             "X-Evolution-Source: a\nX-Rspamd-Server: b\nX-DSPAM-Result: c\nX-Spam: d\nX-UIDL: e\n"
             "Subject: hello\n\nFirst line\n\nStatus: of things"sv,
             "Subject: hello\r\nX-Spam-: 1\r\n 2\r\n\r\nFirst line\n\nStatus: of things\n"sv,
         }) {
        EXPECT(canonical_form(content) == kPlain);
    }
}

void everything_else_is_unchanged() {
    for (const std::string_view content : {
             ""sv,
             "From me"sv,
             " "sv,
             "\n x"sv,
             "\nStatus: body"sv,
             ">From me"sv,
             "a: b\n>From me"sv,
             "a: b\n\nx >From me\n >From me\n>Fromage\n>> From me"sv,
             "\nFrom me"sv,
             "Status : 1"sv,
             "Statu"sv,
             "\r\rx\r"sv,
             "a\0b"sv,
         }) {
        EXPECT(canonical_form(content) == content);
    }
    EXPECT(canonical_form("From me\nFrom you\n") == "From you");
    EXPECT(canonical_form("a: b\n\n>From me\n>>>From you\nFrom all") == "a: b\n\nFrom me\nFrom you\nFrom all");
    EXPECT(canonical_form("From me\nStatus: O\n\n>From me") == "\nFrom me");
    EXPECT(canonical_form("a\r\r\nb") == "a\r\nb");
    EXPECT(canonical_form("X-Weigh: ham") == "" && canonical_form("\n\n\n") == "");
}

void canonical_input_is_not_copied() {
    Canonicalizer canonical;
    EXPECT(canonical.canonicalize(kPlain).data() == kPlain.data());
}

void identities_depend_on_bytes_and_salt() {
    EXPECT(compute_identity("a", 1) == compute_identity("a", 1));
    EXPECT(compute_identity("a", 1) != compute_identity("b", 1) &&
           compute_identity("a", 1) != compute_identity("a", 2));
    for (const std::uint64_t salt : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        const auto identity = compute_identity(kPlain, salt);
        EXPECT(identity[0] != identity[1]);
    }
}

}  // namespace

int main() {
    mailbox_annotations_are_removed();
    everything_else_is_unchanged();
    canonical_input_is_not_copied();
    identities_depend_on_bytes_and_salt();
    return report();
}
