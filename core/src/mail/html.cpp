#include "weigh/mail/html.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "ascii.h"
#include "elements.h"
#include "entities.h"
#include "html_tag.h"
#include "style.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kUnknown = kElements.size(), kDeepest = 256, kLongestTag = 15, kLongestAttribute = 40;

constexpr std::size_t place(std::string_view name) {
    for (std::size_t i = 0; i < kElements.size(); ++i)
        if (kElements[i].name == name) return i;
    return kUnknown;
}
constexpr std::size_t kA = place("a"), kTitle = place("title"), kScript = place("script"), kForm = place("form");
constexpr std::size_t kImg = place("img"), kBody = place("body"), kMeta = place("meta"), kP = place("p"),
                      kTr = place("tr");
constexpr std::size_t kTable = place("table"), kUl = place("ul"), kOl = place("ol");
constexpr std::array kInner{place("iframe"), place("frame"), place("object"), place("embed"), place("applet")};

static_assert(std::is_sorted(kElements.begin(), kElements.end(), [](auto& a, auto& b) { return a.name < b.name; }));

enum class Gap : std::uint8_t { none, space, line };

struct Open {
    std::size_t element;
    Style style;
};

}  // namespace

std::size_t element_at(std::string_view name) {
    const auto found = std::ranges::lower_bound(kElements, name, {}, &Element::name);
    const auto at = static_cast<std::size_t>(found - kElements.begin());
    return at < kUnknown && found->name == name ? at : kUnknown;
}

// A document on its way into a message.
class Html::Page {
    static constexpr std::size_t kHardlyAnything = 25;  // bytes of text beside a picture

public:
    void read(std::string_view source, Message& message, Links& links) {
        begin(message, links);
        Comments comments(source);
        for (std::size_t at = 0; at < source.size();) {
            const std::size_t sign = std::min(source.find('<', at), source.size());
            if (sign != at) append_text(source.substr(at, sign - at));
            at = sign == source.size() ? sign : markup(source, sign, comments);
        }
        end_anchor();
        finish();
    }

private:
    void begin(Message& message, Links& links) {
        message_ = &message;
        links_ = &links;
        begin_ = message.text.size();
        gap_ = hidden_gap_ = Gap::none;
        open_.clear();
        overflow_ = 0;
        anchor_ = Links::kNone;
        has_image_ = false;
        shown_ = 0;
        base_ = {};
        hides_ = false;
        seen_.reset();
        for (const std::string_view tag : message.tags) seen_.set(element_at(tag));
        if (!message.hidden.empty()) message.hidden.push_back('\n');
    }

    void finish() {
        message_->flags.set(Flag::html);
        message_->flags.set(Flag::image_without_text, has_image_ && shown_ < kHardlyAnything);
    }

    const Style& style() const { return open_.empty() ? base_ : open_.back().style; }

    static void widen(Gap& gap, Gap wanted) { gap = std::max(gap, wanted); }

    void append_text(std::string_view text) {
        std::string& out = hides_ ? message_->hidden : message_->text;
        const std::size_t before = out.size();
        append_spaced(text, out, hides_ ? 0 : begin_, hides_ ? hidden_gap_ : gap_);
        if (hides_) message_->flags.set(Flag::hidden_text, out.size() != before);
        else shown_ += out.size() - before;
    }

    // Append a text with its spaces as one; none at the start of `out`.
    static void append_spaced(std::string_view text, std::string& out, std::size_t start, Gap& gap) {
        for (std::size_t at = 0; at < text.size();) {
            if (is_space(text[at])) {
                widen(gap, Gap::space);
                ++at;
                continue;
            }
            const bool is_apart = gap != Gap::none && out.size() != start && out.back() != '\n';
            if (is_apart) out.push_back(gap == Gap::line ? '\n' : ' ');
            gap = Gap::none;
            std::size_t end = at;
            while (end < text.size() && !is_space(text[end]) && text[end] != '&') ++end;
            out.append(text.substr(at, end - at));
            at = end < text.size() && text[end] == '&' ? append_entity(text, end, false, out) : end;
        }
    }

    // Pass over what begins with the '<' at `at`.
    std::size_t markup(std::string_view source, std::size_t at, Comments& comments) {
        const char next = at + 1 < source.size() ? source[at + 1] : ' ';
        const bool is_end = next == '/' && at + 2 < source.size();
        if (is_letter(is_end ? source[at + 2] : next)) {
            read_tag(source, at, tag_);
            return tag(source);
        }
        if (next == '!' || next == '?' || is_end) {
            const std::size_t behind = comments.behind(at);
            const bool in_word =
                at > 0 && is_letter(source[at - 1]) && behind < source.size() && is_letter(source[behind]);
            message_->flags.set(Flag::comment_in_word, in_word);
            return behind;
        }
        append_text(source.substr(at, 1));
        return at + 1;
    }

    std::size_t tag(std::string_view source) {
        scratch_ = tag_.name.substr(0, kLongestTag);
        make_lower(scratch_);
        const std::size_t element = element_at(scratch_);
        if (element == kUnknown) {
            message_->flags.set(Flag::unknown_tag, tag_.name.find(':') == kNowhere);
            return tag_.behind;
        }
        if (!seen_.test(element)) {
            seen_.set(element);
            message_->tags.push_back(kElements[element].name);
        }
        const std::uint8_t manner = kElements[element].manner;
        const Gap apart = manner & kBlock ? Gap::line : manner & kCell ? Gap::space : Gap::none;
        widen(gap_, apart);
        widen(hidden_gap_, apart);
        if (tag_.is_end) close(element);
        else open(element);
        if (!std::exchange(hides_, style().hides())) widen(hidden_gap_, Gap::space);
        return (manner & kRaw) && !tag_.is_end ? raw(source, element) : tag_.behind;
    }

    std::size_t raw(std::string_view source, std::size_t element) {
        const std::size_t end = end_of_raw(source, tag_.behind, kElements[element].name);
        if (element == kTitle) title(source.substr(tag_.behind, end - tag_.behind));
        message_->flags.set(Flag::script, element == kScript);
        return end;
    }

    void title(std::string_view text) {
        widen(hidden_gap_, Gap::line);
        append_spaced(text, message_->hidden, 0, hidden_gap_);
        widen(hidden_gap_, Gap::line);
    }

    void open(std::size_t element) {
        const std::uint8_t manner = kElements[element].manner;
        if (manner & kSimilar) close_similar(element);
        Style inner = style();
        attributes(element, inner);
        facts(element);
        if (manner & (kVoid | kRaw)) return;
        if (element == kBody) base_ = inner;
        if (open_.size() == kDeepest) ++overflow_;
        else open_.push_back({element, inner});
    }

    void close(std::size_t element) {
        if (element == kA) end_anchor();
        if (overflow_ > 0) {
            --overflow_;
            return;
        }
        const bool reaches_out = (kElements[element].manner & (kScope | kBlock)) != 0 && element != kP;
        for (std::size_t at = open_.size(); at-- > 0;) {
            if (open_[at].element == element) return open_.resize(at);
            if ((kElements[open_[at].element].manner & kScope) && !reaches_out) return;
        }
    }

    // End the nearest element of the same kind, unless it is outside a table or list around this one.
    void close_similar(std::size_t element) {
        for (std::size_t at = open_.size(); at-- > 0;) {
            const std::size_t other = open_[at].element;
            if (other == element) return open_.resize(at);
            if (other == kTable || other == kUl || other == kOl) return;
            if ((kElements[other].manner & kScope) && element != kTr) return;
        }
    }

    void attributes(std::size_t element, Style& inner) {
        if (element == kA) end_anchor();
        for (std::size_t i = 0; i < tag_.count; ++i) {
            const auto& [name, value] = tag_.attributes[i];
            keep(name, value);
            if (same(name, "style")) apply_unescaped(value, inner);
            else if (same(name, "hidden")) inner.is_undisplayed = true;
            else if (same(name, "color") || same(name, "text")) inner.ink = colour_of(value);
            else if (same(name, "bgcolor")) inner.ground = colour_of(value);
            else if (same(name, "href")) link(element, value, Origin::href);
            else if (same(name, "src")) link(element, value, Origin::src);
            else if (same(name, "action")) link(element, value, Origin::action);
            else if (same(name, "background")) {
                inner.ground = kNoColour;
                link(element, value, Origin::background);
            } else if (same(name, "http-equiv"))
                message_->flags.set(Flag::meta_refresh, element == kMeta && same(trimmed(value), "refresh"));
            else if (starts(name, "on") && name.size() > 4) message_->flags.set(Flag::event_handler);
        }
    }

    void keep(std::string_view name, std::string_view value) {
        name = kept(name);
        message_->attributes.push_back({name, kept(value)});
    }

    // A text in lower case, cut between two of its characters.
    std::string_view kept(std::string_view text) {
        scratch_ = text.substr(0, kLongestAttribute + 1);
        cut_at(scratch_, kLongestAttribute);
        make_lower(scratch_);
        return message_->arena.keep(scratch_);
    }

    void apply_unescaped(std::string_view value, Style& inner) {
        if (value.find('&') == kNowhere) return mail::apply(value, inner);
        scratch_.clear();
        append_unescaped(value, scratch_);
        mail::apply(scratch_, inner);
    }

    void link(std::size_t element, std::string_view value, Origin origin) {
        scratch_.clear();
        append_unescaped(value, scratch_);
        const std::size_t added = links_->add(scratch_, origin);
        if (element == kImg && origin == Origin::src) {
            has_image_ = true;
            message_->flags.set(Flag::remote_image, added != Links::kNone);
        }
        if (element != kA || origin != Origin::href) return;
        anchor_ = added;
        anchor_begin_ = message_->text.size();
    }

    void facts(std::size_t element) {
        message_->flags.set(Flag::form, element == kForm);
        message_->flags.set(Flag::iframe, std::find(kInner.begin(), kInner.end(), element) != kInner.end());
    }

    void end_anchor() {
        if (anchor_ != Links::kNone) links_->compare(anchor_, std::string_view(message_->text).substr(anchor_begin_));
        anchor_ = Links::kNone;
    }

    Message* message_ = nullptr;
    Links* links_ = nullptr;
    std::size_t begin_ = 0;  // of the document's text
    // What the text so far and the next are apart by.
    Gap gap_ = Gap::none, hidden_gap_ = Gap::none;
    std::vector<Open> open_;
    std::size_t overflow_ = 0;  // elements inside that were too deep to be kept
    Style base_;
    bool hides_ = false, has_image_ = false;
    std::size_t shown_ = 0;
    std::size_t anchor_ = Links::kNone, anchor_begin_ = 0;
    std::bitset<kElements.size()> seen_;
    Tag tag_;
    std::string scratch_;
};

Html::Html() : page_(std::make_unique<Page>()) {}
Html::~Html() = default;

void Html::append(std::string_view source, Message& message, Links& links) { page_->read(source, message, links); }

}  // namespace weigh::mail
