/** Backends that take OTLP: where they do, by which headers they know who sends, and what they show. */
import { Token2TextError, describe } from "../errors.js";
import { checkOptions } from "../options.js";
import { basic } from "./authorization.js";

/** @typedef {import("./otlp-exporter.js").OtlpOptions} OtlpOptions */
/** @typedef {{ [name: string]: string | undefined }} Given */
/**
 * What each preset is given. `url`: another address than that of the vendor's cloud or of this machine, without the path.
 *
 * @typedef {object} Presets
 * @property {{ publicKey: string, secretKey: string, url?: string }} langfuse
 * @property {{ apiKey?: string, project?: string, url?: string }} phoenix
 * @property {{ apiKey: string, project?: string, url?: string }} langsmith
 * @property {{ token: string, region?: string, url?: string }} logfire `region`: `"us"` or `"eu"`. Default: `"us"`.
 * @property {{ ingestionKey?: string, region?: string, url?: string }} signoz `region`: of the cloud, as `"us"`, with the key. Default: this machine.
 * @property {{ url?: string }} jaeger
 * @property {{ tenant?: string, url?: string }} tempo
 * @property {{ apiKey: string, project: string, url?: string }} weave `project`: `"entity/project"`.
 */
/**
 * @typedef {object} Preset
 * @property {string[]} needs What has to be given.
 * @property {string[]} [takes] What may be, beside `url`.
 * @property {(given: Given) => string} url The default.
 * @property {string} [path] In front of `/v1/traces`.
 * @property {(given: Given) => Record<string, string | undefined>} [headers]
 * @property {(given: Given) => Record<string, string | undefined>} [resource]
 * @property {boolean} [gzip] Where it is known that the backend takes it.
 * @property {import("./otlp-shown.js").ConventionName} [shownAs]
 */

/** Where collectors listen. */
const COLLECTOR = "http://127.0.0.1:4318";

/** @type {{ [Name in keyof Presets]: Preset }} */
const PRESETS = {
  // https://langfuse.com/integrations/native/opentelemetry; the header asks for spans to be seen at once, as its API reference says.
  langfuse: {
    needs: ["publicKey", "secretKey"],
    url: () => "https://cloud.langfuse.com",
    path: "/api/public/otel",
    headers: ({ publicKey, secretKey }) => ({ ...basic(String(publicKey), String(secretKey)), "x-langfuse-ingestion-version": "4" }),
    gzip: true,
    shownAs: "openinference",
  },
  // Its server, arize-phoenix 20.26.1, answers 415 to JSON.
  phoenix: {
    needs: [],
    takes: ["apiKey", "project"],
    url: () => "http://127.0.0.1:6006",
    headers: ({ apiKey }) => ({ authorization: apiKey && `Bearer ${apiKey}` }),
    resource: ({ project }) => ({ "openinference.project.name": project }),
    gzip: true,
    shownAs: "openinference",
  },
  // https://docs.langchain.com/langsmith/trace-with-opentelemetry
  langsmith: {
    needs: ["apiKey"],
    takes: ["project"],
    url: () => "https://api.smith.langchain.com",
    path: "/otel",
    headers: ({ apiKey, project }) => ({ "x-api-key": apiKey, "langsmith-project": project }),
    shownAs: "langsmith",
  },
  // https://logfire.pydantic.dev/docs/how-to-guides/alternative-clients: the token alone.
  logfire: {
    needs: ["token"],
    takes: ["region"],
    url: ({ region = "us" }) => `https://logfire-${region}.pydantic.dev`,
    headers: ({ token }) => ({ authorization: token }),
  },
  // https://signoz.io/docs/ingestion/cloud-vs-self-hosted: the cloud has keys and regions, other servers are a collector.
  signoz: {
    needs: [],
    takes: ["ingestionKey", "region"],
    url: ({ region }) => (region ? `https://ingest.${region}.signoz.cloud` : COLLECTOR),
    headers: ({ ingestionKey }) => ({ "signoz-ingestion-key": ingestionKey }),
    gzip: true,
  },
  // OTLP's own port, by the receiver of OpenTelemetry's collector, as Tempo.
  jaeger: { needs: [], url: () => COLLECTOR, gzip: true },
  // The header names the tenant where there are several.
  tempo: { needs: [], takes: ["tenant"], url: () => COLLECTOR, headers: ({ tenant }) => ({ "x-scope-orgid": tenant }), gzip: true },
  // W&B's docs of Weave: nothing but protocol buffers. Its converter in weave 0.53.12 reads MLflow's attributes.
  weave: {
    needs: ["apiKey", "project"],
    url: () => "https://trace.wandb.ai",
    path: "/otel",
    // Older servers read the project there.
    headers: ({ apiKey, project }) => ({ "wandb-api-key": apiKey, project_id: project }),
    resource({ project = "" }) {
      const [, entity, name] = /^([^/]+)\/([^/]+)$/.exec(project) ?? [];
      if (name === undefined) throw new Token2TextError("invalid_options", `\`project\` of the preset weave is "entity/project", not ${describe(project)}`);
      return { "wandb.entity": entity, "wandb.project": name };
    },
  },
};

/** The names of the presets. */
export const PRESET_NAMES = /** @type {(keyof Presets)[]} */ (Object.keys(PRESETS));

/**
 * The options of an OtlpExporter for a backend: its address, headers, and what it shows. Others may stand beside them.
 *
 * @template {keyof Presets} Name
 * @param {Name} name
 * @param {{} extends Presets[Name] ? [given?: Presets[Name]] : [given: Presets[Name]]} rest Keys and the like.
 * @returns {OtlpOptions}
 * @throws {Token2TextError} `invalid_options`: there is no such preset, or something that it needs is missing or unknown.
 *
 * @example
 *   const langfuse = new OtlpExporter(preset("langfuse", { publicKey: "pk-lf-...", secretKey: "sk-lf-..." }));
 *   const phoenix = new OtlpExporter({ ...preset("phoenix", { project: "rollouts" }), timeoutMillis: 5000 });
 */
export function preset(name, ...rest) {
  const known = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
  if (!known) throw new Token2TextError("invalid_options", `there is no preset ${describe(name)}; there are ${PRESET_NAMES.join(", ")}`);
  const { needs, takes = [], path = "", gzip = false, shownAs } = known;
  const given = /** @type {Given} */ (checkOptions(rest[0], [...needs, ...takes, "url"], `the preset ${name}`));
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined && (typeof value !== "string" || value === "")) {
      throw new Token2TextError("invalid_options", `\`${key}\` of the preset ${name} is a text, not ${describe(value)}`);
    }
  }
  const missing = needs.find((key) => given[key] === undefined);
  if (missing) throw new Token2TextError("invalid_options", `the preset ${name} needs \`${missing}\``);
  const resource = present(known.resource?.(given));
  const url = (given.url ?? known.url(given)).replace(/(\/v1\/traces)?\/?$/, "");
  return {
    url: url.endsWith(path) ? url : url + path,
    headers: present(known.headers?.(given)),
    gzip,
    ...(shownAs && { shownAs }),
    ...(Object.keys(resource).length > 0 && { resource }),
  };
}

/** @param {Record<string, string | undefined>} [values] @returns {Record<string, string>} */
function present(values = {}) {
  return Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}
