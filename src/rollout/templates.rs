//! The chat templates that are known, as data: what each token means, how a header ends, how reasoning and calls of tools are
//! written. What reads them has no branch for a family; a new one is an entry here.
//!
//! Where each set of marks comes from:
//!
//! | template | source | checked against it |
//! |---|---|---|
//! | `phi4` | `chat_template` of microsoft/phi-4 | no |
//! | `chatml` | `chat_template` of Qwen 2.5, Qwen 3, InternLM2; of Qwen3-Coder for its calls | Qwen 2.5, Qwen 3, InternLM2 |
//! | `harmony` | OpenAI's "harmony response format", as gpt-oss writes it | no |
//! | `llama3` | `chat_template` of Llama 3.1: the short one that packages ship; Meta's long one for calls | the short one |
//! | `gemma` | `chat_template` of Gemma 3 | Gemma 3 |
//! | `deepseek` | `chat_template` of DeepSeek V3; of R1 and V3.1 for reasoning and their calls | DeepSeek V3 |
//! | `kimi-k2` | `chat_template` of Kimi K2 and K2 Thinking | no |
//! | `mistral-v3` | `chat_template` of Mistral 7B v0.3, which puts a space before each text | no |
//! | `mistral` | `chat_template` of Mistral Nemo; of Mistral Small 3.2 and Magistral for what came later | Mistral Nemo |
//! | `chatglm3` | `chat_template` of ChatGLM3; its prompt guide | ChatGLM3 |
//! | `glm4` | `chat_template` of GLM-4.5 | no |
//! | `command-r` | `chat_template` of Command R+ | Command R+ |
//! | `phi4-mini` | model card of Phi-4-mini | no |
//! | `phi3` | `chat_template` of Phi-3 | no |
//!
//! "Checked" means that the real template was rendered and tokenized, and the same messages came back (`tests/messages.rs`).

use super::syntax::{Calls, Does::*, Header, Shape, Template, Thinking};

const PLAIN: Template = Template {
    name: "",
    is_checked: false,
    needs: &[],
    marks: &[],
    header: Header::Mark,
    after_header: &[],
    preamble: None,
    open_ended: &[],
    roles: &[],
    other_roles: None,
    has_channels: false,
    thinking: None,
    calls: &[],
    results: None,
};

const THINK: Option<Thinking> = Some(Thinking { open: "<think>", close: "</think>", trims: true });
const RESULTS: Option<(&str, &str)> = Some(("<tool_response>\n", "\n</tool_response>"));
const PLAIN_CALLS: Calls = Calls { section: ("", ""), open: "", close: "", shapes: &[], gap: 0 };

/// All templates. The first that fits is taken: one that asks for more tokens stands before one that asks for fewer of them,
/// and ChatML before the rest, since models that were tuned to it keep the tokens of the template that they had.
pub(super) const TEMPLATES: &[Template] = &[
    Template {
        name: "phi4",
        needs: &["<|im_start|>", "<|im_sep|>", "<|im_end|>", "<|dummy_85|>"],
        marks: &[
            ("<|im_start|>", Open),
            ("<|im_sep|>", EndHeader),
            ("<|im_end|>", Close),
            ("<|endoftext|>", CloseOrPad),
            ("<|dummy_85|>", Pad),
        ],
        thinking: THINK,
        ..PLAIN
    },
    Template {
        name: "chatml",
        is_checked: true,
        needs: &["<|im_start|>", "<|im_end|>"],
        marks: &[
            ("<|im_start|>", Open),
            ("<|im_end|>", Close),
            ("<|endoftext|>", CloseOrPad),
            ("</s>", CloseOrPad),
            ("<s>", Begin),
            ("<|startoftext|>", Begin),
            ("<|begin_of_text|>", Begin),
            ("<think>", Reasoning),
            ("</think>", Reasoning),
            ("<tool_call>", Tool),
            ("</tool_call>", Tool),
            ("<tool_response>", Tool),
            ("</tool_response>", Tool),
            ("<|vision_start|>", Placeholder),
            ("<|vision_end|>", Placeholder),
            ("<|vision_pad|>", Placeholder),
            ("<|image_pad|>", Placeholder),
            ("<|video_pad|>", Placeholder),
            ("<|audio_bos|>", Placeholder),
            ("<|audio_eos|>", Placeholder),
            ("<|AUDIO|>", Placeholder),
        ],
        header: Header::Line,
        roles: &[("environment", "tool")],
        thinking: THINK,
        calls: &[
            Calls { open: "<tool_call>", close: "</tool_call>", shapes: &[Shape::Json], gap: 1, ..PLAIN_CALLS },
            Calls { open: "<tool_call>", close: "</tool_call>", shapes: &[Shape::FunctionTags], gap: 2, ..PLAIN_CALLS },
        ],
        results: RESULTS,
        ..PLAIN
    },
    Template {
        name: "harmony",
        needs: &["<|start|>", "<|channel|>", "<|message|>", "<|end|>"],
        marks: &[
            ("<|startoftext|>", Begin),
            ("<|start|>", Open),
            ("<|channel|>", InHeader),
            ("<|constrain|>", InHeader),
            ("<|message|>", EndHeader),
            ("<|end|>", Close),
            ("<|return|>", Close),
            ("<|call|>", Close),
            ("<|endoftext|>", CloseOrPad),
        ],
        other_roles: Some("tool"),
        has_channels: true,
        ..PLAIN
    },
    Template {
        name: "llama3",
        is_checked: true,
        needs: &["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
        marks: &[
            ("<|begin_of_text|>", Begin),
            ("<|start_header_id|>", Open),
            ("<|end_header_id|>", EndHeader),
            ("<|eot_id|>", Close),
            ("<|eom_id|>", Close),
            ("<|end_of_text|>", CloseOrPad),
            ("<|finetune_right_pad_id|>", Pad),
            ("<|python_tag|>", Tool),
            ("<|image|>", Placeholder),
        ],
        after_header: &["\n\n"],
        roles: &[("ipython", "tool")],
        calls: &[
            Calls { open: "<|python_tag|>", shapes: &[Shape::Json, Shape::PythonCall], ..PLAIN_CALLS },
            Calls { shapes: &[Shape::Json], ..PLAIN_CALLS },
        ],
        ..PLAIN
    },
    Template {
        name: "gemma",
        is_checked: true,
        needs: &["<start_of_turn>", "<end_of_turn>"],
        marks: &[
            ("<bos>", Begin),
            ("<start_of_turn>", Open),
            ("<end_of_turn>", Close),
            ("<eos>", Close),
            ("<pad>", Pad),
            ("<start_of_image>", Placeholder),
            ("<end_of_image>", Placeholder),
            ("<image_soft_token>", Placeholder),
        ],
        header: Header::Line,
        roles: &[("model", "assistant")],
        ..PLAIN
    },
    Template {
        name: "deepseek",
        is_checked: true,
        needs: &["<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"],
        marks: &[
            ("<｜begin▁of▁sentence｜>", Begin),
            ("<｜User｜>", OpenAs("user")),
            ("<｜Assistant｜>", OpenAs("assistant")),
            ("<｜end▁of▁sentence｜>", CloseOrPad),
            ("<｜▁pad▁｜>", Pad),
            ("<think>", Reasoning),
            ("</think>", Reasoning),
            ("<｜tool▁calls▁begin｜>", Tool),
            ("<｜tool▁calls▁end｜>", Tool),
            ("<｜tool▁call▁begin｜>", Tool),
            ("<｜tool▁call▁end｜>", Tool),
            ("<｜tool▁sep｜>", Tool),
            ("<｜tool▁outputs▁begin｜>", CloseTool),
            ("<｜tool▁outputs▁end｜>", CloseToolThen("assistant")),
            ("<｜tool▁output▁begin｜>", OpenTool),
            ("<｜tool▁output▁end｜>", CloseTool),
        ],
        header: Header::None,
        preamble: Some("system"),
        open_ended: &["system", "user"],
        thinking: THINK,
        calls: &[Calls {
            section: ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
            open: "<｜tool▁call▁begin｜>",
            close: "<｜tool▁call▁end｜>",
            shapes: &[Shape::KindThenFence("<｜tool▁sep｜>"), Shape::NameThenJson("<｜tool▁sep｜>", "")],
            gap: 0,
        }],
        ..PLAIN
    },
    Template {
        name: "kimi-k2",
        needs: &["<|im_user|>", "<|im_assistant|>", "<|im_middle|>", "<|im_end|>"],
        marks: &[
            ("[BOS]", Begin),
            ("<|im_system|>", Open),
            ("<|im_user|>", Open),
            ("<|im_assistant|>", Open),
            ("<|im_middle|>", EndHeader),
            ("<|im_end|>", Close),
            ("[EOS]", CloseOrPad),
            ("[PAD]", Pad),
            ("<think>", Reasoning),
            ("</think>", Reasoning),
            ("<|tool_calls_section_begin|>", Tool),
            ("<|tool_calls_section_end|>", Tool),
            ("<|tool_call_begin|>", Tool),
            ("<|tool_call_argument_begin|>", Tool),
            ("<|tool_call_end|>", Tool),
        ],
        roles: &[("tool_declare", "system")],
        other_roles: Some("tool"),
        thinking: THINK,
        calls: &[Calls {
            section: ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
            open: "<|tool_call_begin|>",
            close: "<|tool_call_end|>",
            shapes: &[Shape::IdThenJson("<|tool_call_argument_begin|>")],
            gap: 0,
        }],
        ..PLAIN
    },
    Template {
        name: "mistral-v3",
        needs: &["[INST]", "[/INST]", "[control_8]"],
        marks: &[
            ("<s>", Begin),
            ("[INST]", OpenAs("user")),
            ("[/INST]", CloseThen("assistant")),
            ("[AVAILABLE_TOOLS]", OpenAs("system")),
            ("[/AVAILABLE_TOOLS]", Close),
            ("[TOOL_RESULTS]", OpenTool),
            ("[/TOOL_RESULTS]", CloseToolThen("assistant")),
            ("[TOOL_CALLS]", Tool),
            ("</s>", CloseOrPad),
        ],
        header: Header::None,
        after_header: &[" "],
        calls: &[Calls { open: "[TOOL_CALLS]", shapes: &[Shape::Json], ..PLAIN_CALLS }],
        ..PLAIN
    },
    Template {
        name: "mistral",
        is_checked: true,
        needs: &["[INST]", "[/INST]"],
        marks: &[
            ("<s>", Begin),
            ("[INST]", OpenAs("user")),
            ("[/INST]", CloseThen("assistant")),
            ("[SYSTEM_PROMPT]", OpenAs("system")),
            ("[/SYSTEM_PROMPT]", Close),
            ("[AVAILABLE_TOOLS]", OpenAs("system")),
            ("[/AVAILABLE_TOOLS]", Close),
            ("[TOOL_RESULTS]", OpenTool),
            ("[/TOOL_RESULTS]", CloseToolThen("assistant")),
            ("[TOOL_CALLS]", Tool),
            ("[ARGS]", Tool),
            ("[CALL_ID]", Tool),
            ("[THINK]", Reasoning),
            ("[/THINK]", Reasoning),
            ("[IMG]", Placeholder),
            ("[IMG_BREAK]", Placeholder),
            ("[IMG_END]", Placeholder),
            ("</s>", CloseOrPad),
            ("<pad>", Pad),
        ],
        header: Header::None,
        thinking: Some(Thinking { open: "[THINK]", close: "[/THINK]", trims: false }),
        calls: &[Calls {
            open: "[TOOL_CALLS]",
            shapes: &[Shape::Json, Shape::NameThenJson("[ARGS]", "[CALL_ID]")],
            ..PLAIN_CALLS
        }],
        ..PLAIN
    },
    Template {
        name: "glm4",
        needs: &["<sop>", "<|user|>", "<|assistant|>", "<|observation|>"],
        marks: &[
            ("[gMASK]", Begin),
            ("<sop>", Begin),
            ("<|system|>", OpenAs("system")),
            ("<|user|>", OpenAs("user")),
            ("<|assistant|>", OpenAs("assistant")),
            ("<|observation|>", OpenAs("tool")),
            ("<|endoftext|>", CloseOrPad),
            ("<think>", Reasoning),
            ("</think>", Reasoning),
            ("<tool_call>", Tool),
            ("</tool_call>", Tool),
            ("<tool_response>", Tool),
            ("</tool_response>", Tool),
            ("<arg_key>", Tool),
            ("</arg_key>", Tool),
            ("<arg_value>", Tool),
            ("</arg_value>", Tool),
        ],
        header: Header::None,
        after_header: &["\n"],
        open_ended: &["system", "user", "assistant", "tool"],
        thinking: THINK,
        calls: &[Calls {
            open: "<tool_call>",
            close: "</tool_call>",
            shapes: &[Shape::ArgTags],
            gap: 1,
            ..PLAIN_CALLS
        }],
        results: RESULTS,
        ..PLAIN
    },
    Template {
        name: "chatglm3",
        is_checked: true,
        needs: &["sop", "<|user|>", "<|assistant|>", "<|observation|>"],
        marks: &[
            ("[gMASK]", Begin),
            ("sop", Begin),
            ("<|system|>", OpenAs("system")),
            ("<|user|>", OpenAs("user")),
            ("<|assistant|>", OpenAs("assistant")),
            ("<|observation|>", OpenAs("tool")),
            ("</s>", CloseOrPad),
        ],
        header: Header::None,
        after_header: &[" \n ", "\n "],
        open_ended: &["system", "user", "assistant", "tool"],
        ..PLAIN
    },
    Template {
        name: "command-r",
        is_checked: true,
        needs: &["<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>"],
        marks: &[
            ("<BOS_TOKEN>", Begin),
            ("<|START_OF_TURN_TOKEN|>", Open),
            ("<|SYSTEM_TOKEN|>", EndHeaderAs("system")),
            ("<|USER_TOKEN|>", EndHeaderAs("user")),
            ("<|CHATBOT_TOKEN|>", EndHeaderAs("assistant")),
            ("<|END_OF_TURN_TOKEN|>", Close),
            ("<EOS_TOKEN>", Close),
            ("<PAD>", Pad),
        ],
        calls: &[Calls { open: "Action:", close: "```", shapes: &[Shape::Fenced], gap: 1, ..PLAIN_CALLS }],
        ..PLAIN
    },
    Template {
        name: "phi4-mini",
        needs: &["<|user|>", "<|assistant|>", "<|end|>", "<|tool_call|>"],
        marks: &[
            ("<|system|>", OpenAs("system")),
            ("<|user|>", OpenAs("user")),
            ("<|assistant|>", OpenAs("assistant")),
            ("<|tool_response|>", OpenTool),
            ("<|tool|>", Tool),
            ("<|/tool|>", Tool),
            ("<|tool_call|>", Tool),
            ("<|/tool_call|>", Tool),
            ("<|end|>", Close),
            ("<|endoftext|>", CloseOrPad),
        ],
        header: Header::None,
        thinking: THINK,
        calls: &[Calls { open: "<|tool_call|>", close: "<|/tool_call|>", shapes: &[Shape::Json], ..PLAIN_CALLS }],
        ..PLAIN
    },
    Template {
        name: "phi3",
        needs: &["<|user|>", "<|assistant|>", "<|end|>"],
        marks: &[
            ("<s>", Begin),
            ("<|system|>", OpenAs("system")),
            ("<|user|>", OpenAs("user")),
            ("<|assistant|>", OpenAs("assistant")),
            ("<|end|>", Close),
            ("<|endoftext|>", CloseOrPad),
            ("</s>", CloseOrPad),
        ],
        header: Header::None,
        after_header: &[" \n", "\n", " "],
        ..PLAIN
    },
];
