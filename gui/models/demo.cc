#include "gui/models/demo.h"

#include <QFileInfo>

#include "gui/models/action.h"

namespace respike::gui {

std::optional<Demo> find_demo(const QString& respike) {
  const QString beside = QFileInfo(respike).absolutePath();
  for (const QString& folder : {beside + "/demo", beside + "/../libexec/respike/demo"}) {
    const QFileInfo program(folder + "/count-words"), text(folder + "/text.txt");
    if (program.isFile() && text.isFile())
      return Demo{program.canonicalFilePath().toStdString(),
                  shell_line({text.canonicalFilePath()})};
  }
  return std::nullopt;
}

}  // namespace respike::gui
