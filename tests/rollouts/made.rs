//! Rollouts as verl makes and logs them, of any length, with the marks of a chat template: ids in, ids out. What is made here is
//! clean; whoever tests faults changes the ids, masks or numbers of a [`Made`] before it is written.

use serde_json::{Value, json};

use crate::templates::{Frame, Template};

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
    /// Whether it ends with what is taken away at the join.
    pub fn is_ended(&self, template: &Template) -> bool {
        template.ends.iter().any(|end| self.response.last() == Some(&template.mark(end)))
    }

    /// Whether it begins with thoughts.
    pub fn has_thought(&self, template: &Template) -> bool {
        template.thought.is_some_and(|(open, _)| self.response.starts_with(&template.ids(open)))
    }

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
    let mut turns = Vec::new();
    for turn in 0..plan.turns {
        let thought = template.thought.filter(|_| numbers.chance(80)).map(|frame| {
            let thought = numbers.text(plan.words);
            template.ids(&framed(frame, &thought))
        });
        let mut answer = template.ids(&format!("{}{}", template.lead, numbers.text(plan.words)));
        let kept = match &thought {
            Some(_) if plan.strips => [template.ids(template.stripped), answer.clone()].concat(),
            thought => [thought.as_deref().unwrap_or_default(), &answer].concat(),
        };
        if turn + 1 == plan.turns || !numbers.chance(plan.cut) {
            answer.push(match template.ends {
                [] => template.close(),
                ends => template.mark(ends[numbers.below(ends.len())]),
            });
        }
        let response = [thought.unwrap_or_default(), answer].concat();
        let logprobs = response.iter().map(|_| -(numbers.below(4000) as f64) / 1000.0).collect();
        turns.push(Turn { prompt: history.clone(), response, logprobs });
        history.extend(kept);
        let frame = if numbers.chance(70) { template.tool } else { template.user };
        let next = framed(frame, &numbers.text(plan.words));
        let Template { between, assistant, .. } = template;
        history.extend(template.ids(assistant.1));
        history.extend(template.ids(&format!("{between}{next}{between}{}", assistant.0)));
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
        for (number, turn) in self.turns.iter().enumerate() {
            // What is taken away at a join is not in the trajectory as the model's, also where it is put there again.
            let is_taken = number + 1 < self.turns.len() && turn.is_ended(self.template);
            let len = turn.response.len() - usize::from(is_taken);
            let start = turn.prompt.len() - first.prompt.len();
            mask[start..start + len].fill(1);
            logprobs[start..start + len].copy_from_slice(&turn.logprobs[..len]);
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
