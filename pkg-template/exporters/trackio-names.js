/** Names that Trackio's Python client refuses and its HTTP API takes, to the harm of other projects. */

const REGISTRY_PREFIX = "registry-";
/** Tables of a project, each of which is exported to a file `<project>_<table>.parquet`. */
const TABLES = [
  "system",
  "configs",
  "traces",
  "artifacts",
  "artifact_versions",
  "artifact_aliases",
  "run_artifact_links",
  "external_run_artifact_links",
];
/** Keys of metrics that Trackio uses itself. */
const RESERVED_KEYS = ["project", "run", "timestamp", "step", "time", "metrics"];

/** The name of a project on disk: `my.model` and `mymodel` are one. @param {string} project */
export function canonicalName(project) {
  return project.replace(/[^\p{L}\p{N}_-]/gu, "") || "default";
}

/**
 * Why a project must not have this name, or undefined if it may.
 *
 * @param {string} project
 * @returns {string | undefined}
 */
export function refusalOfProject(project) {
  const name = canonicalName(project);
  if (name.startsWith(REGISTRY_PREFIX)) return `names that begin with \`${REGISTRY_PREFIX}\` are those of Trackio's registries`;
  const suffix = TABLES.map((table) => `_${table}`).find((end) => name.length > end.length && name.endsWith(end));
  if (suffix === undefined) return undefined;
  return `it ends with \`${suffix}\`, so its exported files would be those of the project ${name.slice(0, -suffix.length)}`;
}

/** The key under which Trackio's client logs a metric. @param {string} key */
export function metricKey(key) {
  return RESERVED_KEYS.includes(key) || key.startsWith("__") ? `__${key}` : key;
}
