// What `possibly check --format sarif` says, as problems at lines of files. No editor in sight, so that it can be tested.
"use strict";

const LEVELS = { error: "error", warning: "warning", note: "information" };

/** One problem for each place of each result: {file, line, message, severity, rule}; lines count from 0. */
function problemsOf(log) {
  const found = [];
  for (const run of log.runs || []) {
    for (const result of run.results || []) {
      for (const location of result.locations || []) {
        const physical = location.physicalLocation;
        if (!physical || !physical.region) continue;
        found.push({
          file: decodeURIComponent(physical.artifactLocation.uri.replace(/^file:\/\//, "")),
          line: physical.region.startLine - 1,
          message: result.message.text,
          severity: LEVELS[result.level] || "error",
          rule: result.ruleId,
        });
      }
    }
  }
  return found;
}

module.exports = { problemsOf };
