use super::*;
use crate::tokenizer::cells::Cells;
use crate::tokenizer::chain::Chain;
use crate::tokenizer::loader::read;

const WORDS: [&str; 24] = [
    "a",
    "▁b",
    "▁▁",
    " ▁c ",
    "▁ ▁",
    "",
    " ",
    "##d",
    "##",
    ".",
    " .",
    "n't",
    "<0x41>",
    "<0xC3>",
    "<0xA9>",
    "<0x20>",
    "<0xFF>",
    "Ġé",
    "Ã",
    "©",
    "日本",
    "a long token ▁ of more than sixteen bytes",
    "do not",
    "</s>",
];

fn file(decoder: &str) -> String {
    let vocab: Vec<String> = WORDS.iter().enumerate().map(|(id, word)| format!("{word:?}:{}", id * 3 % 29)).collect();
    let added = r#""single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true"#;
    format!(
        r#"{{"added_tokens":[{{"id":0,"content":"</s>",{added}}},{{"id":0,"content":"<▁x>",{added}}}],
        "decoder":{decoder},"model":{{"type":"BPE","merges":[],"vocab":{{{},"far":4000000000,"▁far":7000}}}}}}"#,
        vocab.join(",")
    )
}

fn string((text, is_utf16): (&[u8], bool)) -> String {
    if !is_utf16 {
        return std::str::from_utf8(text).expect("ASCII").to_owned();
    }
    let units: Vec<u16> = text.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
    String::from_utf16(&units).expect("pairs of surrogates")
}

#[test]
fn tables_and_cells_decode_as_the_chain_does() {
    let strip = |start| format!(r#"{{"type":"Strip","content":" ","start":{start},"stop":0}}"#);
    let metaspace = |scheme| format!(r#"{{"type":"Metaspace","replacement":"▁","prepend_scheme":"{scheme}"}}"#);
    let piece = |cleanup| format!(r###"{{"type":"WordPiece","prefix":"##","cleanup":{cleanup}}}"###);
    let level = r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#.to_owned();
    let replace = r#"{"type":"Replace","pattern":{"String":"▁"},"content":" "}"#.to_owned();
    let (bytes, fuse) = (r#"{"type":"ByteFallback"}"#.to_owned(), r#"{"type":"Fuse"}"#.to_owned());
    let sequences = [
        vec![level.clone()],
        vec![replace.clone(), level],
        vec![],
        vec![fuse.clone()],
        vec![replace.clone(), bytes.clone(), fuse.clone()],
        vec![replace.clone(), bytes.clone(), fuse.clone(), strip(1)],
        vec![bytes.clone()],
        vec![replace, fuse.clone(), strip(2)],
        vec![strip(1)],
        vec![metaspace("first")],
        vec![metaspace("never")],
        vec![metaspace("always"), bytes, fuse.clone(), strip(1)],
        vec![piece(true)],
        vec![piece(false), metaspace("always"), fuse],
    ];
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for sequence in sequences {
        let decoder = format!(r#"{{"type":"Sequence","decoders":[{}]}}"#, sequence.join(","));
        let mut spec = read(file(&decoder).as_bytes()).expect("a tokenizer");
        let mut contents = spec.number().expect("numbers");
        let steps = spec.decoder.expect("a decoder").steps;
        let words = contents.clone();
        let table = Table::new(&mut contents, &steps).unwrap_or_else(|| panic!("no table for {decoder}"));
        let chain = Chain { words, steps: Some(steps) };
        let mut cells = Cells::default();
        for count in 0..2000 {
            let id = |random: &mut dyn FnMut(u64) -> u64| match random(20) {
                0 => 4_000_000_000,
                1 => 7000,
                2 => 3_999_999_999,
                _ => random(34) as u32,
            };
            let ids: Vec<u32> = (0..random(if count % 100 == 0 { 300 } else { 9 })).map(|_| id(&mut random)).collect();
            for skip_special_tokens in [false, true] {
                let options = DecodeOptions { skip_special_tokens };
                let (mut ours, mut expected) = (b"x".to_vec(), b"x".to_vec());
                table.decode_into(&ids, options, &mut ours);
                chain.decode_into(&ids, options, &mut expected);
                assert_eq!(ours, expected, "{ids:?} {options:?} {decoder}");
                let text = String::from_utf8_lossy(&ours[1..]);
                let in_cells = cells.decode(&table, &ids, options);
                assert_eq!(in_cells.1, !text.is_ascii(), "{ids:?} {options:?} {decoder}");
                assert_eq!(string(in_cells), text, "{ids:?} {options:?} {decoder}");
                let text = text.len();
                let bounds = [table.text_bytes_bound(&ids), chain.text_bytes_bound(&ids)];
                assert!(bounds.iter().all(|&bound| text <= bound), "{text} {bounds:?} {ids:?} {decoder}");
            }
            assert!(ids.iter().all(|&id| table.contains(id) == chain.words.get(id).is_some()));
        }
    }
}

#[test]
fn a_table_out_of_proportion_is_left_to_the_chain() {
    let content = "x".repeat(100_000);
    let decoder = format!(r#"{{"type":"Replace","pattern":{{"String":""}},"content":"{content}"}}"#);
    let mut spec = read(file(&decoder).as_bytes()).expect("a tokenizer");
    let mut contents = spec.number().expect("numbers");
    assert!(Table::new(&mut contents, &spec.decoder.expect("a decoder").steps).is_none());
}
