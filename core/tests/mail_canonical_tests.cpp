// What is left of a message so that it is known again, and what it is known by.
#include <string>
#include <string_view>

#include "expect.h"
#include "weigh/mail/canonical.h"

namespace {

using namespace std::string_view_literals;
using weigh::mail::Canonicalizer;
using weigh::mail::compute_identity;

constexpr std::string_view kPlain = "Subject: hello\n\nFirst line\n\nStatus: of things";

// One for all, so that what is left of a message would show in the next one.
std::string left_of(std::string_view content) {
    static Canonicalizer canonical;
    return std::string(canonical.canonicalize(content));
}

void what_mailboxes_write_is_left_out() {
    for (const std::string_view content : {
             "Subject: hello\n\nFirst line\n\nStatus: of things\n\n"sv,
             "Subject: hello\r\n\r\nFirst line\r\n\r\nStatus: of things\r\n"sv,
             "From me\nStatus: RO\nSubject: hello\n\nFirst line\n\nStatus: of things"sv,
             "x-weigh-A b: spam;\n more\n\tof it\nSubject: hello\nLINES: 3\n\nFirst line\n\nStatus: of things"sv,
             "X-Evolution-Source: a\nX-Rspamd-Server: b\nX-DSPAM-Result: c\nX-Spam: d\nX-UIDL: e\n"
             "Subject: hello\n\nFirst line\n\nStatus: of things"sv,
             "Subject: hello\r\nX-Spam-: 1\r\n 2\r\n\r\nFirst line\n\nStatus: of things\n"sv,
         }) {
        EXPECT(left_of(content) == kPlain);
    }
}

void all_else_stays() {
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
        EXPECT(left_of(content) == content);
    }
    EXPECT(left_of("From me\nFrom you\n") == "From you");
    EXPECT(left_of("a: b\n\n>From me\n>>>From you\nFrom all") == "a: b\n\nFrom me\nFrom you\nFrom all");
    EXPECT(left_of("From me\nStatus: O\n\n>From me") == "\nFrom me");
    EXPECT(left_of("a\r\r\nb") == "a\r\nb");
    EXPECT(left_of("X-Weigh: ham") == "" && left_of("\n\n\n") == "");
}

void what_needs_no_change_is_not_copied() {
    Canonicalizer canonical;
    EXPECT(canonical.canonicalize(kPlain).data() == kPlain.data());
}

void identities_are_of_bytes_and_salt() {
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
    what_mailboxes_write_is_left_out();
    all_else_stays();
    what_needs_no_change_is_not_copied();
    identities_are_of_bytes_and_salt();
    return told();
}
