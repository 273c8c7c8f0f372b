#pragma once
// An application in one page of HTML: tables, and pictures as inline SVG. No scripts.

#include <QByteArray>
#include <QString>

#include <vector>

#include "gui/models/build_model.h"
#include "gui/models/code_cache.h"
#include "gui/models/procedure_model.h"
#include "views/characteristics.h"

namespace respike::gui {

struct ReportData {
  ApplicationView application;
  std::vector<ProcedureRow> procedures;  // the most executed procedures of all images
  uint64_t instructions = 0;             // executed, of all procedures
  uint64_t executed = 0, of_procedures = 0;
  Characteristics character;            // of all counted images
  std::vector<BuildLine> builds;        // of the main image, the newest first
  LayoutAnswer layouts;                 // of the main image; without pieces if it was not counted
  std::vector<ProcedureAnswer> graphs;  // graphs of the first procedures, with their images
};

/// Reads the data of a report. Throws Error when no application has the name.
ReportData read_report(Environment& environment, const std::string& application);

/// The page as UTF-8. Needs a QGuiApplication; the platform `offscreen` is enough.
QByteArray make_report(const ReportData& data);

}  // namespace respike::gui
