//! Rollouts as verl makes and logs them, of any length, with the marks of several chat templates: ids in, ids out. What is
//! made here is clean; whoever tests faults changes the ids, masks or numbers of a [`Made`] before it is written.
//!
//! The templates are those of the models' own `chat_template`, as far as a conversation with tools needs them.
#![allow(dead_code)]

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::{Value, json};
use token2text::rollout::{Mark, Tokens};
use token2text::{DecodeOptions, Tokenizer};

/// What stands before and behind the text of a message.
pub type Frame = (&'static str, &'static str);

/// A chat template.
pub struct Template {
    pub name: &'static str,
    /// The tokenizer, by its key in `tests/oracle/tokenizers.json`.
    pub tokenizer: &'static str,
    pub begin: &'static str,
    pub system: Frame,
    pub user: Frame,
    pub assistant: Frame,
    pub tool: Frame,
    /// What stands between the end of a message and the next one.
    pub between: &'static str,
    /// Whether the model thinks, between `<think>` and `</think>`.
    pub thinks: bool,
    /// Tokens that open messages.
    pub opens: &'static [&'static str],
}

pub const TEMPLATES: [Template; 5] = [
    Template {
        name: "chatml",
        tokenizer: "qwen3",
        begin: "",
        system: ("<|im_start|>system\n", "<|im_end|>"),
        user: ("<|im_start|>user\n", "<|im_end|>"),
        assistant: ("<|im_start|>assistant\n", "<|im_end|>"),
        tool: ("<|im_start|>user\n<tool_response>\n", "\n</tool_response><|im_end|>"),
        between: "\n",
        thinks: true,
        opens: &["<|im_start|>"],
    },
    Template {
        name: "llama3",
        tokenizer: "llama3_1",
        begin: "<|begin_of_text|>",
        system: ("<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"),
        user: ("<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"),
        assistant: ("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
        tool: ("<|start_header_id|>ipython<|end_header_id|>\n\n", "<|eot_id|>"),
        between: "",
        thinks: false,
        opens: &["<|start_header_id|>"],
    },
    Template {
        name: "gemma",
        tokenizer: "gemma3",
        begin: "<bos>",
        system: ("", ""),
        user: ("<start_of_turn>user\n", "<end_of_turn>"),
        assistant: ("<start_of_turn>model\n", "<end_of_turn>"),
        tool: ("<start_of_turn>user\n", "<end_of_turn>"),
        between: "\n",
        thinks: false,
        opens: &["<start_of_turn>"],
    },
    Template {
        name: "mistral",
        tokenizer: "mistral_nemo",
        begin: "<s>",
        system: ("", ""),
        user: ("[INST]", "[/INST]"),
        assistant: ("", "</s>"),
        tool: ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
        between: "",
        thinks: false,
        opens: &["[INST]", "[TOOL_RESULTS]"],
    },
    Template {
        name: "deepseek_v3",
        tokenizer: "deepseek_v3",
        begin: "<｜begin▁of▁sentence｜>",
        system: ("", ""),
        user: ("<｜User｜>", ""),
        assistant: ("<｜Assistant｜>", "<｜end▁of▁sentence｜>"),
        tool: ("<｜User｜>", ""),
        between: "",
        thinks: false,
        opens: &["<｜User｜>", "<｜Assistant｜>"],
    },
];

pub fn template(name: &str) -> &'static Template {
    TEMPLATES.iter().find(|template| template.name == name).unwrap()
}

/// A tokenizer of ours, and the reference's for encoding.
pub struct Pair {
    pub ours: Tokenizer,
    pub reference: tokenizers::Tokenizer,
}

static LOADED: LazyLock<Mutex<HashMap<&'static str, Arc<Pair>>>> = LazyLock::new(Mutex::default);

impl Template {
    pub fn pair(&self) -> Arc<Pair> {
        let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let load = || {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(format!(".cache/tokenizers/{}/tokenizer.json", self.tokenizer));
            let bytes = std::fs::read(&path)
                .unwrap_or_else(|error| panic!("{}: {error}; run `make fetch-tokenizers`", path.display()));
            let reference = tokenizers::Tokenizer::from_bytes(&bytes).unwrap();
            Arc::new(Pair { ours: Tokenizer::from_json(&bytes).unwrap(), reference })
        };
        loaded.entry(self.tokenizer).or_insert_with(load).clone()
    }

    /// The ids of a text with marks in it, without what the tokenizer puts around texts.
    pub fn ids(&self, text: &str) -> Vec<u32> {
        self.pair().reference.encode(text, false).unwrap().get_ids().to_vec()
    }

    /// The id of a mark.
    pub fn mark(&self, mark: &str) -> u32 {
        self.pair().reference.token_to_id(mark).unwrap_or_else(|| panic!("{}: no {mark}", self.name))
    }

    /// What ends the model's message.
    pub fn close(&self) -> u32 {
        self.mark(self.assistant.1)
    }

    /// The first token of a range, and two that say the same in its place: what a text that is tokenized again may become.
    pub fn split(&self, ids: &[u32], from: usize) -> Option<(usize, [u32; 2])> {
        let pair = self.pair();
        let text = |ids: &[u32]| pair.ours.decode_bytes(ids, DecodeOptions::default());
        for at in from..ids.len() {
            let said = String::from_utf8(text(&ids[at..=at])).unwrap_or_default();
            let is_plain = said.len() > 2 && said.trim_start().chars().all(|c| c.is_ascii_alphabetic());
            for cut in (1..said.len()).filter(|_| is_plain) {
                let halves = [self.ids(&said[..cut]), self.ids(&said[cut..])];
                if let [[one], [two]] = halves.each_ref().map(Vec::as_slice)
                    && text(&[ids[at.saturating_sub(1)], *one, *two]) == text(&ids[at.saturating_sub(1)..=at])
                {
                    return Some((at, [*one, *two]));
                }
            }
        }
        None
    }

    /// What joins ask of tokens, from this template's marks.
    pub fn marks(&self) -> Marks {
        let ids = |marks: &[&str]| marks.iter().map(|mark| self.mark(mark)).collect();
        let closes = [self.system.1, self.user.1, self.assistant.1];
        let closes = closes.into_iter().filter(|close| !close.is_empty()).map(|close| self.mark(close)).collect();
        let think = self.thinks.then(|| [self.mark("<think>"), self.mark("</think>")]);
        Marks { pair: self.pair(), opens: ids(self.opens), closes, think }
    }
}

/// What a template's marks say of tokens.
pub struct Marks {
    pub pair: Arc<Pair>,
    pub opens: Vec<u32>,
    pub closes: Vec<u32>,
    pub think: Option<[u32; 2]>,
}

impl Tokens for Marks {
    fn bytes(&self, ids: &[u32]) -> Option<Vec<u8>> {
        Some(self.pair.ours.decode_bytes(ids, DecodeOptions::default()))
    }

    fn mark(&self, id: u32) -> Option<Mark> {
        match id {
            _ if self.opens.contains(&id) => Some(Mark::Open),
            _ if self.closes.contains(&id) => Some(Mark::Close),
            _ if self.think.is_some_and(|think| think.contains(&id)) => Some(Mark::Reasoning),
            _ => None,
        }
    }

    fn reasoning(&self, ids: &[u32]) -> Vec<[usize; 2]> {
        let Some([open, close]) = self.think else { return Vec::new() };
        let is_space = |id: u32| self.bytes(&[id]).unwrap().iter().all(u8::is_ascii_whitespace);
        let (mut ranges, mut at) = (Vec::new(), 0);
        while at < ids.len() {
            let start = at;
            at += 1;
            if ids[start] == open {
                while at < ids.len() && ids[at - 1] != close && !self.closes.contains(&ids[at]) {
                    at += 1;
                }
                while at < ids.len() && is_space(ids[at]) {
                    at += 1;
                }
                ranges.push([start, at]);
            }
        }
        ranges
    }
}

/// Numbers that are the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Some words, in several languages.
    pub fn text(&mut self, most: usize) -> String {
        const WORDS: [&str; 24] = [
            "the",
            "weather",
            "in",
            "Kyoto",
            "is",
            "rainy",
            "tomorrow",
            "25 °C",
            "京都",
            "明日は雨",
            "шторм",
            "gewiß",
            "🌦️",
            "👩‍💻",
            "return",
            "x += 1;",
            "{\"city\": \"Oslo\"}",
            "```python",
            "\n",
            "\n\n",
            "e\u{301}",
            "naïve",
            "3.14159",
            "مرحبا",
        ];
        let count = 1 + self.below(most);
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect();
        format!("So {}.", words.join(" "))
    }
}

/// A turn: what the model was given, and what it wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub prompt: Vec<u32>,
    pub response: Vec<u32>,
    pub logprobs: Vec<f64>,
}

impl Turn {
    /// Prompt and response.
    pub fn ids(&self) -> Vec<u32> {
        [self.prompt.as_slice(), &self.response].concat()
    }
}

/// What verl's `run` gives back: the first prompt, and all that came after it.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub prompt: Vec<u32>,
    pub response: Vec<u32>,
    pub mask: Vec<u8>,
    pub logprobs: Vec<f64>,
}

/// A rollout that was made.
#[derive(Clone)]
pub struct Made {
    pub template: &'static Template,
    pub request_id: String,
    pub step: i64,
    pub sample_index: i64,
    pub rollout_n: i64,
    pub turns: Vec<Turn>,
    /// None for one whose prompts have no reasoning of earlier turns: no list of ids has it all.
    pub run: Option<Run>,
}

/// How a rollout is made.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub turns: usize,
    /// The most words of a text.
    pub words: usize,
    /// Whether the template leaves the reasoning out of the history.
    pub strips: bool,
    /// How many percent of the answers end without the mark.
    pub cut: usize,
}

/// A clean rollout.
pub fn make(template: &'static Template, plan: Plan, numbers: &mut Numbers) -> Made {
    let framed = |frame: Frame, text: &str| format!("{}{text}{}", frame.0, frame.1);
    let (system, question) = (numbers.text(plan.words), numbers.text(plan.words));
    let start = format!(
        "{}{}{}{}{}{}",
        template.begin,
        framed(template.system, &system),
        if template.system.0.is_empty() { "" } else { template.between },
        framed(template.user, &question),
        template.between,
        template.assistant.0
    );
    let mut history = template.ids(&start);
    let close = template.close();
    let mut turns = Vec::new();
    for turn in 0..plan.turns {
        let thought = (template.thinks && numbers.chance(80))
            .then(|| template.ids(&format!("<think>\n{}\n</think>\n\n", numbers.text(plan.words))));
        let mut answer = template.ids(&numbers.text(plan.words));
        let is_cut = turn + 1 < plan.turns && numbers.chance(plan.cut);
        if !is_cut {
            answer.push(close);
        }
        let response = [thought.as_deref().unwrap_or_default(), &answer].concat();
        let logprobs = response.iter().map(|_| -(numbers.below(4000) as f64) / 1000.0).collect();
        turns.push(Turn { prompt: history.clone(), response: response.clone(), logprobs });
        history.extend(if plan.strips { &answer } else { &response });
        if is_cut {
            history.push(close);
        }
        let frame = if numbers.chance(70) { template.tool } else { template.user };
        let next = framed(frame, &numbers.text(plan.words));
        history
            .extend(template.ids(&format!("{}{next}{}{}", template.between, template.between, template.assistant.0)));
    }
    let mut made = Made {
        template,
        request_id: format!("request-{:08x}", numbers.below(1 << 31)),
        step: 3,
        sample_index: numbers.below(1000) as i64,
        rollout_n: numbers.below(8) as i64,
        turns,
        run: None,
    };
    made.run = if plan.strips { None } else { made.trajectory() };
    made
}

impl Made {
    /// What verl's `run` gives back for these turns.
    pub fn trajectory(&self) -> Option<Run> {
        let (first, last) = (self.turns.first()?, self.turns.last()?);
        let response = last.ids().split_off(first.prompt.len());
        let (mut mask, mut logprobs) = (vec![0; response.len()], vec![0.0; response.len()]);
        for turn in &self.turns {
            let start = turn.prompt.len() - first.prompt.len();
            let places = start..start + turn.response.len();
            mask[places.clone()].fill(1);
            logprobs[places].copy_from_slice(&turn.logprobs);
        }
        Some(Run { prompt: first.prompt.clone(), response, mask, logprobs })
    }

    /// Records as verl's ops make them, in the order in which they end: of each turn the generation and the parser's, then
    /// that of the run. Those in a tree have ids, parents and times.
    pub fn records(&self, in_tree: bool) -> Vec<Value> {
        let attributes = json!({ "sample_index": self.sample_index, "step": self.step, "rollout_n": self.rollout_n,
            "validate": false, "experiment_name": "made" });
        let record = |name: &str, at: usize, length: usize, inputs: Value, outputs: Value| {
            let mut record = json!({ "name": name, "inputs": inputs, "outputs": outputs, "attributes": attributes });
            if in_tree {
                let is_run = name.ends_with(".run");
                record["trace_id"] = json!(format!("trace-{}", self.request_id));
                record["span_id"] = json!(format!("{}-{at}", self.request_id));
                record["parent_id"] = if is_run { Value::Null } else { json!(format!("{}-0", self.request_id)) };
                record["start_time_unix_nano"] = json!(1_700_000_000_000_000_000_u64 + at as u64 * 1000);
                record["end_time_unix_nano"] = json!(1_700_000_000_000_000_000_u64 + (at + length) as u64 * 1000);
            }
            record
        };
        let mut records = Vec::new();
        for (number, Turn { prompt, response, logprobs }) in self.turns.iter().enumerate() {
            let inputs = json!({ "request_id": self.request_id, "prompt_ids": prompt, "sampling_params": { "temperature": 1.0 },
                "image_data": null, "kwargs": {} });
            let outputs =
                json!({ "token_ids": response, "log_probs": logprobs, "stop_reason": "completed", "extra_fields": {} });
            records.push(record("LLMServerClient.generate", 1 + number * 2, 1, inputs, outputs));
            let inputs = json!({ "responses_ids": response, "tools": [] });
            records.push(record("HermesToolParser.extract_tool_calls", 2 + number * 2, 1, inputs, json!(["", []])));
        }
        if let Some(Run { prompt, response, mask, logprobs }) = &self.run {
            let inputs = json!({ "sampling_params": {}, "kwargs": { "raw_prompt": [], "index": self.sample_index } });
            let outputs = json!({ "prompt_ids": prompt, "response_ids": response, "response_mask": mask,
                "response_logprobs": logprobs, "reward_score": null, "num_turns": self.turns.len() * 2, "extra_fields": {} });
            records.push(record("ToolAgentLoop.run", 0, 2 + self.turns.len() * 2, inputs, outputs));
        }
        records
    }
}

/// Records as JSON lines.
pub fn lines(records: &[Value]) -> Vec<u8> {
    let mut body = Vec::new();
    for record in records {
        body.extend_from_slice(record.to_string().as_bytes());
        body.push(b'\n');
    }
    body
}
