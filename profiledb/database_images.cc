// Images, and which images an application uses.
//
// An image is a file, known by its path without symbolic links. An application knows the image by a
// path of its own, `loaded_as`: the path under which the loader opens the file. Example: the image
// /usr/lib/libz.so.1.2.13 is used by an application as /lib/libz.so.1. Callers pass both paths;
// nothing here looks at the file system.

#include "profiledb/database_state.h"

namespace respike {
namespace {

constexpr const char* kImageColumns =
    "image.id, image.path, image.soname, image.machine, image.optimizable, image.reason, "
    "image.program, coalesce(image.follows, 0)";

/// `rest`: the query after the columns of an image: columns for `more`, tables, conditions, order.
template <typename... Values, typename... Columns, typename Each>
void for_each_image(soci::session& sql, const std::string& rest, std::tuple<Values&...> values,
                    std::tuple<Columns&...> more, Each&& each) {
  ImageRow row;
  int optimizable = 0, program = 0;
  for_each_row(sql, std::string("select ") + kImageColumns + rest, values,
               std::tuple_cat(std::tie(row.id, row.path, row.soname, row.machine, optimizable,
                                       row.reason, program, row.follows),
                              more),
               [&] {
                 row.optimizable = optimizable != 0;
                 row.program = program != 0;
                 each(row);
               });
}

template <typename... Values>
std::vector<ImageRow> select_images(soci::session& sql, const std::string& rest,
                                    const Values&... values) {
  std::vector<ImageRow> rows;
  for_each_image(sql, " from image " + rest, std::tie(values...), std::tie(),
                 [&](const ImageRow& row) { rows.push_back(row); });
  return rows;
}

}  // namespace

Id Database::put_image(const ImageFacts& facts) {
  return state_->write([&](soci::session& sql) {
    const int optimizable = facts.optimizable ? 1 : 0, program = facts.program ? 1 : 0;
    if (const auto found = find_image(facts.path)) {
      change(sql,
             "update image set soname = :s, machine = :m, optimizable = :o, reason = :r, program = "
             ":p where id = :id",
             facts.soname, facts.machine, optimizable, facts.reason, program, found->id);
      return found->id;
    }
    const Id id = state_->next_id("image");
    change(sql,
           "insert into image (id, path, soname, machine, optimizable, reason, program, follows) "
           "values (:id, :path, :s, :m, :o, :r, :p, (select id from image where id = :f))",
           id, facts.path, facts.soname, facts.machine, optimizable, facts.reason, program,
           facts.follows);
    return id;
  });
}

std::optional<ImageRow> Database::find_image(const std::string& path) const {
  return state_->read(
      [&](soci::session& sql) { return first_of(select_images(sql, "where path = :path", path)); });
}

ImageRow Database::image(Id image) const {
  return state_->read([&](soci::session& sql) {
    state_->require("image", image);
    return select_images(sql, "where id = :id", image).front();
  });
}

std::vector<ImageRow> Database::images() const {
  return state_->read([&](soci::session& sql) { return select_images(sql, "order by path"); });
}

std::vector<ApplicationImage> Database::images_of(Id application) const {
  return state_->read([&](soci::session& sql) {
    state_->require("application", application);
    std::vector<ApplicationImage> rows;
    std::string role, loaded_as;
    for_each_image(
        sql,
        ", application_image.role, application_image.loaded_as from application_image join "
        "application on application.id = application_image.application join image on image.id = "
        "application_image.image where application.id = :a order by case when image.id = "
        "application.main_image then 0 when application_image.role = 'main' then 1 when "
        "application_image.role = 'linked' then 2 else 3 end, image.path",
        std::tie(application), std::tie(role, loaded_as), [&](const ImageRow& image) {
          rows.push_back({image, read_name<Role>(state_->session, kRoleNames, role), loaded_as});
        });
    return rows;
  });
}

}  // namespace respike
