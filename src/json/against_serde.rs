//! The reader of JSON beside `serde_json`, on JSON put together at random.
#![cfg(all(test, not(target_arch = "wasm32")))]

use super::Json;
use crate::view::{Kind, NodeId, Tree};

/// What `serde_json` would make of a value.
fn plain(json: &mut Json<'_>, node: NodeId) -> serde_json::Value {
    match json.kind(node) {
        Kind::Array => {
            let elements = json.elements(node);
            assert_eq!(elements.len(), json.len(node));
            assert_eq!(json.element(node, elements.len()), None);
            for (i, &element) in elements.iter().enumerate().take(2) {
                let same = json.element(node, i).unwrap();
                assert_eq!(json.range(same), json.range(element));
            }
            elements.into_iter().map(|element| plain(json, element)).collect()
        }
        Kind::Object => {
            let members = json.members(node);
            members.into_iter().map(|(key, value)| (key, plain(json, value))).collect()
        }
        _ => serde_json::from_slice(json.raw(node)).unwrap(),
    }
}

/// JSON put together at random, some of it broken: it is taken if `serde_json` takes it, and has the same in it.
#[test]
fn takes_what_serde_json_takes() {
    const ATOMS: [&str; 18] = [
        "0",
        "-1",
        "12",
        "1234567",
        "123456789",
        "-0.25",
        "1.5e2",
        "true",
        "false",
        "null",
        "\"\"",
        "\"text\"",
        "\"a longer text with more than sixteen bytes\"",
        "\"\\n\\\"\\\\\\u0041\"",
        "{}",
        "[]",
        "[1, 2]",
        "\"é\"",
    ];
    const TYPED: [&str; 7] = [
        r#"{"intValue":"7"}"#,
        r#"{"intValue":"1234567"}"#,
        r#"{"intValue":12}"#,
        r#"{ "double_value" : -0.5 }"#,
        r#"{"doubleValue":1e-2}"#,
        r#"{"stringValue":"x"}"#,
        r#"{"intValue":"05"}"#,
    ];
    struct Random(u64);
    impl Random {
        fn below(&mut self, count: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % count
        }
        fn value(&mut self, depth: usize) -> String {
            let space = [" ", "", "", "\n  "][self.below(4)];
            let count = self.below(6);
            match self.below(if depth == 0 { 2 } else { 6 }) {
                0 | 1 => ATOMS[self.below(ATOMS.len())].to_owned(),
                2 => {
                    let pairs = (0..count).map(|i| format!("\"{}\":{space}{}", "key".repeat(i), self.value(depth - 1)));
                    format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
                }
                3 => {
                    let items = (0..count).map(|_| self.value(depth - 1)).collect::<Vec<_>>();
                    format!("[{space}{}]", items.join(&format!(",{space}")))
                }
                4 => {
                    let numbers = (0..self.below(40)).map(|_| ATOMS[self.below(7)]).collect::<Vec<_>>();
                    format!("[{}]", numbers.join(&format!(",{space}")))
                }
                _ => {
                    let kinds = 1 + self.below(TYPED.len());
                    let numbers = (0..count).map(|_| TYPED[self.below(kinds)]).collect::<Vec<_>>();
                    format!(r#"{{"arrayValue":{{"values":[{space}{}]}}}}"#, numbers.join(&format!(",{space}")))
                }
            }
        }
    }
    let mut random = Random(1);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut text = random.value(4).into_bytes();
        if random.below(2) == 0 {
            let at = random.below(text.len());
            let new = b"0123456789,.-e:{}[]\" \\x"[random.below(23)];
            match random.below(3) {
                0 => text[at] = new,
                1 => text.insert(at, new),
                _ => drop(text.remove(at)),
            }
        }
        let expected = serde_json::from_slice::<serde_json::Value>(&text);
        let shown = String::from_utf8_lossy(&text);
        // Of these two `serde_json` asks more than the grammar: room in a double, and characters.
        if expected.as_ref().is_err_and(|error| error.to_string().contains("out of range"))
            || std::str::from_utf8(&text).is_err()
        {
            continue;
        }
        match (Json::parse(&text, 64), expected) {
            (Ok(mut json), Ok(expected)) => {
                assert_eq!(plain(&mut json, Json::ROOT), expected, "{shown}");
                taken += 1;
            }
            (Err(_), Err(_)) => refused += 1,
            (ours, theirs) => panic!("{shown}: {:?}, {theirs:?}", ours.err()),
        }
    }
    assert!(taken > 5000 && refused > 5000, "{taken} {refused}");
}
