//! Ids cut into messages: as the real chat templates wrote them, and whatever the ids.
#![cfg(all(not(target_arch = "wasm32"), feature = "rollouts"))]

#[path = "common/chats.rs"]
mod chats;
mod common;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use chats::{chat_lines, tokenizer_json};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use token2text::rollout::{Chat, Mark, Message};
use token2text::{DecodeOptions, Tokenizer};

/// Tokenizers that a test loaded before, by key and added tokens.
static LOADED: LazyLock<Mutex<HashMap<String, Arc<Tokenizer>>>> = LazyLock::new(Mutex::default);

/// A real tokenizer, with more tokens or others in place of its own: content, id, whether it is special.
fn tokenizer(key: &str, tokens: &Value) -> Arc<Tokenizer> {
    let name = format!("{key} {tokens}");
    let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let load = || {
        Arc::new(Tokenizer::from_json(&tokenizer_json(key, tokens)).unwrap_or_else(|error| panic!("{key}: {error}")))
    };
    loaded.entry(name).or_insert_with(load).clone()
}

/// What the oracle wrote: a tokenizer with its chat, and conversations of it.
struct Group {
    head: Value,
    tokenizer: Arc<Tokenizer>,
    chat: Chat,
    conversations: Vec<Value>,
}

fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for value in chat_lines() {
        if value.get("tokenizer").is_some() {
            let tokenizer = tokenizer(value["tokenizer"].as_str().unwrap(), &value["tokens"]);
            let chat = Chat::of(&tokenizer).unwrap_or_else(|| panic!("no template fits {value}"));
            groups.push(Group { head: value, tokenizer, chat, conversations: Vec::new() });
        } else {
            groups.last_mut().unwrap().conversations.push(value);
        }
    }
    groups
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

/// A message as the oracle writes it.
fn written(message: &Message) -> Value {
    let calls: Vec<_> = message.tool_calls.iter().map(|call| json!([call.name, call.arguments])).collect();
    let Message { role, content, reasoning, is_closed, tokens, body, .. } = message;
    json!([role, content, reasoning, calls, is_closed, tokens[0], tokens[1], body[0], body[1]])
}

/// Asserts that the messages cover every id exactly once, in order, and say nothing that is not in their text.
fn assert_covers(messages: &[Message], ids: &[u32]) {
    let mut at = 0;
    for message in messages {
        let ([start, end], [first, last]) = (message.tokens, message.body);
        assert_eq!(start, at, "{message:?}");
        assert!(start <= first && first <= last && last <= end, "{message:?}");
        at = end;
    }
    assert_eq!(at, ids.len());
}

#[test]
fn real_templates_come_back_as_they_were() {
    let mut counts = Map::new();
    let mut wrong = Vec::new();
    for Group { head, tokenizer, chat, conversations } in groups() {
        assert_eq!(chat.name(), head["template"], "{head}");
        for (number, conversation) in conversations.iter().enumerate() {
            let ids = ids(&conversation["ids"]);
            let messages = chat.messages(&ids, &tokenizer);
            assert_covers(&messages, &ids);
            let found: Vec<_> = messages.iter().map(written).collect();
            if json!(found) != conversation["messages"] {
                let text = tokenizer.decode(&ids, DecodeOptions::default());
                let mut pairs = found.iter().zip(conversation["messages"].as_array().unwrap());
                let first = pairs.find(|(found, wanted)| found != wanted);
                wrong.push(format!("{} {number}: {text:?}\n  first (found, wanted): {first:#?}", head["tokenizer"]));
            }
        }
        let name = format!("{} {} {}", head["tokenizer"], head["template"], head["checked"]);
        counts.insert(name, conversations.len().into());
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(6)].join("\n"));
    let checked = counts.iter().filter(|(name, _)| name.ends_with("true"));
    assert!(
        checked.clone().count() == 9 && checked.into_iter().all(|(_, count)| count.as_u64() >= Some(40)),
        "{counts:?}"
    );
}

#[test]
fn the_opening_of_the_assistants_turn_is_found() {
    let mut found = 0;
    for Group { tokenizer, chat, conversations, .. } in groups() {
        for conversation in &conversations {
            let ids = ids(&conversation["ids"]);
            let messages = chat.messages(&ids, &tokenizer);
            let last = messages.last().unwrap();
            let role = last.role.as_deref();
            let is_silent = last.content.is_empty() && last.tool_calls.is_empty() && last.reasoning.is_none();
            // These two have no opening but the end of what they answer.
            let opens_by_end = match chat.name() {
                "mistral" | "mistral-v3" => matches!(role, Some("user" | "tool")),
                "deepseek" => role == Some("tool"),
                _ => false,
            };
            let wanted = match role {
                Some("assistant") if is_silent && !last.is_closed => Some(last.tokens[0]),
                _ => opens_by_end.then_some(ids.len()),
            };
            assert_eq!(chat.generation_prompt(&ids, &tokenizer), wanted, "{last:?}");
            found += usize::from(wanted.is_some());
            // Once something is said it is none.
            let letter = (0..).find(|&id| tokenizer.decode(&[id], DecodeOptions::default()) == "a").unwrap();
            assert_eq!(chat.generation_prompt(&[&ids[..], &[letter]].concat(), &tokenizer), None);
        }
    }
    assert!(found > 80, "{found}");
}

#[test]
fn a_response_alone_says_what_it_says_behind_its_prompt() {
    let mut seen = 0;
    for Group { tokenizer, chat, conversations, .. } in groups() {
        for conversation in &conversations {
            let ids = ids(&conversation["ids"]);
            let messages = chat.messages(&ids, &tokenizer);
            for (at, message) in messages.iter().enumerate() {
                let from = message.body[0];
                let is_assistant = matches!(message.role.as_deref(), None | Some("assistant"));
                // A line feed may share its token with that of the header, and some decoders take the first space. On its
                // channel, and not in its text, a message of harmony says what it is.
                let text = tokenizer.decode(&ids[..message.body[1]], DecodeOptions::default());
                let before = tokenizer.decode(&ids[..from], DecodeOptions::default());
                let text = text.strip_prefix(&before).unwrap_or_default();
                if !is_assistant || chat.name() == "harmony" || text.trim_start() != text || text.is_empty() {
                    continue;
                }
                let alone = chat.messages(&ids[from..], &tokenizer);
                let first = &alone[0];
                assert_eq!(first.role, None);
                assert_eq!(first.tokens, [0, message.tokens[1] - from]);
                assert_eq!(
                    (&first.content, &first.reasoning, &first.tool_calls),
                    (&message.content, &message.reasoning, &message.tool_calls)
                );
                assert_eq!(alone[1..].len(), messages[at + 1..].len());
                seen += 1;
            }
        }
    }
    assert!(seen > 400, "{seen}");
}

#[test]
fn what_was_cut_off_leaves_the_messages_before_it() {
    let mut seen = 0;
    for Group { tokenizer, chat, conversations, .. } in groups() {
        for conversation in conversations.iter().step_by(3) {
            let ids = ids(&conversation["ids"]);
            let whole = chat.messages(&ids, &tokenizer);
            for end in (1..ids.len()).step_by(7) {
                let part = chat.messages(&ids[..end], &tokenizer);
                assert_covers(&part, &ids[..end]);
                // A turn that holds several results is one until its end is there.
                let before = &whole[..whole.partition_point(|message| message.tokens[1] < end)];
                let before = &before
                    [..before.len() - before.iter().rev().take_while(|m| m.role.as_deref() == Some("tool")).count()];
                assert_eq!(part.get(..before.len()), Some(before));
                seen += before.len();
            }
        }
    }
    assert!(seen > 2000, "{seen}");
}

/// A tokenizer of single characters and some marks, with whether each is special.
fn toy(marks: &[(&str, bool)]) -> Tokenizer {
    let mut vocab: Map<String, Value> = (0..128).map(|byte| (char::from(byte).to_string(), byte.into())).collect();
    let mut added = Vec::new();
    for (id, (content, special)) in (128..).zip(marks) {
        vocab.insert(content.to_string(), id.into());
        added.push(json!({"id": id, "content": content, "special": special, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}));
    }
    let spec = json!({
        "version": "1.0", "added_tokens": added, "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "a"},
    });
    Tokenizer::from_json(spec.to_string().as_bytes()).unwrap()
}

/// The ids of a text; `~` keeps the mark behind it from being one token.
fn spell(marks: &[(&str, bool)], text: &str) -> Vec<u32> {
    let (mut ids, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        if first == '~' {
            ids.push(u32::from(rest.as_bytes()[1]));
            rest = &rest[2..];
            continue;
        }
        match marks.iter().position(|(mark, _)| rest.starts_with(mark)) {
            Some(at) => {
                ids.push(128 + at as u32);
                rest = &rest[marks[at].0.len()..];
            }
            None => {
                ids.push(u32::from(first));
                rest = &rest[1..];
            }
        }
    }
    ids
}

const CHATML: [(&str, bool); 5] =
    [("<|im_start|>", true), ("<|im_end|>", true), ("<|endoftext|>", true), ("<think>", false), ("</think>", false)];
const MISTRAL: [(&str, bool); 7] = [
    ("<s>", true),
    ("</s>", true),
    ("[INST]", true),
    ("[/INST]", true),
    ("[TOOL_CALLS]", true),
    ("[TOOL_RESULTS]", true),
    ("[/TOOL_RESULTS]", true),
];
const LLAMA: [(&str, bool); 4] =
    [("<|start_header_id|>", true), ("<|end_header_id|>", true), ("<|eot_id|>", true), ("<|python_tag|>", true)];

/// Role, content, reasoning, calls and closedness of each message, in short.
fn short(marks: &[(&str, bool)], text: &str) -> Vec<String> {
    let tokenizer = toy(marks);
    let chat = Chat::of(&tokenizer).unwrap();
    let ids = spell(marks, text);
    let messages = chat.messages(&ids, &tokenizer);
    assert_covers(&messages, &ids);
    let line = |message: &Message| {
        let mut line = format!("{}: {:?}", message.role.as_deref().unwrap_or("-"), message.content);
        if let Some(reasoning) = &message.reasoning {
            line += &format!(" thought {reasoning:?}");
        }
        for call in &message.tool_calls {
            line += &format!(" called {}{}", call.name, call.arguments);
        }
        line + if message.is_closed { "" } else { " open" }
    };
    messages.iter().map(line).collect()
}

/// Marks, a text, and what its messages are in short.
type Case<'a> = (&'a [(&'a str, bool)], String, &'a [&'a str]);

#[test]
fn what_is_not_well_formed_stays_text() {
    let a = "<|im_start|>assistant\n";
    let cases: &[Case] = &[
        (&CHATML, String::new(), &[]),
        // Reasoning.
        (&CHATML, format!("{a}<think>\nx\n</think>\n\ny<|im_end|>"), &[r#"assistant: "y" thought "x""#]),
        (&CHATML, format!("{a}<think>\nx"), &[r#"assistant: "" thought "x" open"#]),
        (&CHATML, format!("{a}<think>\nx<|im_end|>"), &[r#"assistant: "<think>\nx""#]),
        (&CHATML, format!("{a}<think>\n\n</think>\n\ny"), &[r#"assistant: "y" open"#]),
        (&CHATML, format!("{a}x\n</think>\n\ny<|im_end|>"), &[r#"assistant: "y" thought "x""#]),
        (&CHATML, format!("{a}say <think> x </think> y<|im_end|>"), &[r#"assistant: "say <think> x </think> y""#]),
        (&CHATML, "<|im_start|>user\n<think>x</think>y<|im_end|>".into(), &[r#"user: "<think>x</think>y""#]),
        (&CHATML[..3], format!("{a}<think>x</think>y<|im_end|>"), &[r#"assistant: "y" thought "x""#]),
        (&CHATML[..3], format!("{a}the mark </think> ends<|im_end|>"), &[r#"assistant: "the mark </think> ends""#]),
        // Calls.
        (
            &CHATML,
            format!("{a}<tool_call>\n{{\"name\": \"f\", \"arguments\": {{\"a\":1 }}}}\n</tool_call><|im_end|>"),
            &[r#"assistant: "" called f{"a":1 }"#],
        ),
        (
            &CHATML,
            format!("{a}<tool_call>{{\"name\": \"f\", \"arguments\": 1}}</tool_call>"),
            &[r#"assistant: "<tool_call>{\"name\": \"f\", \"arguments\": 1}</tool_call>" open"#],
        ),
        (
            &CHATML,
            format!("{a}<tool_call>{{\"name\": \"f\", \"arguments\": {{}}}}"),
            &[r#"assistant: "<tool_call>{\"name\": \"f\", \"arguments\": {}}" open"#],
        ),
        (
            &CHATML,
            format!(
                "{a}x\n<tool_call>no</tool_call>\n<tool_call>{{\"name\": \"f\", \"arguments\": {{}}}}</tool_call>\ny"
            ),
            &[r#"assistant: "x\n<tool_call>no</tool_call>\ny" called f{} open"#],
        ),
        (
            &CHATML,
            format!("{a}<tool_call><tool_call>{{\"name\": \"f\", \"arguments\": {{}}}}</tool_call>"),
            &[r#"assistant: "<tool_call>" called f{} open"#],
        ),
        (
            &CHATML,
            format!(
                "{a}<tool_call><function=f><parameter=a>NaN</parameter><parameter=b>\"q\"</parameter></function></tool_call>"
            ),
            &[r#"assistant: "" called f{"a": "NaN", "b": "\"q\""} open"#],
        ),
        (
            &CHATML,
            format!("{a}<tool_call><function=f><parameter=a>1</function></tool_call>"),
            &[r#"assistant: "<tool_call><function=f><parameter=a>1</function></tool_call>" open"#],
        ),
        (&CHATML, "<|im_start|>user\n<tool_response>\nx<|im_end|>".into(), &[r#"user: "<tool_response>\nx""#]),
        (
            &CHATML,
            "<|im_start|>user\n<tool_response>\n</tool_response>\n</tool_response><|im_end|>".into(),
            &[r#"tool: "</tool_response>""#],
        ),
        // Special tokens count as tokens alone.
        (
            &MISTRAL,
            "<s>[INST]a[/INST][TOOL_CALLS][{\"name\":\"f\",\"arguments\":{}}]</s>".into(),
            &[r#"user: "a""#, r#"assistant: "" called f{}"#],
        ),
        (
            &MISTRAL,
            "<s>[INST]a[/INST]~[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{}}]</s>".into(),
            &[r#"user: "a""#, r#"assistant: "[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{}}]""#],
        ),
        (&MISTRAL, "[INST]a[/INST]b".into(), &[r#"user: "a""#, r#"assistant: "b" open"#]),
        (&MISTRAL, "[INST]a[/INST]</s>[INST]b".into(), &[r#"user: "a""#, r#"assistant: """#, r#"user: "b" open"#]),
        (
            &MISTRAL,
            "[TOOL_RESULTS]1[/TOOL_RESULTS][TOOL_RESULTS]2[/TOOL_RESULTS]c</s>".into(),
            &[r#"tool: "1""#, r#"tool: "2""#, r#"assistant: "c""#],
        ),
        (&LLAMA, "<|start_header_id|>ipython<|end_header_id|>\n\n1<|eot_id|>".into(), &[r#"tool: "1""#]),
        (
            &LLAMA,
            "<|start_header_id|>assistant<|end_header_id|>\n\n{\"name\": \"f\", \"parameters\": {}} ok<|eot_id|>"
                .into(),
            &[r#"assistant: "{\"name\": \"f\", \"parameters\": {}} ok""#],
        ),
        (
            &LLAMA,
            "<|start_header_id|>assistant<|end_header_id|>\n\n<|python_tag|>f.call(a=\"1\") x<|eot_id|>".into(),
            &[r#"assistant: "<|python_tag|>f.call(a=\"1\") x""#],
        ),
        // Headers.
        (&CHATML, "<|im_start|>assistant".into(), &[r#"assistant: "" open"#]),
        (&CHATML, "<|im_start|>".into(), &[r#"-: "" open"#]),
        (&CHATML, "<|im_start|>once upon a time\nx<|im_end|>".into(), &[r#"-: "once upon a time\nx""#]),
        (&CHATML, "<|im_start|>system name=<|plugin|>\nx<|im_end|>".into(), &[r#"system: "x""#]),
        (
            &CHATML,
            format!("<|im_start|>{}\nx<|im_end|>", "r".repeat(300)),
            &[&format!("-: {:?}", "r".repeat(300) + "\nx")],
        ),
        (&CHATML, "<|im_start|>critic\nx<|im_end|>".into(), &[r#"critic: "x""#]),
        (
            &LLAMA,
            "<|start_header_id|>user<|start_header_id|>user<|end_header_id|>\n\nx".into(),
            &[r#"user: "" open"#, r#"user: "x" open"#],
        ),
        (&LLAMA, "<|end_header_id|>x<|eot_id|>".into(), &[r#"-: "<|end_header_id|>x""#]),
        (
            &LLAMA,
            "<|start_header_id|>two words<|end_header_id|>\n\nx".into(),
            &[r#"-: "two words<|end_header_id|>\n\nx" open"#],
        ),
        // Ends, and what is between messages.
        (&CHATML, "a<|im_end|>b<|im_end|>".into(), &[r#"-: "a""#, r#"-: "b""#]),
        (&CHATML, "<|im_end|>\n<|im_start|>user\nx".into(), &[r#"-: """#, r#"user: "x" open"#]),
        (&CHATML, "\n<|im_start|>user\nx<|im_end|>\n".into(), &[r#"user: "x""#]),
        (&CHATML, " \n".into(), &[r#"-: " \n" open"#]),
        (
            &CHATML,
            "<|endoftext|><|endoftext|><|im_start|>user\nx<|im_end|>\n<|endoftext|><|endoftext|>".into(),
            &[r#"user: "x""#],
        ),
        (&CHATML, "<|endoftext|><|endoftext|>".into(), &[r#"-: "" open"#]),
        (&CHATML, format!("{a}x<|endoftext|><|endoftext|>"), &[r#"assistant: "x""#]),
        (&CHATML, format!("{a}x<|im_start|>user\ny"), &[r#"assistant: "x" open"#, r#"user: "y" open"#]),
    ];
    for (marks, text, wanted) in cases {
        assert_eq!(short(marks, text), *wanted, "{text}");
    }
}

#[test]
fn reasoning_is_found_with_the_white_space_that_goes_with_it() {
    let tokenizer = toy(&CHATML);
    let chat = Chat::of(&tokenizer).unwrap();
    let text = "<|im_start|>assistant\n<think>\nx\n</think>\n\ny<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nz<|im_end|>\n<|im_start|>assistant\n<think>w";
    let ids = spell(&CHATML, text);
    let found = chat.reasoning(&ids, &tokenizer);
    let texts: Vec<_> =
        found.iter().map(|&[start, end]| tokenizer.decode(&ids[start..end], DecodeOptions::default())).collect();
    assert_eq!(texts, ["<think>\nx\n</think>\n\n", "<think>\n\n</think>\n\n", "<think>w"]);
    let kept: Vec<_> = ids
        .iter()
        .enumerate()
        .filter(|(at, _)| !found.iter().any(|[start, end]| (start..end).contains(&at)))
        .map(|(_, id)| *id)
        .collect();
    assert_eq!(chat.reasoning(&kept, &tokenizer), [[0; 2]; 0]);
}

#[test]
fn the_template_that_asks_for_more_is_taken() {
    let header: Vec<_> = LLAMA.iter().chain(&CHATML).copied().collect();
    let both = toy(&header);
    assert_eq!(Chat::of(&both).unwrap().name(), "chatml", "a Llama that was tuned to ChatML");
    assert_eq!(Chat::named("llama3", &both).unwrap().name(), "llama3");
    assert!(Chat::named("gemma", &both).is_none() && Chat::named("Llama", &both).is_none());
    assert!(Chat::of(&toy(&[])).is_none());
    let phi: Vec<_> = CHATML.iter().copied().chain([("<|im_sep|>", true), ("<|dummy_85|>", true)]).collect();
    let phi = Chat::of(&toy(&phi)).unwrap();
    assert_eq!((phi.name(), phi.is_checked()), ("phi4", false));
    assert_eq!(
        (phi.mark(128), phi.mark(129), phi.mark(130), phi.mark(134), phi.mark(97)),
        (Some(Mark::Open), Some(Mark::Close), Some(Mark::Close), Some(Mark::Padding), None)
    );
    let names: Vec<_> = Chat::names().collect();
    for Group { head, tokenizer, chat, .. } in groups() {
        assert!(names.contains(&chat.name()));
        assert_eq!(
            Chat::named(chat.name(), &tokenizer).map(|chat| chat.name().to_owned()),
            Some(chat.name().to_owned())
        );
        assert!(chat.is_checked() || head["checked"] == false, "{head}");
    }
}

#[test]
fn marks_without_end_take_no_longer_than_others() {
    let tokenizer = toy(&CHATML);
    let chat = Chat::of(&tokenizer).unwrap();
    let parts = [
        "<tool_call>",
        "<tool_call>{",
        "<tool_call>[\"<tool_call>[\",",
        "<tool_call><function=f><parameter=a>",
        "<tool_call>\"",
        "<think>",
        "</think>",
        "<|im_start|>",
        "<|im_end|>",
        "<tool_response>\n",
        "\n</tool_response>",
        "</tool_response>\n<tool_response>\n",
    ];
    for part in parts {
        for (before, behind) in
            [("<|im_start|>assistant\n", ""), ("<|im_start|>user\n<tool_response>\n", "</parameter></tool_call>")]
        {
            let one = spell(&CHATML, part);
            let mut ids = spell(&CHATML, before);
            ids.extend(one.iter().cycle().take(one.len() * 400_000 / part.len()));
            ids.extend(spell(&CHATML, behind));
            assert_covers(&chat.messages(&ids, &tokenizer), &ids);
            chat.generation_prompt(&ids, &tokenizer);
        }
    }
}

#[test]
fn any_ids_are_covered() {
    for Group { tokenizer, chat, .. } in groups() {
        let vocab_size = tokenizer.info().vocab_size as u32;
        let marks: Vec<_> = (0..vocab_size + 400).filter(|&id| chat.mark(id).is_some()).collect();
        assert!(marks.len() > 3, "{}", chat.name());
        let id = prop_oneof![4 => proptest::sample::select(marks), 3 => 0..vocab_size + 400, 2 => 0..400u32, 1 => any::<u32>()];
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases: 150,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        runner
            .run(&proptest::collection::vec(id, 0..60), |ids| {
                let messages = chat.messages(&ids, &tokenizer);
                assert_covers(&messages, &ids);
                let pieces = tokenizer.pieces(&ids, DecodeOptions::default());
                let start = |token: usize| token.checked_sub(1).map_or(0, |before| pieces.ends[before]);
                for message in &messages {
                    let text = &pieces.text[start(message.tokens[0])..start(message.tokens[1])];
                    assert!(!message.tool_calls.is_empty() || text.contains(&message.content), "{message:?}");
                    assert!(message.reasoning.as_ref().is_none_or(|thought| text.contains(thought)), "{message:?}");
                }
                let mut at = 0;
                for [start, end] in chat.reasoning(&ids, &tokenizer) {
                    assert!(at <= start && start <= end && end <= ids.len());
                    at = end;
                }
                assert!(chat.generation_prompt(&ids, &tokenizer).is_none_or(|at| at <= ids.len()));
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", chat.name()));
    }
}
