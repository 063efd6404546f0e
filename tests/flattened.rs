//! Objects that are flattened over dotted keys, and those that Python printed into a string: in every carrier of
//! attributes the texts stand among the attributes, and nothing else changes.
#![cfg(not(target_arch = "wasm32"))]

mod common;
#[path = "common/otlp_writer.rs"]
#[allow(dead_code)]
mod otlp_writer;
#[path = "common/proto.rs"]
mod proto;

use common::letters;
use otlp_writer::{Numbers, Writer};
use serde_json::{Map, Value, json};
use token2text::{EnrichOptions, Layout, Report, Status, enrich, strip};

/// How a span is carried: what it is told as, the body, and where its attributes are.
struct Carrier {
    format: &'static str,
    attributes: &'static str,
    write: fn(&Value) -> Vec<u8>,
}

const CARRIERS: [Carrier; 5] = [
    Carrier {
        format: "otlp-json",
        attributes: "/resourceSpans/0/scopeSpans/0/spans/0/attributes",
        write: |attributes| {
            let pairs = pairs(attributes, false);
            json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": pairs}]}]}]}).to_string().into()
        },
    },
    Carrier {
        format: "otlp-proto",
        attributes: "/resourceSpans/0/scopeSpans/0/spans/0/attributes",
        write: |attributes| {
            let mut span = Vec::new();
            for (key, value) in attributes.as_object().unwrap() {
                let pair = [field(1, key.as_bytes()), field(2, &any_value(value))].concat();
                span.extend(field(9, &pair));
            }
            field(1, &field(2, &field(2, &span)))
        },
    },
    Carrier {
        format: "mlflow",
        attributes: "/spans/0/attributes",
        write: |attributes| {
            let attributes: Map<_, _> = attributes
                .as_object()
                .unwrap()
                .iter()
                .map(|(key, value)| (key.clone(), json!(value.to_string())))
                .collect();
            json!({"spans": [{"start_time_unix_nano": 1, "attributes": attributes}]}).to_string().into()
        },
    },
    Carrier {
        format: "mlflow",
        attributes: "/traces/0/spans/0/attributes",
        write: |attributes| {
            let pairs = pairs(attributes, true);
            json!({"traces": [{"trace_info": {}, "spans": [{"attributes": pairs}]}]}).to_string().into()
        },
    },
    Carrier {
        format: "record",
        attributes: "/attributes",
        write: |attributes| json!({"name": "x", "attributes": attributes}).to_string().into(),
    },
];

fn pairs(attributes: &Value, is_snake: bool) -> Value {
    fn value(of: &Value, is_snake: bool) -> Value {
        let name = |camel: &'static str, snake: &'static str| if is_snake { snake } else { camel };
        match of {
            Value::Array(list) => {
                let values: Vec<Value> = list.iter().map(|of| value(of, is_snake)).collect();
                json!({ name("arrayValue", "array_value"): {"values": values} })
            }
            Value::Number(number) => json!({ name("intValue", "int_value"): number.to_string() }),
            other => json!({ name("stringValue", "string_value"): other }),
        }
    }
    attributes.as_object().unwrap().iter().map(|(key, of)| json!({"key": key, "value": value(of, is_snake)})).collect()
}

fn field(number: u64, content: &[u8]) -> Vec<u8> {
    [Writer::varint(number << 3 | 2, 0), Writer::varint(content.len() as u64, 0), content.to_vec()].concat()
}

fn any_value(value: &Value) -> Vec<u8> {
    match value {
        Value::Array(list) => {
            let values: Vec<u8> = list.iter().flat_map(|item| field(1, &any_value(item))).collect();
            field(5, &values)
        }
        Value::Number(number) => [vec![3 << 3], Writer::varint(number.as_u64().unwrap(), 0)].concat(),
        other => field(1, other.as_str().unwrap().as_bytes()),
    }
}

/// The attributes of the span in a body, as plain values.
fn attributes(carrier: &Carrier, body: &[u8]) -> Map<String, Value> {
    fn plain(value: &Value) -> Value {
        let (kind, content) = value.as_object().unwrap().iter().next().unwrap();
        match kind.replace('_', "").to_lowercase().as_str() {
            "arrayvalue" => content["values"].as_array().unwrap().iter().map(plain).collect(),
            "intvalue" => content.as_str().unwrap().parse::<u64>().unwrap().into(),
            _ => content.clone(),
        }
    }
    let value = match carrier.format {
        "otlp-proto" => proto::request(body),
        _ => serde_json::from_slice(body).unwrap(),
    };
    match value.pointer(carrier.attributes).unwrap() {
        Value::Array(pairs) => {
            pairs.iter().map(|pair| (pair["key"].as_str().unwrap().to_owned(), plain(&pair["value"]))).collect()
        }
        Value::Object(object) if carrier.format == "mlflow" => object
            .iter()
            .map(|(key, value)| (key.clone(), serde_json::from_str(value.as_str().unwrap()).unwrap()))
            .collect(),
        Value::Object(object) => object.clone(),
        other => panic!("{other}"),
    }
}

fn options(layouts: &Value) -> EnrichOptions {
    let mut options = EnrichOptions::default();
    options.layouts.extend(Layout::from_json(layouts.to_string().as_bytes()).unwrap());
    options
}

/// Enriches a span in every carrier: the texts must be those, each before the attribute of its ids, and all else as it
/// was. Gives what each report has: address below the attributes, layout.
fn check(span: &Value, texts: &Value, options: &EnrichOptions) -> Vec<String> {
    let mut found: Vec<Vec<String>> = Vec::new();
    for carrier in &CARRIERS {
        let body = (carrier.write)(span);
        let context = format!("{} {span}", carrier.format);
        let once = enrich(&body, &letters(), options).unwrap();
        assert_eq!((once.report.format, &*once.report.warnings), (carrier.format, &[][..]), "{context}");
        let mark = if carrier.format == "record" { "" } else { "token2text." };
        let mut there = attributes(carrier, &once.body);
        for (key, text) in texts.as_object().unwrap() {
            let key = format!("{mark}{key}");
            // Directly before the ids that the report names, if they are one attribute.
            let text_path = format!("{}/{key}", carrier.attributes);
            let field = once.report.fields.iter().find(|field| field.text_path.as_deref() == Some(&*text_path));
            let field = field.unwrap_or_else(|| panic!("{context}: {:?}", once.report.fields));
            assert_eq!((field.status, &field.detail), (Status::Decoded, &None), "{context}");
            assert_eq!(there.remove(&key).as_ref(), Some(text), "{context} {key}");
        }
        assert_eq!(Value::Object(there), *span, "{context}");
        assert!(strip(&once.body, options).unwrap() == body, "{context}: strip");
        let twice = enrich(&once.body, &letters(), options).unwrap();
        assert!(twice.body == once.body, "{context}: twice");
        assert_eq!(twice.report.totals.decoded, 0, "{context}");
        // MLflow's files have every value as JSON in a string.
        let below =
            |path: &str| path.strip_prefix(carrier.attributes).unwrap_or(path).replace("/!json/!repr", "/!repr");
        found.push(fields(&once.report, &below));
    }
    for other in &found[1..] {
        assert_eq!(other, &found[0], "{span}");
    }
    found.swap_remove(0)
}

fn fields(report: &Report, below: &dyn Fn(&str) -> String) -> Vec<String> {
    let why = |field: &token2text::FieldReport| field.reason.map_or(String::new(), |reason| format!(" {reason}"));
    report.fields.iter().map(|field| format!("{} {}{}", below(&field.path), field.layout, why(field))).collect()
}

const AL: &str = "agentlightning.operation.output";

#[test]
fn flattened_choices_are_those_of_the_object() {
    let options = EnrichOptions::default();
    let found = check(
        &json!({ format!("{AL}.model"): "m", format!("{AL}.prompt_token_ids"): [0, 1], format!("{AL}.choices.0.token_ids"): [2],
            format!("{AL}.choices.0.message.content"): "[not, ids]", format!("{AL}.usage.prompt_tokens"): 7 }),
        &json!({ "prompt_text": "ab", "response_text": "c" }),
        &options,
    );
    let al = |rest: &str, layout: &str| format!("/{AL}.{rest} {layout}");
    let layout = "agent-lightning";
    assert_eq!(found, [al("prompt_token_ids", layout), al("choices.0.token_ids", layout)]);
    // Several choices are one list of texts; one without ids has none.
    let found = check(
        &json!({ format!("{AL}.choices.0.token_ids"): [2], format!("{AL}.choices.2.token_ids"): [3, 4],
            format!("{AL}.choices.1.index"): 1 }),
        &json!({ "response_text": ["c", "", "de"] }),
        &options,
    );
    assert_eq!(found, [al("choices.*.token_ids", layout)]);
    // Ten or more are in order.
    let mut many = Map::new();
    for i in (0..12).rev() {
        many.insert(format!("output.choices.{i}.token_ids"), json!([i]));
    }
    let letters: Vec<String> = ('a'..='l').map(String::from).collect();
    assert_eq!(
        check(&many.into(), &json!({ "response_text": letters }), &options),
        ["/output.choices.*.token_ids vllm"]
    );
}

#[test]
fn copies_of_the_same_ids_are_decoded_once() {
    let found = check(
        &json!({ format!("{AL}.response_token_ids.0"): [1], format!("{AL}.response_token_ids.1"): [2, 3],
            format!("{AL}.choices.0.token_ids"): [1], format!("{AL}.choices.1.provider_specific_fields.token_ids"): [2, 3] }),
        &json!({ "response_text": ["b", "cd"] }),
        &EnrichOptions::default(),
    );
    assert_eq!(found, [format!("/{AL}.response_token_ids.* agent-lightning")]);
    let found = check(
        &json!({ "llm.hosted_vllm.response_token_ids": "[[1]]",
            "llm.hosted_vllm.choices": "[{'provider_specific_fields': {'token_ids': [1]}}]" }),
        &json!({ "response_text": ["b"] }),
        &EnrichOptions::default(),
    );
    assert_eq!(found, ["/llm.hosted_vllm.response_token_ids agent-lightning"]);
}

#[test]
fn inputs_and_masks_are_found_too() {
    let options = EnrichOptions::default();
    let found = check(
        &json!({ "inputs.prompt_ids": [0], "outputs.token_ids": [1, 2], "outputs.log_probs": "[-0.5, -0.25]" }),
        &json!({ "prompt_text": "a", "response_text": "bc" }),
        &options,
    );
    assert_eq!(found, ["/inputs.prompt_ids verl", "/outputs.token_ids verl"]);
    let found = check(
        &json!({ "response.tokens": [0, 1, 2], "response.response_length": 1 }),
        &json!({ "prompt_text": "ab", "response_text": "c" }),
        &options,
    );
    assert_eq!(found, ["/response.tokens slime", "/response.tokens slime"]);
    // Flattened to the last: each id an attribute of its own.
    let found = check(
        &json!({ "output.choices.0.token_ids.0": 4, "output.choices.0.token_ids.1": 5 }),
        &json!({ "response_text": "ef" }),
        &options,
    );
    assert_eq!(found, ["/output.choices.0.token_ids.* vllm"]);
}

#[test]
fn an_object_in_a_string_is_opened_as_json_or_as_python_prints_it() {
    let options = EnrichOptions::default();
    for (printed, text, found) in [
        ("[{'index': 0, 'logprobs': None, 'token_ids': [1, 2], 'say': 'it\\'s \"x\"'}]", json!("bc"), "0/token_ids"),
        (
            "({'ok': True, 'provider_specific_fields': {'token_ids': (1, 2,)}},)",
            json!("bc"),
            "0/provider_specific_fields/token_ids",
        ),
        ("[{'token_ids': [1]}, {}, {'token_ids': [np.int64(2), 3]}]", json!(["b", "", "cd"]), "*/token_ids"),
        (
            "[Choices(index=0, token_ids=array([1, 2], dtype=int32), message=Message(content='Hi'))]",
            json!("bc"),
            "0/token_ids",
        ),
    ] {
        let span = json!({ "llm.hosted_vllm.choices": printed });
        let fields = check(&span, &json!({ "response_text": text }), &options);
        assert_eq!(fields, [format!("/llm.hosted_vllm.choices/!repr/{found} agent-lightning")]);
    }
    // Read, but not as ids: the reason says why.
    for (printed, found, reason) in [
        ("[{'token_ids': array([1, 2, ..., 8, 9])}]", "0/token_ids", "truncated_at_source"),
        ("[{'token_ids': [1, 2, ..., 9]}]", "0/token_ids", "truncated_at_source"),
        ("[{'token_ids': [1, None]}]", "0/token_ids", "null_inside"),
        ("[{'token_ids': tensor([1])}]", "0/token_ids", "not_ids"),
        ("[{'token_ids': [1]}, {'token_ids': [[2]]}]", "*/token_ids", "nested_too_deep"),
    ] {
        let fields = check(&json!({ "llm.hosted_vllm.choices": printed }), &json!({}), &options);
        assert_eq!(fields, [format!("/llm.hosted_vllm.choices/!repr/{found} agent-lightning {reason}")]);
    }
    // No literals.
    for printed in ["[{'token_ids': [1]", "[<Choices token_ids=[1]>]", "[{'token_ids': b'1'}]", "choices"] {
        assert_eq!(check(&json!({ "llm.hosted_vllm.choices": printed }), &json!({}), &options), [""; 0]);
    }
}

/// JSON in a string can be written into, and is.
#[test]
fn the_text_of_json_in_a_string_stands_in_it() {
    let body =
        json!({ "attributes": { "output.choices": "[{\"token_ids\": [1]}, {\"token_ids\": [2]}]" } }).to_string();
    let enriched = enrich(body.as_bytes(), &letters(), &EnrichOptions::default()).unwrap();
    let value: Value = serde_json::from_slice(&enriched.body).unwrap();
    let choices = r#"[{"response_text": "b", "token_ids": [1]}, {"response_text": "c", "token_ids": [2]}]"#;
    assert_eq!(value["attributes"]["output.choices"], choices);
    assert_eq!(enriched.report.fields[1].path, "/attributes/output.choices/!json/1/token_ids");
    assert_eq!(strip(&enriched.body, &EnrichOptions::default()).unwrap(), body.as_bytes());
}

/// What is flattened or printed is no member that can be taken out alone.
#[test]
fn ids_stay_where_they_are_flattened() {
    let body =
        json!({ "attributes": { "output.choices.0.token_ids": [1], "output.choices.1.token_ids": [2] } }).to_string();
    let mut options = EnrichOptions::default();
    let kept = enrich(body.as_bytes(), &letters(), &options).unwrap();
    options.drop_ids = true;
    let dropped = enrich(body.as_bytes(), &letters(), &options).unwrap();
    assert!(dropped.body == kept.body);
    assert_eq!(dropped.report.fields[0].reason, Some("not_dropped"));
}

#[test]
fn counts_and_names_that_look_alike_are_no_ids() {
    let options = EnrichOptions::default();
    for span in [
        json!({ "prompt.tokens": 7, "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3 }),
        json!({ "output.usage.prompt_tokens": 7, "output.prompt_tokens": 7, "response.tokens": 3, "output.input_tokens": 4 }),
        json!({ "llm.hosted_vllm.usage": "{'prompt_tokens': 236, 'completion_tokens': 54}" }),
        json!({ "llm.hosted_vllm.choices": "[{'message': {'content': 'x'}, 'logprobs': {'content': [{'token': 'a', 'bytes': [97]}]}}]" }),
        json!({ "llm.input_messages.0.message.content": "x", "llm.token_count.prompt": 3, "gen_ai.prompt.0.content": "x" }),
        // Other names, or no list: the numbers do not begin with 0, or one is missing.
        json!({ "myoutput.choices.0.token_ids": [1], "output_.choices.0.token_ids": [1], "output": [2] }),
        json!({ "output.choices.1.token_ids": [1], "outputs.choices.0.token_ids": [1] }),
        json!({ "output.choices.00.token_ids": [1] }),
    ] {
        assert_eq!(check(&span, &json!({}), &options), [""; 0]);
    }
    // The span's own output comes first.
    let body = (CARRIERS[0].write)(&json!({ "output.value": "{\"x\": 1}", "output.choices.0.token_ids": [1] }));
    assert_eq!(enrich(&body, &letters(), &options).unwrap().body, body);
}

#[test]
fn a_layout_points_into_what_python_printed() {
    let layouts = json!([{ "name": "own", "when": ["/output/message/!repr/token_ids"], "fields": [
        { "kind": "response", "ids": "/output/message/!repr/token_ids", "text": "/output/own_text" } ] },
        { "name": "rows", "when": ["/output/turns"], "each": "/output/turns/!repr/*", "fields": [
        { "kind": "response", "ids": "/ids", "text": "/turn_text" } ] }]);
    let run = |record: Value| {
        let body = record.to_string();
        let enriched = enrich(body.as_bytes(), &letters(), &options(&layouts)).unwrap();
        assert_eq!(strip(&enriched.body, &options(&layouts)).unwrap(), body.as_bytes());
        let path = enriched.report.fields[0].path.clone();
        (serde_json::from_slice::<Value>(&enriched.body).unwrap(), path)
    };
    let (value, path) = run(json!({ "output": { "message": "TokenOutput(token_ids=[1, 2], log_probs=None)" } }));
    assert_eq!((&value["output"]["own_text"], &*path), (&json!("bc"), "/output/message/!repr/token_ids"));
    // Beside the output where the layout has the text in what was printed.
    let (value, path) = run(json!({ "output": { "turns": "[{'ids': [1]}, {'ids': [2]}]" } }));
    assert_eq!((&value["turn_text"], &*path), (&json!(["b", "c"]), "/output/turns/!repr/*/ids"));
}

#[test]
fn what_is_endless_or_deep_is_left_alone() {
    let options = EnrichOptions::default();
    let many_dots = format!("output.{}token_ids", "a.".repeat(40_000));
    let nested = format!("[{}{}]", "{'a': [".repeat(30_000), "]}".repeat(30_000));
    let parentheses = format!("[{}{{}}{}]", "(".repeat(60_000), ")".repeat(60_000));
    for span in [
        json!({ many_dots: [1] }),
        json!({ "output.choices": nested }),
        json!({ "output.choices": "[{'a': ".repeat(30_000) }),
        json!({ "output.choices.99999999999999999999999.token_ids": [1], "output.choices.0.x": 1 }),
    ] {
        assert_eq!(check(&span, &json!({}), &options), [""; 0]);
    }
    check(&json!({ "output.choices": parentheses }), &json!({}), &options);
    let mut many = Map::new();
    for i in 0..3_000 {
        many.insert(format!("output.choices.{i}.token_ids"), json!([i % 26]));
    }
    let texts: Vec<String> = (0..3_000).map(|i| char::from(b'a' + (i % 26) as u8).to_string()).collect();
    check(&many.into(), &json!({ "response_text": texts }), &options);
}

/// Nothing panics, whatever is done to the text of a literal, and what is decoded is decoded once.
#[test]
fn changed_literals_never_panic() {
    let samples = [
        "[{'index': 0, 'token_ids': [1, 2], 'say': 'it\\'s \\u00e9 \\x41', 'n': (None, True, -1e-05)}]",
        "[Choices(index=0, token_ids=array([1, 2], dtype=int32), message=Message(content=\"Hi\"))]",
        "({'provider_specific_fields': {'token_ids': [np.int64(2), 3], 1: {}}}, ...)",
    ];
    let options = EnrichOptions::default();
    let mut numbers = Numbers(7);
    let mut decoded = 0;
    for round in 0..3_000 {
        let mut text: Vec<char> = samples[round % samples.len()].chars().collect();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(text.len() as u64) as usize;
            match numbers.below(3) {
                0 => text.truncate(at + 1),
                1 => text[at] = char::from(b" '\"\\()[]{},:=.x0u\n"[numbers.below(18) as usize]),
                _ => drop(text.remove(at)),
            }
            if text.is_empty() {
                text.push('[');
            }
        }
        let text: String = text.into_iter().collect();
        let span = json!({ "llm.hosted_vllm.choices": text });
        let carrier = &CARRIERS[round % CARRIERS.len()];
        let body = (carrier.write)(&span);
        let once = enrich(&body, &letters(), &options).unwrap();
        let twice = enrich(&once.body, &letters(), &options).unwrap();
        assert!(twice.body == once.body, "{text}");
        assert!(strip(&once.body, &options).unwrap() == body, "{text}");
        decoded += once.report.totals.decoded;
    }
    assert!(decoded > 150, "only {decoded} decoded");
}
