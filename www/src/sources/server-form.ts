import { LitElement, css, html, nothing } from "lit";
import { state } from "lit/decorators.js";
import { element } from "../element.js";
import type { Source } from "../engine/contract.js";
import { base, controls } from "../theme.js";

type Kind = "mlflow" | "trackio" | "collector" | "url";

interface Field {
  name: string;
  label: string;
  placeholder: string;
  isRequired?: boolean;
  type?: "url" | "number" | "password";
  /** Takes the whole line. */
  isWide?: boolean;
}

const FORMS: Record<Kind, { label: string; hint: string; fields: Field[] }> = {
  mlflow: {
    label: "MLflow",
    hint: "MLflow answers pages of localhost; others have to be named in MLFLOW_SERVER_CORS_ALLOWED_ORIGINS.",
    fields: [
      { name: "url", label: "Server", placeholder: "http://localhost:5000", isRequired: true, type: "url", isWide: true },
      { name: "experiment", label: "Experiment", placeholder: "name or id", isRequired: true },
      { name: "limit", label: "At most", placeholder: "1000 traces", type: "number" },
      { name: "filter", label: "Filter", placeholder: "tag.step = '41'", isWide: true },
    ],
  },
  trackio: {
    label: "Trackio",
    hint: "The address of its dashboard. Without one: the server that this page is from.",
    fields: [
      { name: "url", label: "Server", placeholder: "this page's", type: "url", isWide: true },
      { name: "project", label: "Project", placeholder: "name", isRequired: true },
      { name: "run", label: "Run", placeholder: "all" },
    ],
  },
  collector: {
    label: "Collector",
    hint: "What it keeps, and what comes, as it comes. A page of another address has to be named by its --allow-origin.",
    fields: [
      { name: "url", label: "Server", placeholder: "http://localhost:4318", isRequired: true, type: "url", isWide: true },
      { name: "token", label: "Token", placeholder: "if it asks for one", type: "password" },
    ],
  },
  url: {
    label: "Address",
    hint: "A file of traces, or a tokenizer.json. Its server has to allow requests of this page.",
    fields: [{ name: "url", label: "URL", placeholder: "https://…", isRequired: true, isWide: true }],
  },
};

const field = ({ name, label, placeholder, isRequired, type, isWide }: Field) =>
  html`<label class=${isWide ? "wide" : ""}
    >${label}<input
      name=${name}
      type=${type ?? "text"}
      min=${type === "number" ? "1" : nothing}
      placeholder=${placeholder}
      ?required=${isRequired}
      autocomplete="off"
      spellcheck="false"
  /></label>`;

const KINDS = Object.keys(FORMS) as Kind[];

/** Asks for a server and what of it to open; says `source` with a `Source`. */
@element("t2t-server-form")
export class ServerForm extends LitElement {
  static override styles = [
    base,
    controls,
    css`
      :host {
        display: block;
      }
      .tabs {
        display: flex;
        gap: 2px;
        margin-bottom: 10px;
        border-bottom: 1px solid var(--t2t-border);
      }
      .tabs button {
        border: 0;
        border-bottom: 2px solid transparent;
        border-radius: 0;
        background: none;
        color: var(--t2t-ink-soft);
        margin-bottom: -1px;
      }
      .tabs button[aria-selected="true"] {
        color: var(--t2t-ink);
        border-bottom-color: var(--t2t-accent);
        font-weight: 600;
      }
      form {
        display: grid;
        grid-template-columns: repeat(2, minmax(0, 1fr));
        gap: 8px 10px;
      }
      form label {
        display: grid;
        gap: 3px;
        font-size: var(--t2t-size-small);
        color: var(--t2t-ink-soft);
      }
      form label input {
        color: var(--t2t-ink);
        font-size: var(--t2t-size);
        width: 100%;
      }
      .wide {
        grid-column: 1 / -1;
      }
      .end {
        display: flex;
        align-items: center;
        gap: 12px;
        font-size: var(--t2t-size-small);
      }
      .end p {
        flex: 1;
      }
    `,
  ];

  @state() private kind: Kind = "mlflow";

  override render() {
    const { hint, fields } = FORMS[this.kind];
    return html`
      <div class="tabs" role="tablist" aria-label="Kind of server" @keydown=${this.onKey}>
        ${KINDS.map(
          (kind) =>
            html`<button
              type="button"
              role="tab"
              id=${kind}
              aria-selected=${kind === this.kind}
              aria-controls="form"
              tabindex=${kind === this.kind ? 0 : -1}
              @click=${() => (this.kind = kind)}
            >
              ${FORMS[kind].label}
            </button>`,
        )}
      </div>
      <div id="form" role="tabpanel" aria-labelledby=${this.kind}>
        <form @submit=${this.onSubmit}>
          ${fields.map(field)}
          <div class="wide end">
            <p class="faint">${hint}</p>
            <button type="submit">Open</button>
          </div>
        </form>
      </div>
    `;
  }

  private onKey(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    this.kind = KINDS[(KINDS.indexOf(this.kind) + by + KINDS.length) % KINDS.length]!;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
  }

  private onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const text = (name: string) => String(data.get(name) ?? "").trim();
    const url = text("url");
    const optional = { filter: text("filter") || undefined, run: text("run") || undefined };
    const sources: Record<Kind, () => Source> = {
      mlflow: () => ({ kind: "mlflow", url, experiment: text("experiment"), filter: optional.filter, limit: Number(text("limit")) || undefined }),
      collector: () => ({ kind: "collector", url, token: text("token") || undefined }),
      trackio: () => ({ kind: "trackio", url: url || location.origin, project: text("project"), run: optional.run }),
      url: () => ({ kind: "url", name: url, url }),
    };
    this.dispatchEvent(new CustomEvent<Source>("source", { detail: sources[this.kind]() }));
  }
}
