// Applications and the images that they use.
//
// An image may belong to several applications, but has one profile: a library that two programs use
// is counted in both. So removing an application leaves its images; prune() removes images that no
// application uses any more.

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

template <typename... Values>
std::vector<ApplicationImage> select_images(Session& session, const std::string& rest,
                                            const Values&... values) {
  std::vector<ApplicationImage> rows;
  ApplicationImage row;
  int optimizable = 0;
  std::string role;
  ImageRow& image = row.image;
  for_each_row(
      session.sql(),
      "select image.id, image.path, image.soname, image.machine, image.optimizable, "
      "image.reason, " +
          rest,
      std::tie(values...),
      std::tie(image.id, image.path, image.soname, image.machine, optimizable, image.reason, role),
      [&] {
        image.optimizable = optimizable != 0;
        row.role = read_name<Role>(session, kRoleNames, role);
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

void Database::remove_application(Id application) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    change(sql, "delete from application where id = :id", application);
  });
}

void Database::add_application_image(Id application, Id image, Role role) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    state_->require("image", image);
    const std::string name(name_of(role));
    change(sql,
           "insert into application_image (application, image, role) select :a, :i, :r where not "
           "exists (select 1 from application_image where application = :a2 and image = :i2)",
           application, image, name, application, image);
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

std::vector<ApplicationImage> Database::images_of(Id application) const {
  return state_->read([&](soci::session&) {
    state_->require("application", application);
    return select_images(state_->session,
                         "application_image.role from application_image join image on image.id = "
                         "application_image.image where application_image.application = :a order "
                         "by case application_image.role when 'main' then 0 when 'linked' then 1 "
                         "else 2 end, image.path",
                         application);
  });
}

// ---- images ----

Id Database::put_image(const ImageFacts& facts) {
  return state_->write([&](soci::session& sql) {
    const int optimizable = facts.optimizable ? 1 : 0;
    if (const auto found = find_image(facts.path)) {
      change(sql,
             "update image set soname = :s, machine = :m, optimizable = :o, reason = :r where id = "
             ":id",
             facts.soname, facts.machine, optimizable, facts.reason, found->id);
      return found->id;
    }
    const Id id = state_->next_id("image");
    change(sql,
           "insert into image (id, path, soname, machine, optimizable, reason) values (:id, :p, "
           ":s, :m, :o, :r)",
           id, facts.path, facts.soname, facts.machine, optimizable, facts.reason);
    return id;
  });
}

std::optional<ImageRow> Database::find_image(const std::string& path) const {
  return state_->read([&](soci::session&) -> std::optional<ImageRow> {
    const auto rows = select_images(state_->session, "'main' from image where path = :path", path);
    if (rows.empty()) return std::nullopt;
    return rows.front().image;
  });
}

ImageRow Database::image(Id image) const {
  return state_->read([&](soci::session&) {
    state_->require("image", image);
    return select_images(state_->session, "'main' from image where id = :id", image).front().image;
  });
}

}  // namespace respike
