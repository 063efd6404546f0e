//! Chat templates as the models' own `chat_template` writes them, as far as a conversation with tools needs them, and the
//! tokenizers that they go with.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::{Value, json};
use token2text::rollout::{Chat, Known};
use token2text::{DecodeOptions, Tokenizer, TokenizerSet};

use crate::chats::{chat_lines, tokenizer_json};

/// What stands before and behind the text of a message.
pub type Frame = (&'static str, &'static str);

/// A chat template.
pub struct Template {
    pub name: &'static str,
    /// The tokenizer, by its key in `tests/oracle/tokenizers.json`. For what it lacks see [`Template::pair`].
    pub tokenizer: &'static str,
    pub begin: &'static str,
    /// Nothing where the template has no message of its own for it.
    pub system: Frame,
    pub user: Frame,
    /// What opens the assistant's turn, and what ends it in the history.
    pub assistant: Frame,
    pub tool: Frame,
    /// What stands between the end of a message and the next one.
    pub between: &'static str,
    /// What the model writes before its answer.
    pub lead: &'static str,
    /// What it writes around its thoughts, if it thinks.
    pub thought: Option<Frame>,
    /// What the history has in their place, if it leaves them out.
    pub stripped: &'static str,
    /// What the model may end its turn with, where that is not what the history has: it is taken away at the join.
    pub ends: &'static [&'static str],
    /// A token that opens messages; the text where those end turns too.
    pub open: &'static str,
}

const PLAIN: Template = Template {
    name: "",
    tokenizer: "",
    begin: "",
    system: ("", ""),
    user: ("", ""),
    assistant: ("", ""),
    tool: ("", ""),
    between: "",
    lead: "",
    thought: None,
    stripped: "",
    ends: &[],
    open: "",
};

/// Those whose tokenizers ship with their marks come first.
pub static TEMPLATES: [Template; 14] = [
    Template {
        name: "chatml",
        tokenizer: "qwen3",
        system: ("<|im_start|>system\n", "<|im_end|>"),
        user: ("<|im_start|>user\n", "<|im_end|>"),
        assistant: ("<|im_start|>assistant\n", "<|im_end|>"),
        tool: ("<|im_start|>user\n<tool_response>\n", "\n</tool_response><|im_end|>"),
        between: "\n",
        thought: Some(("<think>\n", "\n</think>\n\n")),
        open: "<|im_start|>",
        ..PLAIN
    },
    Template {
        name: "llama3",
        tokenizer: "llama3_1",
        begin: "<|begin_of_text|>",
        system: ("<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"),
        user: ("<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"),
        assistant: ("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
        tool: ("<|start_header_id|>ipython<|end_header_id|>\n\n", "<|eot_id|>"),
        open: "<|start_header_id|>",
        ..PLAIN
    },
    Template {
        name: "gemma",
        tokenizer: "gemma3",
        begin: "<bos>",
        user: ("<start_of_turn>user\n", "<end_of_turn>"),
        assistant: ("<start_of_turn>model\n", "<end_of_turn>"),
        tool: ("<start_of_turn>user\n", "<end_of_turn>"),
        between: "\n",
        open: "<start_of_turn>",
        ..PLAIN
    },
    Template {
        name: "mistral",
        tokenizer: "mistral_nemo",
        begin: "<s>",
        user: ("[INST]", "[/INST]"),
        assistant: ("", "</s>"),
        tool: ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
        open: "[INST]",
        ..PLAIN
    },
    Template {
        name: "deepseek",
        tokenizer: "deepseek_v3",
        begin: "<｜begin▁of▁sentence｜>",
        user: ("<｜User｜>", ""),
        assistant: ("<｜Assistant｜>", "<｜end▁of▁sentence｜>"),
        tool: ("<｜User｜>", ""),
        open: "<｜User｜>",
        ..PLAIN
    },
    Template {
        name: "command-r",
        tokenizer: "command_r_plus",
        begin: "<BOS_TOKEN>",
        system: ("<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
        user: ("<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
        assistant: ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
        tool: ("<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><results>\n", "\n</results><|END_OF_TURN_TOKEN|>"),
        open: "<|START_OF_TURN_TOKEN|>",
        ..PLAIN
    },
    Template {
        name: "harmony",
        tokenizer: "gptoss",
        system: ("<|start|>system<|message|>", "<|end|>"),
        user: ("<|start|>user<|message|>", "<|end|>"),
        assistant: ("<|start|>assistant", "<|end|>"),
        tool: ("<|start|>functions.f to=assistant<|channel|>commentary<|message|>", "<|end|>"),
        lead: "<|channel|>final<|message|>",
        thought: Some(("<|channel|>analysis<|message|>", "<|end|><|start|>assistant")),
        // What ends the answer is an end in the history.
        ends: &["<|return|>"],
        open: "<|start|>",
        ..PLAIN
    },
    Template {
        name: "chatglm3",
        tokenizer: "chatglm3",
        begin: "[gMASK]sop",
        system: ("<|system|>\n ", ""),
        user: ("<|user|>\n ", ""),
        assistant: ("<|assistant|>", ""),
        tool: ("<|observation|>\n ", ""),
        lead: "\n ",
        ends: &["<|user|>", "<|observation|>"],
        open: "[gMASK]",
        ..PLAIN
    },
    Template {
        name: "glm4",
        tokenizer: "gpt35turbo",
        begin: "[gMASK]<sop>",
        system: ("<|system|>\n", ""),
        user: ("<|user|>\n", ""),
        assistant: ("<|assistant|>", ""),
        tool: ("<|observation|>\n<tool_response>\n", "\n</tool_response>"),
        lead: "\n",
        thought: Some(("\n<think>", "</think>")),
        stripped: "\n<think></think>",
        ends: &["<|user|>", "<|observation|>"],
        open: "[gMASK]",
        ..PLAIN
    },
    Template {
        name: "kimi-k2",
        tokenizer: "gpt35turbo",
        system: ("<|im_system|>system<|im_middle|>", "<|im_end|>"),
        user: ("<|im_user|>user<|im_middle|>", "<|im_end|>"),
        assistant: ("<|im_assistant|>assistant<|im_middle|>", "<|im_end|>"),
        tool: ("<|im_system|>tool<|im_middle|>", "<|im_end|>"),
        thought: Some(("<think>", "</think>")),
        open: "<|im_user|>",
        ..PLAIN
    },
    Template {
        name: "mistral-v3",
        tokenizer: "llama2",
        begin: "<s>",
        user: ("[INST]", "[/INST]"),
        assistant: ("", "</s>"),
        tool: ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
        open: "[INST]",
        ..PLAIN
    },
    Template {
        name: "phi4",
        tokenizer: "gpt35turbo",
        system: ("<|im_start|>system<|im_sep|>", "<|im_end|>"),
        user: ("<|im_start|>user<|im_sep|>", "<|im_end|>"),
        assistant: ("<|im_start|>assistant<|im_sep|>", "<|im_end|>"),
        tool: ("<|im_start|>user<|im_sep|>", "<|im_end|>"),
        open: "<|im_start|>",
        ..PLAIN
    },
    Template {
        name: "phi4-mini",
        tokenizer: "gpt4o",
        system: ("<|system|>", "<|end|>"),
        user: ("<|user|>", "<|end|>"),
        assistant: ("<|assistant|>", "<|end|>"),
        tool: ("<|tool_response|>", "<|end|>"),
        open: "<|user|>",
        ..PLAIN
    },
    // Its marks take the white space behind them.
    Template {
        name: "phi3",
        tokenizer: "llama2",
        begin: "<s>",
        system: ("<|system|>\n", "<|end|>\n"),
        user: ("<|user|>\n", "<|end|>\n"),
        assistant: ("<|assistant|>\n", "<|end|>"),
        tool: ("<|user|>\n", "<|end|>\n"),
        open: "<|user|>",
        ..PLAIN
    },
];

/// Those at whose joins nothing is taken away.
pub fn extending() -> impl Iterator<Item = &'static Template> {
    TEMPLATES.iter().filter(|template| template.ends.is_empty())
}

pub fn template(name: &str) -> &'static Template {
    TEMPLATES.iter().find(|template| template.name == name).unwrap()
}

/// A tokenizer of ours with its chat template, and the reference's for encoding.
pub struct Pair {
    pub ours: Arc<Tokenizer>,
    pub chat: Chat,
    pub reference: tokenizers::Tokenizer,
}

static LOADED: LazyLock<Mutex<HashMap<&'static str, &'static Pair>>> = LazyLock::new(Mutex::default);

impl Template {
    /// The tokenizer's file; where no tokenizer of the family ships, one with the family's marks besides, as the oracle of
    /// messages has it.
    pub fn json(&self) -> Vec<u8> {
        let is_it = |line: &&Value| line["template"] == self.name && line["tokenizer"] == self.tokenizer;
        let line = chat_lines().iter().find(is_it).cloned();
        tokenizer_json(self.tokenizer, line.as_ref().map_or(&json!([]), |line| &line["tokens"]))
    }

    pub fn pair(&self) -> &'static Pair {
        let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let load = || {
            let bytes = self.json();
            let ours = Arc::new(Tokenizer::from_json(&bytes).unwrap());
            let chat = Chat::of(&ours).unwrap_or_else(|| panic!("{}: no template fits", self.name));
            assert_eq!(chat.name(), self.name);
            let pair = Pair { ours, chat, reference: tokenizers::Tokenizer::from_bytes(&bytes).unwrap() };
            &*Box::leak(Box::new(pair))
        };
        loaded.entry(self.name).or_insert_with(load)
    }

    /// The tokenizer for all spans.
    pub fn set(&self) -> TokenizerSet {
        let mut set = TokenizerSet::new();
        set.add("*", self.pair().ours.clone());
        set
    }

    /// What joins ask of tokens.
    pub fn known(&self) -> Known<'static> {
        let pair = self.pair();
        Known { tokenizer: &pair.ours, chat: Some(&pair.chat) }
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
        self.mark(self.ends.first().unwrap_or(&self.assistant.1))
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
}
