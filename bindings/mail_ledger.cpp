#include "weigh/mail/ledger.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <cerrno>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
namespace mail = weigh::mail;

namespace {

std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
nb::bytes bytes_of(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// A ledger with a readers-writer lock.
struct SharedLedger {
    mail::Ledger ledger;
    mutable std::shared_mutex mutex;

    explicit SharedLedger(mail::Ledger&& given) : ledger(std::move(given)) {}
};

// Hashed features whose bytes are kept alive, even if the list is changed concurrently.
class HashedFeaturesList {
public:
    explicit HashedFeaturesList(const nb::list& list) : owners_(list) {
        features_.reserve(owners_.size());
        for (nb::handle each : owners_) {
            if (!PyBytes_Check(each.ptr())) throw nb::type_error("prints are bytes");
            features_.emplace_back(view_of(nb::borrow<nb::bytes>(each)));
        }
    }
    operator std::span<const mail::HashedFeatures>() const { return features_; }
    std::size_t size() const { return features_.size(); }

private:
    nb::tuple owners_;
    std::vector<mail::HashedFeatures> features_;
};

void make(SharedLedger* self, std::string_view learner) {
    new (self) SharedLedger(mail::Ledger(mail::learner_by_name(learner)));
}

// File names need not be valid Unicode.
std::string path_of(const nb::str& path) {
    PyObject* bytes = nullptr;
    if (!PyUnicode_FSConverter(path.ptr(), &bytes)) throw nb::python_error();
    const nb::object owner = nb::steal(bytes);
    return PyBytes_AS_STRING(bytes);
}

mail::Ledger open_file(const nb::str& path, bool check_all) {
    const std::string name = path_of(path);
    int code = 0;
    {
        nb::gil_scoped_release released;
        try {
            return mail::Ledger::open(name, check_all);
        } catch (const std::system_error& error) {
            code = error.code().value();
        }
    }
    errno = code;
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path.ptr());
    throw nb::python_error();
}

SharedLedger* open(const nb::str& path) { return new SharedLedger(open_file(path, false)); }

void check(const nb::str& path) { open_file(path, true); }

template <class Function>
auto with_exclusive_lock(SharedLedger& self, Function function) {
    nb::gil_scoped_release released;
    const std::unique_lock lock(self.mutex);
    return function(self.ledger);
}

template <class Function>
auto with_shared_lock(const SharedLedger& self, Function function) {
    nb::gil_scoped_release released;
    const std::shared_lock lock(self.mutex);
    return function(self.ledger);
}

void learn(SharedLedger& self, const nb::list& hashed_features, const nb::bytes& spam) {
    const HashedFeaturesList features(hashed_features);
    with_exclusive_lock(self, [&](mail::Ledger& ledger) { ledger.learn(features, view_of(spam)); });
}

void unlearn(SharedLedger& self, const nb::list& hashed_features, const nb::bytes& spam) {
    const HashedFeaturesList features(hashed_features);
    with_exclusive_lock(self, [&](mail::Ledger& ledger) { ledger.unlearn(features, view_of(spam)); });
}

nb::list judge(const SharedLedger& self, const nb::list& hashed_features) {
    const HashedFeaturesList features(hashed_features);
    std::vector<double> scores(features.size());
    with_shared_lock(self, [&](const mail::Ledger& ledger) { ledger.judge(features, scores); });
    nb::list list;
    for (const double score : scores) list.append(score);
    return list;
}

nb::list evidence(const SharedLedger& self, const nb::bytes& print) {
    const mail::HashedFeatures given(view_of(print));
    const auto parts = with_shared_lock(self, [&](const mail::Ledger& ledger) { return ledger.evidence(given); });
    nb::list list;
    for (const mail::Contribution& part : parts) list.append(nb::make_tuple(part.view, part.key, part.nats));
    return list;
}

nb::bytes image(const SharedLedger& self, const nb::bytes& note) {
    nb::object bytes;
    const auto allocate = [&](std::size_t size) {
        const nb::gil_scoped_acquire locked;
        bytes = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
        if (!bytes) throw nb::python_error();
        return PyBytes_AS_STRING(bytes.ptr());
    };
    with_shared_lock(self, [&](const mail::Ledger& ledger) { ledger.serialize(view_of(note), allocate); });
    return nb::borrow<nb::bytes>(bytes);
}

nb::str learner(const SharedLedger& self) {
    const std::string_view name = self.ledger.learner().name();
    return nb::str(name.data(), name.size());
}

template <class Function>
auto locked_getter(Function function) {
    return [function](const SharedLedger& self) { return with_shared_lock(self, function); };
}

}  // namespace

void bind_mail_ledger(nb::module_& m) {
    nb::exception<mail::DamagedFile>(m, "DamagedLedgerError");
    // Rows are read on demand, so that any method may meet an error of the system.
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::system_error& error) {
            errno = error.code().value();
            PyErr_SetFromErrno(PyExc_OSError);
        }
    });
    nb::class_<SharedLedger>(m, "MailLedger", "Everything that a mail filter has learned, by feature key.")
        .def("__init__", &make, "learner"_a)
        .def_static("open", &open, "path"_a, "Open a saved ledger; learning changes only the copy in memory.")
        .def_static("check", &check, "path"_a, "Read a whole saved ledger, and raise ValueError or DamagedLedgerError if it is damaged.")
        .def_prop_ro("learner", &learner)
        .def_prop_ro("hams", locked_getter([](const mail::Ledger& ledger) { return ledger.totals().hams; }))
        .def_prop_ro("spams", locked_getter([](const mail::Ledger& ledger) { return ledger.totals().spams; }))
        .def_prop_ro("features", locked_getter([](const mail::Ledger& ledger) { return ledger.features(); }))
        .def_prop_ro("note", [](const SharedLedger& self) { return bytes_of(self.ledger.note()); })
        .def("learn", &learn, "hashed_features"_a, "spam"_a,
             "Learn messages in order, with one label byte each: 1 for spam, 0 for ham.")
        .def("unlearn", &unlearn, "hashed_features"_a, "spam"_a,
             "Unlearn messages that were learned, or change nothing and raise.")
        .def("judge", &judge, "hashed_features"_a, "Return the log-odds of spam of every message.")
        .def("evidence", &evidence, "hashed_features"_a,
             "Return (view, key, contribution to the log-odds) of every known feature; the bias has key 0.")
        .def("image", &image, "note"_a, "Return the bytes of the ledger file.");
}
