// Lines of output and their JSON.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "rows.h"

namespace reprise::bench {

Output::Output(CLI::App& app) {
  app.add_option("--json", json_path_, "Write the rows to this file too");
  app.add_option("--filter", filter_, "Regular expression of rows")->capture_default_str();
}

bool Output::begin() {
  try {
    wanted_ = filter_;
  } catch (const std::regex_error& error) {
    std::cerr << "--filter: '" << filter_ << "' is no regular expression: " << error.what() << '\n';
    return false;
  }
  // What the file holds stays until there is something to write.
  if (json_path_.empty() || std::ofstream(json_path_, std::ios::app)) return true;
  std::cerr << "--json: cannot write " << json_path_ << '\n';
  return false;
}

void Output::add(const Result& result) {
  results_.push_back(result);
  std::ostringstream line;
  line.precision(4);
  line << "row " << result.name << " ours " << result.ours << ' ' << result.unit;
  if (!result.peer.empty()) {
    line << " peer " << result.peer << ' ' << result.theirs << ' ' << result.unit << " ratio "
         << result.ratio;
  }
  if (result.limit > 0) line << " limit " << result.limit << '%';
  std::cout << line.str() << std::endl;
}

int Output::end(bool any_wanted) const {
  if (!any_wanted) std::cerr << "--filter: no row's name matches '" << filter_ << "'\n";
  const int status = any_wanted ? 0 : 2;
  if (json_path_.empty()) return status;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Result& result : results_) {
    all.push_back({{"name", result.name}, {"unit", result.unit}, {"ours", result.ours}});
    if (result.limit > 0) all.back().update({{"limit", result.limit}});
    if (result.peer.empty()) continue;
    all.back().update({{"peer", result.peer}, {"theirs", result.theirs}, {"ratio", result.ratio}});
  }
  std::ofstream out(json_path_);
  out << all.dump(2) << '\n';
  if (out.flush()) return status;
  std::cerr << "--json: cannot write " << json_path_ << '\n';
  return 1;
}

}  // namespace reprise::bench
