// Respike's own icons are lines in a square of 16 units, as SVG without a colour: they are painted
// in the text colour of buttons, so that they are also visible on dark windows.

#include "gui/pages/icons.h"

#include <QApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QSvgRenderer>

#include <array>

namespace respike::gui {
namespace {

struct Drawing {
  const char* theme;  // the name of such an icon in desktop themes; "": none
  const char* paths;  // elements of SVG
};

// In the order of Icon.
constexpr std::array<Drawing, size_t(Icon::count)> kDrawings = {{
    {"go-home", "<path d='M2 8 8 2.5 14 8M4 7v6.5h8V7'/>"},
    {"view-list-details", "<path d='M2.5 4h2M2.5 8h2M2.5 12h2M7 4h6.5M7 8h6.5M7 12h6.5'/>"},
    {"media-playback-start", "<path d='M4 2.5 13 8 4 13.5z'/>"},
    {"", "<circle cx='8' cy='8' r='6'/><path d='M8 4v4l3 2'/>"},
    {"", "<path d='M5.5 2h5v3h-5zM2 11h4v3H2zM10 11h4v3h-4zM8 5v3M4 11V8h8v3'/>"},
    {"", "<path d='M2.5 2.5h11v11h-11zM2.5 6h11M2.5 9.5h11M6 2.5v3.5M10 6v3.5M5 9.5v4'/>"},
    {"", "<path d='M2.5 13.5h11M4 13V5M8 13V8M12 13v-2.5'/>"},
    {"", "<path d='M8 2 13.5 4.5v7L8 14l-5.5-2.5v-7zM2.5 4.5 8 7l5.5-2.5M8 7v7'/>"},
    {"", "<path d='M2 13h12M3 11l3-4 3 2 4-6'/>"},
    {"utilities-terminal", "<path d='M2 3h12v10H2zM4.5 6l2 2-2 2M8 10h3.5'/>"},
    {"dialog-information", "<circle cx='8' cy='8' r='6'/><path d='M8 7v4.5M8 4.5v.5'/>"},
    {"preferences-system",
     "<circle cx='8' cy='8' r='2.5'/><path d='M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 "
     "3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4'/>"},
    {"list-add", "<path d='M8 3v10M3 8h10'/>"},
    {"", "<path d='M2 4h12v8H2zM5 6.5v3M8 6.5v3M11 6.5v3'/>"},
    {"", "<path d='M2.5 12a6 6 0 1 1 11 0M8 11l3-4'/>"},
    {"", "<path d='M2.5 8.5 6 12l7.5-8'/>"},
    {"document-export", "<path d='M2.5 9v4.5h11V9M8 10V2.5M5 5.5l3-3 3 3'/>"},
    {"edit-delete", "<path d='M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9'/>"},
    {"edit-clear", "<path d='M13 2.5 8 8M5 7.5l3.5 3.5-3 3-3.5-3.5zM3.8 12.2l1.7-1.7'/>"},
    {"document-save", "<path d='M2.5 2.5h9l2 2v9h-11zM5 2.5V6h5V2.5M5 13.5V9.5h6v4'/>"},
    {"process-stop", "<path d='M3.5 3.5h9v9h-9z'/>"},
    {"go-previous", "<path d='M10 3 5 8l5 5'/>"},
    {"folder-open", "<path d='M2 13V3.5h4l1.5 2H14V13z'/>"},
    {"", "<circle cx='8' cy='8' r='6.2'/><path d='M5 8.2l2.2 2.3L11 6'/>"},
    {"", "<path d='M3 8h9M8.5 4.5 12 8l-3.5 3.5'/>"},
    {"", "<circle cx='8' cy='8' r='6.2' stroke-dasharray='2 2'/>"},
}};

class OwnIcon : public QIconEngine {
 public:
  explicit OwnIcon(const char* paths) : paths_(paths) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
    const QColor colour = QApplication::palette().color(
        group, mode == QIcon::Selected ? QPalette::HighlightedText : QPalette::ButtonText);
    const QString svg =
        QString(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><g fill='none' "
            "stroke='%1' stroke-width='1.3' stroke-linecap='round' stroke-linejoin='round'>"
            "%2</g></svg>")
            .arg(colour.name(), QString::fromLatin1(paths_));
    QSvgRenderer(svg.toUtf8()).render(painter, rect);
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect({}, size), mode, state);
    return pixmap;
  }
  QIconEngine* clone() const override { return new OwnIcon(*this); }

 private:
  const char* paths_;
};

}  // namespace

QIcon icon(Icon which) {
  const Drawing& drawing = kDrawings[size_t(which)];
  const QIcon own(new OwnIcon(drawing.paths));
  return *drawing.theme == '\0' ? own : QIcon::fromTheme(drawing.theme, own);
}

}  // namespace respike::gui
