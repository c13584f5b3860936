#include "weigh/mail/ledger.h"

#include <algorithm>
#include <stdexcept>

namespace weigh::mail {

namespace {

// The rows of one view among those of both.
Rows of_view(const std::vector<Row*>& rows, const Print& print, std::size_t view) {
    return Rows(rows).subspan(view == 0 ? 0 : print[0].size(), print[view].size());
}

std::uint64_t& count_of(Totals& totals, bool spam) { return spam ? totals.spams : totals.hams; }

void require_labels(std::span<const Print> prints, std::string_view spam) {
    if (spam.size() != prints.size()) throw std::invalid_argument("there must be one label per print");
    if (!std::all_of(spam.begin(), spam.end(), [](char label) { return label == 0 || label == 1; }))
        throw std::invalid_argument("labels must be zero or one");
}

}  // namespace

std::size_t Ledger::features() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(slots_.all(), [](const Slot& slot) { return slot.key != 0 && !slot.row.is_empty(); }));
}

void Ledger::learn(std::span<const Print> prints, std::string_view spam) {
    require_labels(prints, spam);
    if (prints.size() > kMostMessages - totals_.messages())
        throw std::invalid_argument("a ledger counts no more than 2,147,483,647 messages");
    std::vector<Row*> rows;
    for (std::size_t at = 0; at < prints.size(); ++at) {
        slots_.find_or_add(prints[at], rows);
        const bool is_spam = spam[at] != 0;
        for (std::size_t view = 0; view < kViews; ++view)
            learner_->learn(of_view(rows, prints[at], view), view, is_spam, totals_);
        ++count_of(totals_, is_spam);
    }
}

void Ledger::unlearn(std::span<const Print> prints, std::string_view spam) {
    require_labels(prints, spam);
    if (!learner_->unlearns()) throw std::invalid_argument("this learner cannot unlearn");
    std::vector<Row*> rows;
    for (std::size_t at = 0; at < prints.size(); ++at)
        if (!unlearn(prints[at], spam[at] != 0, rows)) {
            learn(prints.first(at), spam.substr(0, at));
            throw std::invalid_argument("a message that was not learned cannot be unlearned");
        }
}

bool Ledger::unlearn(const Print& print, bool spam, std::vector<Row*>& rows) {
    Row absent;
    slots_.find(print, absent, rows);
    std::uint64_t& count = count_of(totals_, spam);
    if (count == 0 || !learner_->unlearn(rows, spam)) return false;
    --count;
    return true;
}

void Ledger::judge(std::span<const Print> prints, std::span<double> scores) const {
    std::vector<Row*> rows;
    std::vector<double> parts;
    Row absent;
    for (std::size_t at = 0; at < prints.size(); ++at) {
        slots_.find(prints[at], absent, rows);
        double score = 0;
        for (std::size_t view = 0; view < kViews; ++view) {
            const Rows seen = of_view(rows, prints[at], view);
            parts.resize(seen.size());
            score += learner_->evidence(seen, view, totals_, parts);
            for (const double part : parts) score += part;
        }
        scores[at] = score;
    }
}

std::vector<Contribution> Ledger::evidence(const Print& print) const {
    std::vector<Row*> rows;
    std::vector<double> parts;
    Row absent;
    slots_.find(print, absent, rows);
    std::vector<Contribution> evidence;
    for (std::size_t view = 0; view < kViews; ++view) {
        const Rows seen = of_view(rows, print, view);
        parts.resize(seen.size());
        const double bias = learner_->evidence(seen, view, totals_, parts);
        if (bias != 0) evidence.push_back({view, 0, bias});
        for (std::size_t at = 0; at < seen.size(); ++at)
            if (!seen[at]->is_empty()) evidence.push_back({view, print[view][at], parts[at]});
    }
    return evidence;
}

}  // namespace weigh::mail
