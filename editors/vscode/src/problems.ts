/** What `possibly check --format sarif` says, as problems at lines of files. No editor in sight. */

export type Severity = "error" | "warning" | "information";

export interface Problem {
  file: string;
  /** From 0, as editors count. */
  line: number;
  message: string;
  severity: Severity;
  rule: string;
}

interface Place {
  physicalLocation?: { artifactLocation: { uri: string }; region?: { startLine: number } };
}
interface Result {
  ruleId: string;
  level?: string;
  message: { text: string };
  locations?: Place[];
}
export interface Log {
  runs?: { results?: Result[] }[];
}

const LEVELS: Record<string, Severity> = { error: "error", warning: "warning", note: "information" };

/** One problem for each place of each result. */
export function problemsOf(log: Log): Problem[] {
  const results = (log.runs ?? []).flatMap((run) => run.results ?? []);
  return results.flatMap((result) => (result.locations ?? []).flatMap((place) => problemAt(result, place)));
}

function problemAt(result: Result, place: Place): Problem[] {
  const physical = place.physicalLocation;
  if (!physical?.region) return [];
  return [
    {
      file: decodeURIComponent(physical.artifactLocation.uri.replace(/^file:\/\//, "")),
      line: physical.region.startLine - 1,
      message: result.message.text,
      severity: LEVELS[result.level ?? "error"] ?? "error",
      rule: result.ruleId,
    },
  ];
}
