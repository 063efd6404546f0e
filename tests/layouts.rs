//! Layouts that users write: every member of the schema at work, and what is said of each mistake.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::{at, letters};
use serde_json::{Value, json};
use token2text::{EnrichOptions, ErrorCode, Layout, Report, Status, enrich, strip};

fn options(layouts: &Value) -> EnrichOptions {
    let mut options = EnrichOptions::default();
    options.layouts = Layout::from_json(layouts.to_string().as_bytes()).unwrap();
    options
}

/// Enriches a record with one layout of one field; also checks that `strip` undoes it and that twice is once.
fn run(layouts: &Value, record: &Value) -> (Value, Report) {
    let options = options(layouts);
    let body = record.to_string();
    let enriched = enrich(body.as_bytes(), &letters(), &options).unwrap();
    let again = enrich(&enriched.body, &letters(), &options).unwrap();
    assert_eq!(again.body, enriched.body);
    if enriched.report.totals.replaced == 0 {
        let stripped = strip(&enriched.body, &options).unwrap();
        assert_eq!(String::from_utf8(stripped).unwrap(), body);
    }
    (serde_json::from_slice(&enriched.body).unwrap(), enriched.report)
}

fn layout(field: &Value) -> Value {
    json!({ "name": "mine", "when": [], "fields": [field] })
}

/// The text that a field with these members gets, or the reason why none.
fn text_of(mut field: Value, record: Value) -> Result<Value, (&'static str, String)> {
    field["kind"] = "response".into();
    field["text"] = "/output/text".into();
    let (enriched, report) = run(&layout(&field), &record);
    let reported = report.fields.first().expect("a field in the report");
    match reported.status {
        Status::Skipped => Err((reported.reason.unwrap(), reported.detail.clone().unwrap())),
        _ => Ok(at(&enriched, reported.text_path.as_deref().unwrap()).expect("the text where the report says")),
    }
}

fn output(output: Value) -> Value {
    json!({ "inputs": {}, "output": output })
}

#[test]
fn masks_select() {
    let record = output(json!({ "ids": [0, 1, 2, 3], "mask": [1, 0, true, false], "labels": [-100, -100, 5, -100] }));
    let select = |select: Value| text_of(json!({ "ids": ["/output/ids"], "select": select }), record.clone());
    assert_eq!(select(json!({ "mask": "/output/mask", "value": 1 })), Ok("ac".into()));
    assert_eq!(select(json!({ "mask": "/output/mask", "value": true })), Ok("ac".into()));
    assert_eq!(select(json!({ "mask": "/output/mask", "not": 1 })), Ok("bd".into()));
    assert_eq!(select(json!({ "mask": "/output/labels", "not": -100 })), Ok("c".into()));
    let gone = select(json!({ "mask": "/output/nothing", "value": 1 })).unwrap_err();
    assert_eq!(gone.0, "bad_selection");
}

#[test]
fn masks_go_row_by_row() {
    let record = output(json!({ "ids": [[0, 1], [2, 3, 4]], "mask": [[1, 0], [0, 1, 1]], "short": [[1, 0], [0]] }));
    let select =
        |mask: &str| text_of(json!({ "ids": ["/output/ids"], "select": { "mask": mask, "value": 1 } }), record.clone());
    assert_eq!(select("/output/mask"), Ok(json!(["a", "de"])));
    assert_eq!(select("/output/short").unwrap_err().0, "mask_length");
}

#[test]
fn ranges_and_tails_select() {
    let record = output(json!({ "ids": [0, 1, 2, 3, 4], "ranges": [[1, 2], [3, 5]], "n": 2, "zero": 0, "many": 6 }));
    let select = |select: Value| text_of(json!({ "ids": ["/output/ids"], "select": select }), record.clone());
    assert_eq!(select(json!({ "ranges": "/output/ranges", "inside": true })), Ok("bde".into()));
    assert_eq!(select(json!({ "ranges": "/output/ranges", "inside": false })), Ok("ac".into()));
    assert_eq!(select(json!({ "tail": "/output/n", "inside": true })), Ok("de".into()));
    assert_eq!(select(json!({ "tail": "/output/n", "inside": false })), Ok("abc".into()));
    assert_eq!(select(json!({ "tail": "/output/zero", "inside": true })), Ok("".into()));
    assert_eq!(select(json!({ "tail": "/output/many", "inside": true })).unwrap_err().0, "bad_selection");
}

#[test]
fn a_length_leaves_padding_out() {
    let record =
        output(json!({ "ids": [0, 1, 2, 25, 25], "mask": [0, 1, 0, 0, 0], "n": 3, "many": 6, "rows": [[0], [1]],
        "row_masks": [[0], [0]] }));
    let select = |ids: &str, select: Value| text_of(json!({ "ids": [ids], "select": select }), record.clone());
    let mask = |length: &str| json!({ "mask": "/output/mask", "value": 0, "length": length });
    assert_eq!(select("/output/ids", mask("/output/n")), Ok("ac".into()));
    assert_eq!(select("/output/ids", mask("/output/nothing")), Ok("aczz".into()));
    assert_eq!(select("/output/ids", mask("/output/many")).unwrap_err().0, "bad_selection");
    let rows = json!({ "mask": "/output/row_masks", "value": 0, "length": "/output/n" });
    assert_eq!(select("/output/rows", rows).unwrap_err().0, "bad_selection");
}

#[test]
fn fields_of_one_layout_share_ids() {
    let field = |kind: &str, value: u32| {
        json!({ "kind": kind, "ids": ["/output/ids"], "text": format!("/output/{kind}"),
            "select": { "mask": "/output/mask", "value": value } })
    };
    let layouts = json!({ "name": "mine", "when": [], "fields": [field("prompt", 0), field("response", 1)] });
    let (enriched, report) = run(&layouts, &output(json!({ "ids": [0, 1, 2], "mask": [0, 1, 0] })));
    let expected = json!({ "prompt": "ac", "response": "b", "ids": [0, 1, 2], "mask": [0, 1, 0] });
    assert_eq!(enriched["output"].to_string(), expected.to_string());
    assert_eq!(report.fields.len(), 2);
}

#[test]
fn two_layouts_that_read_ids_otherwise_are_ambiguous() {
    let layout = |name: &str, when: Value, kind: &str| {
        json!({ "name": name, "when": when, "fields": [
            { "kind": kind, "ids": ["/output/ids"], "text": format!("/output/{name}") }] })
    };
    let record = output(json!({ "ids": [0], "a": 1, "b": 2 }));
    let warned = |second: Value| {
        let layouts = json!([layout("first", json!(["/output/ids", "/output/a"]), "prompt"), second]);
        let (_, report) = run(&layouts, &record);
        assert_eq!(report.fields.len(), 1);
        report.warnings.into_iter().map(|warning| (warning.code, warning.message)).collect::<Vec<_>>()
    };
    let message = "the layout `second` reads these ids otherwise than `first`, which comes first; the option `layouts` \
        can name the right one";
    let ambiguous = [("ambiguous_layout", message.to_owned())];
    assert_eq!(warned(layout("second", json!(["/output/ids", "/output/b"]), "response")), ambiguous);
    assert_eq!(warned(layout("second", json!(["/output/b"]), "response")), ambiguous);
    // The same reading, and a layout that only asks for less.
    assert_eq!(warned(layout("second", json!(["/output/b"]), "prompt")), []);
    assert_eq!(warned(layout("second", json!(["/output/ids"]), "response")), []);
    assert_eq!(warned(layout("second", json!([["/output/b", "/output/a"]]), "response")), []);
}

#[test]
fn elements_without_ids_are_on_the_way_of_a_branch() {
    let nodes = json!([
        { "parent": null, "ids": [0] },
        { "parent": 0, "ids": null },
        { "parent": 1, "ids": [1] },
        { "parent": 0 },
        { "parent": 0, "ids": [2] },
    ]);
    let field = json!({ "ids": ["/output/nodes/*/ids"], "join": "parents" });
    assert_eq!(text_of(field, output(json!({ "nodes": nodes }))), Ok(json!(["ab", "a", "ac"])));
    let field = json!({ "ids": ["/output/in/!json/nodes/*/ids"], "join": "parents", "where": { "parent": 0 } });
    let text = json!({ "nodes": nodes }).to_string();
    assert_eq!(text_of(field, output(json!({ "in": text }))), Ok(json!(["", "", "c"])));
}

#[test]
fn elements_are_joined() {
    let chunks = json!([
        { "type": "text", "tokens": [0, 1], "index": 0, "parent": null },
        { "type": "image", "tokens": [9], "index": 1, "parent": 0 },
        { "type": "text", "tokens": [0, 1, 2], "index": 0, "parent": 0 },
    ]);
    let record = output(json!({ "chunks": chunks }));
    let join = |members: Value| {
        let mut field = members;
        field["ids"] = json!(["/output/chunks/*/tokens"]);
        text_of(field, record.clone())
    };
    assert_eq!(join(json!({})), Ok("abjabc".into()));
    assert_eq!(join(json!({ "where": { "type": "text" } })), Ok("ababc".into()));
    assert_eq!(join(json!({ "where": { "type": "text" }, "join": "auto" })), Ok("abc".into()));
    assert_eq!(join(json!({ "join": "auto" })), Ok("abjabc".into()));
    assert_eq!(join(json!({ "join": "last" })), Ok("abc".into()));
    assert_eq!(join(json!({ "by": "index" })), Ok(json!(["ababc", "j"])));
    assert_eq!(join(json!({ "by": "index", "join": "auto" })), Ok(json!(["abc", "j"])));
    assert_eq!(join(json!({ "join": "parents" })), Ok(json!(["abj", "ababc"])));
}

#[test]
fn ids_inside_lists_and_encodings() {
    let record = output(json!({
        "triples": [[-0.5, 7, "h"], [null, 8, null]],
        "pairs": [[-0.5, 4], [-1, 5]],
        "objects": [{ "id": 1 }, { "id": 2 }],
        "names": ["token_id:3", "token_id:4"],
        "base64": "AAAAAAEAAAACAAAA",
        "negative": "/////w==",
        "printed": "[5 6\n 7]",
        "json": "{\"deep\": \"[1, 2]\"}",
    }));
    let ids = |pointer: &str| text_of(json!({ "ids": [pointer] }), record.clone());
    assert_eq!(ids("/output/triples/*/1"), Ok("hi".into()));
    assert_eq!(ids("/output/pairs/*/1"), Ok("ef".into()));
    assert_eq!(ids("/output/objects/*/id"), Ok("bc".into()));
    assert_eq!(ids("/output/names/!tokenid"), Ok("de".into()));
    assert_eq!(ids("/output/names").unwrap_err().0, "not_ids");
    assert_eq!(ids("/output/base64/!b64i32"), Ok("abc".into()));
    assert_eq!(ids("/output/base64").unwrap_err().0, "not_ids");
    assert_eq!(ids("/output/negative/!b64i32").unwrap_err().0, "negative");
    assert_eq!(ids("/output/printed/!numpy"), Ok("fgh".into()));
    assert_eq!(ids("/output/json/!json/deep"), Ok("bc".into()));
}

#[test]
fn each_element_gets_its_own_text() {
    let layouts = json!([
        { "name": "server", "when": ["/output/choices"], "fields": [
            { "kind": "prompt", "ids": ["/output/prompt_token_ids"], "text": "/output/prompt_text" }] },
        { "name": "server", "when": ["/output/choices"], "each": "/output/choices/*", "fields": [
            { "kind": "response", "ids": ["/token_ids", "/delta/ids"], "text": "/response_text" }] },
    ]);
    let record = json!({ "prompt_token_ids": [0], "choices": [{ "index": 0, "token_ids": [1] }, { "delta": { "ids": [2] } }, {}] });
    let (enriched, report) = run(&layouts, &record);
    let expected = json!({ "prompt_text": "a", "prompt_token_ids": [0], "choices": [
        { "index": 0, "response_text": "b", "token_ids": [1] }, { "response_text": "c", "delta": { "ids": [2] } }, {}] });
    assert_eq!(enriched.to_string(), expected.to_string());
    let paths: Vec<_> = report.fields.iter().map(|field| (field.path.as_str(), field.index)).collect();
    assert_eq!(
        paths,
        [("/prompt_token_ids", None), ("/choices/0/token_ids", Some(0)), ("/choices/1/delta/ids", Some(1))]
    );
}

#[test]
fn an_earlier_layout_claims_what_it_read() {
    let layouts = json!([
        { "name": "first", "when": [], "fields": [
            { "kind": "prompt", "ids": ["/output/a", "/output/b"], "text": "/output/one" }] },
        { "name": "second", "when": [], "fields": [
            { "kind": "response", "ids": ["/output/b"], "text": "/output/two" },
            { "kind": "response", "ids": ["/output/c"], "text": "/output/one" },
            { "kind": "response", "ids": ["/output/d"], "text": "/output/three" }] },
    ]);
    let (enriched, _) = run(&layouts, &output(json!({ "a": [0], "b": [1], "c": [2], "d": [3] })));
    let expected = json!({ "one": "a", "a": [0], "b": [1], "c": [2], "three": "d", "d": [3] });
    assert_eq!(enriched["output"].to_string(), expected.to_string());
}

#[test]
fn token_id_strings_are_found_only_where_they_are_so_spelled() {
    let list = json!({ "kind": "response", "ids": ["/output/tokens/!tokenid"], "text": "/output/text" });
    let each = json!({ "kind": "response", "ids": ["/output/objects/*/token/!tokenid"], "text": "/output/text" });
    for text in [json!(["a", "b"]), json!([]), json!("a"), json!([1, 2]), json!([{ "token": "token_id:1" }])] {
        let (_, report) = run(&layout(&list), &output(json!({ "tokens": text })));
        assert_eq!(report.fields, [], "{text}");
    }
    let (_, report) = run(&layout(&each), &output(json!({ "objects": [{ "token": "a" }, { "token": "b" }] })));
    assert_eq!(report.fields, []);
    // The first tells how they are spelled, and then all must be.
    let mixed = output(json!({ "objects": [{ "token": "token_id:0" }, { "token": "b" }] }));
    let (_, report) = run(&layout(&each), &mixed);
    assert_eq!(report.fields[0].reason, Some("not_ids"));
    let mut when = layout(&list);
    when["when"] = json!(["/output/tokens/!tokenid"]);
    let (enriched, _) = run(&when, &output(json!({ "tokens": ["token_id:1", "token_id:2"] })));
    assert_eq!(enriched["output"]["text"], "bc");
}

#[test]
fn logprobs_may_be_there_for_what_the_mask_has() {
    let field = json!({ "kind": "response", "ids": ["/output/ids"], "text": "/output/text",
        "mask": "/output/mask", "logprobs": "/output/logprobs" });
    let warnings = |logprobs: Value| {
        let record = output(json!({ "ids": [0, 1, 2], "mask": [true, false, true], "logprobs": logprobs }));
        run(&layout(&field), &record).1.warnings.len()
    };
    assert_eq!(warnings(json!([-0.5, -0.5])), 0);
    assert_eq!(warnings(json!([-0.5, 0.0, -0.5])), 0);
    assert_eq!(warnings(json!([-0.5])), 1);
    // A null in one of many values is a value.
    let field =
        json!({ "kind": "response", "ids": ["/output/t/*/1"], "text": "/output/text", "logprobs": "/output/t/*/0" });
    let (_, report) = run(&layout(&field), &output(json!({ "t": [[null, 1], [-0.5, 2]] })));
    assert_eq!(report.warnings, []);
}

#[test]
fn odd_masks_and_logprobs_are_reported() {
    let field = json!({ "kind": "response", "ids": ["/output/ids"], "text": "/output/text",
        "mask": "/output/mask", "logprobs": "/output/logprobs" });
    let (_, report) = run(&layout(&field), &output(json!({ "ids": [0, 1], "mask": [1], "logprobs": [0.5, NULL] })));
    let warnings: Vec<_> = report.warnings.iter().map(|warning| (warning.code, warning.path.as_str())).collect();
    assert_eq!(warnings, [("odd_length", "/output/mask")]);
    assert_eq!(report.totals.decoded, 1);
}

const NULL: Option<f64> = None;

#[test]
fn a_text_never_takes_the_place_of_its_ids() {
    let field = json!({ "kind": "response", "ids": ["/output/ids/list"], "text": "/output/ids" });
    let (enriched, report) = run(&layout(&field), &output(json!({ "ids": { "list": [0] } })));
    assert_eq!(enriched["output"]["ids"]["list"], json!([0]));
    assert_eq!(report.fields[0].reason, Some("no_text_place"));
}

#[test]
fn every_mistake_is_named() {
    let field = json!({ "kind": "prompt", "ids": ["/output/a"], "text": "/output/t" });
    let with = |key: &str, value: Value| {
        let mut field = field.clone();
        field[key] = value;
        layout(&field).to_string()
    };
    for (layout, message) in [
        ("[".to_owned(), "not JSON"),
        ("3".to_owned(), "an object is needed, not a number"),
        (json!({ "when": [], "fields": [field] }).to_string(), "`name` is missing"),
        (json!({ "name": "n", "fields": [field] }).to_string(), "`when` is missing"),
        (json!({ "name": "n", "when": [] }).to_string(), "`fields` is missing"),
        (json!({ "name": "n", "when": [], "fields": [] }).to_string(), "`fields` is empty"),
        (json!({ "name": "n", "when": [[]], "fields": [field] }).to_string(), "can never hold"),
        (json!({ "name": "n", "when": [], "fields": [field], "fileds": 1 }).to_string(), "unknown member `fileds`"),
        (json!({ "name": "n", "when": ["/body/a"], "fields": [field] }).to_string(), "must start with /inputs"),
        (with("kind", "answer".into()), "`kind` is `answer`, must be one of `prompt`, `response`"),
        (with("ids", json!([])), "`ids` needs at least one pointer"),
        (with("ids", json!(["output/a"])), "must start with `/`"),
        (with("ids", json!(["/output/!what"])), "unknown step `!what`"),
        (with("ids", json!(["/output/!tokenid/a"])), "goes on after"),
        (with("text", "/output/*/t".into()), "`text` must be keys"),
        (with("text", Value::Null), "`text` is missing"),
        (with("join", "last".into()), "need a `*`"),
        (with("join", "first".into()), "must be one of"),
        (with("where", json!({ "a": [] })), "`where` must be"),
        (with("select", json!({})), "one of `mask`, `ranges` and `tail`"),
        (with("select", json!({ "mask": "/output/m" })), "one of `value` and `not`"),
        (with("select", json!({ "mask": "/output/m", "value": "1" })), "must be a number"),
        (with("select", json!({ "tail": "/output/n" })), "`inside` is missing"),
        (with("select", json!({ "ranges": "/output/r", "inside": 1 })), "must be true or false"),
        (
            with("select", json!({ "ranges": "/output/r", "inside": true, "length": "/output/n" })),
            "unknown member `length`",
        ),
        (with("id", json!([])), "unknown member `id`"),
    ] {
        let error = Layout::from_json(layout.as_bytes()).expect_err(&layout);
        assert_eq!(error.code(), ErrorCode::InvalidLayout);
        assert!(error.message().contains(message), "{layout}\n  {error}\n  should say: {message}");
        assert!(error.message().starts_with("layout"), "{error}");
    }
}
