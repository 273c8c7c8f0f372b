// Applications and the images that they use.
//
// An application has one or more images in role main, which the user named: programs, or a library.
// The first of them is its main image.
//
// An image may belong to several applications, but has one profile: a library that two programs use
// is counted in both programs. So removing an application leaves its images; prune() removes images
// that no application uses any more. Images: database_images.cc.

#include <fmt/format.h>

#include "profiledb/database_state.h"

namespace respike {
namespace {

/// `rest`: SQL conditions and order.
template <typename... Values>
std::vector<ApplicationRow> select_applications(Session& session, const std::string& rest,
                                                const Values&... values) {
  std::vector<ApplicationRow> rows;
  ApplicationRow row;
  std::string mode;
  for_each_row(session.sql(),
               "select application.id, application.name, application.main_image, application.mode "
               "from application " +
                   rest,
               std::tie(values...), std::tie(row.id, row.name, row.main_image, mode), [&] {
                 row.mode = read_name<Mode>(session, kModeNames, mode);
                 rows.push_back(row);
               });
  return rows;
}

}  // namespace

std::string_view name_of(Mode mode) {
  return kModeNames[static_cast<size_t>(mode)];
}
std::string_view name_of(Role role) {
  return kRoleNames[static_cast<size_t>(role)];
}
std::string_view name_of(DerivedKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}
std::optional<Mode> parse_mode(std::string_view text) {
  return parse_name<Mode>(kModeNames, text);
}

// ---- applications ----

Id Database::add_application(const std::string& name, Id main_image) {
  return state_->write([&](soci::session& sql) {
    if (find_application(name))
      throw Error(fmt::format("there is an application {} already", name), path());
    state_->require("image", main_image);
    const Id id = state_->next_id("application");
    change(sql,
           "insert into application (id, name, main_image, mode) values (:id, :name, :image, "
           "'original')",
           id, name, main_image);
    add_application_image(id, main_image, Role::main);
    return id;
  });
}

std::vector<ApplicationRow> Database::applications() const {
  return state_->read(
      [&](soci::session&) { return select_applications(state_->session, "order by name"); });
}

std::optional<ApplicationRow> Database::find_application(const std::string& name) const {
  return state_->read([&](soci::session&) {
    return first_of(select_applications(state_->session, "where name = :name", name));
  });
}

void Database::set_mode(Id application, Mode mode) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    const std::string name(name_of(mode));
    change(sql, "update application set mode = :mode where id = :id", name, application);
  });
}

std::optional<FaultRow> Database::fault_of(Id application) const {
  return state_->read([&](soci::session& sql) {
    std::optional<FaultRow> fault;
    FaultRow row;
    int original_too = 0;
    long long noted = 0;
    for_each_row(sql,
                 "select program, images, signal, original_too, noted from fault where application "
                 "= :application",
                 std::tie(application),
                 std::tie(row.program, row.images, row.signal, original_too, noted), [&] {
                   row.original_too = original_too != 0;
                   row.noted = noted;
                   fault = row;
                 });
    return fault;
  });
}

void Database::put_fault(Id application, const FaultRow& fault) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    forget_fault(application);
    const int original_too = fault.original_too ? 1 : 0;
    const long long noted = fault.noted;
    change(sql,
           "insert into fault (application, program, images, signal, original_too, noted) values "
           "(:application, :program, :images, :signal, :original_too, :noted)",
           application, fault.program, fault.images, fault.signal, original_too, noted);
  });
}

void Database::forget_fault(Id application) {
  state_->write([&](soci::session& sql) {
    change(sql, "delete from fault where application = :application", application);
  });
}

void Database::remove_application(Id application) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    change(sql, "delete from application where id = :id", application);
  });
}

void Database::add_application_image(Id application, Id image, Role role,
                                     const std::string& loaded_as) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    const std::string name(name_of(role));
    const std::string path = loaded_as.empty() ? this->image(image).path : loaded_as;
    change(sql,
           "insert into application_image (application, image, role, loaded_as) select :a, :i, :r, "
           ":p where not exists (select 1 from application_image where application = :a2 and image "
           "= :i2)",
           application, image, name, path, application, image);
  });
}

void Database::put_application_image(Id application, Id image, Role role,
                                     const std::string& loaded_as) {
  state_->write([&](soci::session& sql) {
    add_application_image(application, image, role, loaded_as);
    const std::string name(name_of(role));
    change(
        sql,
        "update application_image set role = :r, loaded_as = :p where application = :a and image "
        "= :i",
        name, loaded_as, application, image);
  });
}

void Database::set_main_image(Id application, Id image) {
  state_->write([&](soci::session& sql) {
    long long found = 0;
    sql << "select count(*) from application_image where application = :a and image = :i and role "
           "= 'main'",
        soci::use(application), soci::use(image), soci::into(found);
    if (found == 0)
      throw Error(fmt::format("{} is no main image of it", this->image(image).path), path());
    change(sql, "update application set main_image = :i where id = :a", image, application);
  });
}

void Database::remove_application_image(Id application, Id image) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    const ApplicationRow row =
        select_applications(state_->session, "where id = :id", application).front();
    if (row.main_image == image)
      throw Error(fmt::format("{} is the main image of {}", this->image(image).path, row.name),
                  path());
    change(sql, "delete from application_image where application = :a and image = :i", application,
           image);
  });
}

}  // namespace respike
