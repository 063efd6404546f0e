export const MAIN = `token2text: finds token ids in LLM traces and writes the text next to them

Usage:
  token2text enrich [FILE...] --tokenizer T [options]
  token2text strip  [FILE...] [options]
  token2text check  [FILE...] --tokenizer T [options]
  token2text view   [FILE...] [--tokenizer T] [options]
  token2text pack   [FILE] [-o OUT]
  token2text mlflow enrich --tracking-uri U --experiment E --tokenizer T [options]
  token2text trackio enrich --server U --project P --tokenizer T [options]

Commands:
  enrich   add the text of every list of token ids
  strip    take the text out again that enrich has added
  check    tell what is wrong with rollouts: turns that do not go on with the same ids, masks, log-probabilities, loops
  view     look at rollouts in the browser
  pack     make a tokenizer.json a small file that loads many times faster
  mlflow   add the text to traces that an MLflow server has stored
  trackio  add the text to traces that a Trackio server has stored

Options:
  -h, --help      this text; after a command, its options
      --version   the version

FILE is a JSON document, JSON lines, an event stream or a protobuf request of OTLP, plain or gzip; none, or \`-\`, is the
standard input.
`;

const LAYOUT = `      --layout FILE      use this layout, a JSON file or the name of a built-in one, instead of all built-in ones
                         (\`auto\`); may be repeated, the first that fits counts
`;

const COMMON = `      --format F         the wire format: auto (default), record, otlp-json, otlp-proto, mlflow, weave, trackio or sse
${LAYOUT}  -o, --output OUT       a file, or a folder for several files; compressed if it ends in .gz; without it the
                         standard output
      --report KIND      on the standard error: summary (default), json (a line per record) or none
  -h, --help             this text
`;

const EXIT = `Exit status: 0 done; 1 something was skipped and --strict was given; 2 wrong usage or unreadable input.
`;

const DECODING = `  -t, --tokenizer T      a tokenizer.json or what pack made of it (path or URL, plain or gzip), or the folder that
                         holds tokenizer.json; may be repeated with a pattern on the model name:
                         --tokenizer 'Qwen/*=qwen.json' --tokenizer other.json
      --config FILE      tokenizer_config.json, for --compat transformers4 or transformers5
      --compat MODE      whose decode is followed: tokenizers (default), transformers4 or transformers5
      --existing WHAT    text that is already there: keep (default) or replace
      --skip-special-tokens
                         leave special tokens out of the text
      --drop-ids         take ids out when their text is written and says everything
      --max-text-chars N cut each text after N characters
`;

const MESSAGES = `      --messages         write the conversation that the ids are too, by the tokenizer's chat template, where MLflow,
                         Weave, Trackio and readers of OpenTelemetry's attributes show one
`;

const NO_MESSAGES = `      --no-messages      do not write the conversation that the ids are, by the tokenizer's chat template
`;

export const ENRICH = `Usage: token2text enrich [FILE...] --tokenizer T [options]

Writes the text next to the token ids of each record and changes nothing else.

Options:
${DECODING}${MESSAGES}      --strict           exit with 1 if ids were skipped or a line is broken
${COMMON}
${EXIT}
Examples:
  token2text enrich calls.jsonl --tokenizer tokenizer.json > calls.text.jsonl
  zcat calls.jsonl.gz | token2text enrich -t tokenizer.json -o calls.text.jsonl.gz
  token2text enrich runs/*.jsonl -t tokenizer.json -o decoded/
`;

export const STRIP = `Usage: token2text strip [FILE...] [options]

Takes out the text that enrich has added: the result is the file of before.

Options:
      --messages         take out the conversations too that enrich has added; in Trackio's messages they stay
      --strict           exit with 1 if a line is broken
${COMMON}
${EXIT}`;

export const CHECK = `Usage: token2text check [FILE...] --tokenizer T [options]

Reads the rollouts of each file and tells what is wrong with them: whether each turn continues the one before with the
same ids, whether encoding the text again would give other ids, masks, log-probabilities, lengths, special tokens inside
the model's text, text that repeats itself. A line for each rollout, and below it what was found.

Options:
  -t, --tokenizer T      a tokenizer.json (path or URL, plain or gzip), or the folder that holds it; may be repeated with
                         a pattern on the model name: --tokenizer 'Qwen/*=qwen.json' --tokenizer other.json
      --level LEVEL      list findings of this level and above, and exit with 1 if there are any: error, warning
                         (default) or info
      --json             a JSON line for each rollout, with every finding, in place of the table
      --no-drift         do not encode the texts again, which takes longer than all the rest; then T may be what pack
                         made
      --max-tokens N     a call of more tokens is a finding
      --template NAME    the chat template, where the tokenizer's tokens do not tell it: chatml, llama3, gemma, mistral,
                         mistral-v3, deepseek, kimi-k2, glm4, chatglm3, harmony, phi3, phi4, phi4-mini or command-r
      --format F         the wire format: auto (default), record, otlp-json, otlp-proto, mlflow, weave, trackio or sse
${LAYOUT}  -h, --help             this text

Exit status: 0 nothing found; 1 findings at or above the level; 2 wrong usage or unreadable input.

Examples:
  token2text check rollouts.jsonl --tokenizer tokenizer.json
  token2text check step_*.jsonl -t tokenizer.json --level error --json > findings.jsonl
`;

export const VIEW = `Usage: token2text view [FILE...] [--tokenizer T] [options]

Serves the viewer's page to this machine and prints its address, with the files opened. Only the page and the files that are named
here can be read; they stay on this machine. FILE and T may also be addresses, which the page fetches itself. A FILE that is named
tokenizer.json or .t2t is a tokenizer.

Options:
  -t, --tokenizer T      a tokenizer.json or what pack made of it, or the folder that holds it; may be repeated with a
                         pattern on the model name: --tokenizer 'Qwen/*=qwen.json' --tokenizer other.json
      --port N           default: 4173, or any that is free
      --mlflow U         an MLflow server whose traces the page can read, under the address that is printed; a name and
                         password are read from MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or a token from
                         MLFLOW_TRACKING_TOKEN, and do not reach the page
      --trackio U        the same for a Trackio server
      --export DIR       serve nothing: write the page, all it needs, and the files into a folder, for any server;
                         \`trackio show --frontend DIR\` shows it in place of Trackio's own page
  -h, --help             this text

Exit status: 0 done; 2 wrong usage, or the port is taken.

Examples:
  token2text view rollouts.jsonl --tokenizer tokenizer.json
  token2text view --trackio http://127.0.0.1:7860 -t tokenizer.json
  token2text view --export page && trackio show --frontend page
`;

export const PACK = `Usage: token2text pack [FILE] [-o OUT] [options]

Makes a tokenizer.json, plain or gzip, a packed file: for --tokenizer, and for pages, which download a third of the bytes
and load it many times faster. It decodes the same and does not encode; another version of token2text may refuse it, so keep
the tokenizer.json. FILE may be the folder that holds it; without FILE the standard input is read.

Options:
  -o, --output OUT       the packed file, compressed if it ends in .gz; without it FILE with the ending .t2t; \`-\` is the
                         standard output
      --config FILE      tokenizer_config.json, for --compat transformers4 or transformers5
      --compat MODE      whose decode is followed: tokenizers (default), transformers4 or transformers5
  -h, --help             this text

Exit status: 0 done; 2 wrong usage or unreadable input.

Example:
  token2text pack tokenizer.json
`;

export const MLFLOW = `Usage: token2text mlflow enrich --tracking-uri U --experiment E --tokenizer T [options]

Reads the traces that an MLflow server has stored and decodes their token ids. Nothing is written unless a mode says so.

Options:
      --tracking-uri U   the address of the server: http://127.0.0.1:5000; or MLFLOW_TRACKING_URI
      --experiment E     the name of the experiment; or MLFLOW_EXPERIMENT_NAME, or MLFLOW_EXPERIMENT_ID
      --filter F         only these traces, in MLflow's language: "tags.step = '3'"
      --limit N          no more than N traces, the oldest first
      --mode MODE        view (default): write nothing; annotate: add each text as an assessment of its span;
                         in-place: write the text into the spans, set what the list of traces shows, and tag the
                         trace token2text.version. There is no way back from in-place
      --dry-run          write nothing, only tell
  -o, --output DIR       write the spans of each trace with their texts into a folder, as MLflow's JSON
${DECODING}${NO_MESSAGES}${LAYOUT}      --strict           exit with 1 if something was skipped
      --report KIND      on the standard error: summary (default), json (a line per trace) or none
  -h, --help             this text

The name and password are read from MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or a token from
MLFLOW_TRACKING_TOKEN. Doing it again, also after it was interrupted, takes up only traces that are not done. Unfinished
traces wait for the next time.

A trainer without a server leaves a file of sqlite, for example mlruns.db. Serve it, then enrich it:
  mlflow server --backend-store-uri sqlite:////tmp/mlruns.db --workers 1

Exit status: 0 done; 1 something was skipped and --strict was given; 2 wrong usage, no answer, or a trace that could not be
read or written.

Example:
  token2text mlflow enrich --tracking-uri http://127.0.0.1:5000 --experiment rollouts -t tokenizer.json --mode in-place
`;

export const TRACKIO = `Usage: token2text trackio enrich --server U --project P --tokenizer T [options]

Reads the traces that a Trackio server has stored and writes, beside each that gains text, an enriched version of it
with the run, the step and the key of the original, whose id is in the metadata of the version under \`token2text\`: a
search for token2text in Trackio's page shows the versions. Originals stay as they are, since Trackio keeps what was
written first. Doing it again, also after it was interrupted, writes only the versions that are not there.

Options:
      --server U         the address of the server: http://127.0.0.1:7860
      --project P        the project
      --run R            only this run, by name or id; may be repeated
      --write-token T    what the server wants from writers; or the variable TRACKIO_WRITE_TOKEN
      --hf-token T       for a server on a Hugging Face Space; or, if its address ends in .hf.space, the variable
                         HF_TOKEN
      --dry-run          write nothing, only tell
      --revision N       write other versions than those of before, after a mistake for example; the default is 1
${DECODING}${NO_MESSAGES}${LAYOUT}      --strict           exit with 1 if ids were skipped
      --report KIND      on the standard error: summary (default), json (a line per trace) or none
  -h, --help             this text

Exit status: 0 done; 1 something was skipped and --strict was given; 2 wrong usage, no answer, or a version that the
server refused.

Example:
  token2text trackio enrich --server http://127.0.0.1:7860 --project my-project --tokenizer tokenizer.json --dry-run
`;
