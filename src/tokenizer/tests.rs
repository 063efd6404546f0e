use super::*;

fn bpe(decoder: &str) -> Tokenizer {
    let vocab = r###""a":0,"ab":1,"":2,"\u0120x":3,"\u00c3":4,"<0xC3>":5,"<0x41>":6,"\u65e5":7,"a</w>":8,"##b":9,"\u2581":10"###;
    let json = format!(r#"{{"decoder":{decoder},"model":{{"type":"BPE","merges":[],"vocab":{{{vocab}}}}}}}"#);
    Tokenizer::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{decoder}: {error}"))
}

#[test]
fn a_text_is_never_longer_than_its_bound() {
    let replace = |from, to| format!(r#"{{"type":"Replace","pattern":{{"String":"{from}"}},"content":"{to}"}}"#);
    let sequence = |list: &[&str]| format!(r#"{{"type":"Sequence","decoders":[{}]}}"#, list.join(","));
    let level = r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#;
    let (fallback, fuse) = (r#"{"type":"ByteFallback"}"#, r#"{"type":"Fuse"}"#);
    let ctc =
        |delimiter| format!(r#"{{"type":"CTC","pad_token":"","word_delimiter_token":"{delimiter}","cleanup":true}}"#);
    let (grow, more, between) = (replace("a", "long"), replace("o", "oooo"), replace("", "\u{e9}"));
    let decoders = [
        "null".to_owned(),
        fuse.to_owned(),
        level.to_owned(),
        fallback.to_owned(),
        sequence(&[level, level]),
        sequence(&[level, &grow, level]),
        sequence(&[&grow, &more, &between]),
        sequence(&[fallback, &between, fuse, &between]),
        sequence(&[fallback, &grow]),
        ctc(""),
        ctc("a"),
        r#"{"type":"BPEDecoder","suffix":""}"#.to_owned(),
        r#"{"type":"BPEDecoder","suffix":"</w>"}"#.to_owned(),
        r###"{"type":"WordPiece","prefix":"##","cleanup":true}"###.to_owned(),
        r#"{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always"}"#.to_owned(),
    ];
    let mut state = 1_u32;
    for decoder in &decoders {
        let tokenizer = bpe(decoder);
        for count in 0..200 {
            let mut ids: Vec<u32> = Vec::new();
            for _ in 0..count % 9 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ids.push((state >> 16) % 13);
            }
            let text = tokenizer.decode(&ids, DecodeOptions::default());
            let bound = tokenizer.text_bytes_bound(&ids);
            assert!(text.len() <= bound, "{} > {bound}: {ids:?} {decoder}", text.len());
        }
    }
    // Where nothing grows the bound is the length.
    for decoder in [fuse, level] {
        let ids = [0, 1, 7, 3];
        let tokenizer = bpe(decoder);
        assert_eq!(tokenizer.text_bytes_bound(&ids), tokenizer.decode(&ids, DecodeOptions::default()).len());
    }
}

#[test]
fn a_bound_is_known_before_a_text_grows() {
    let content = "a".repeat(1 << 20);
    let grow = format!(r#"{{"type":"Replace","pattern":{{"String":"a"}},"content":"{content}"}}"#);
    let tokenizer = bpe(&format!(r#"{{"type":"Sequence","decoders":[{{"type":"ByteFallback"}},{grow}]}}"#));
    let most = if usize::BITS > 32 { 1 << 39 } else { usize::MAX };
    assert!(tokenizer.text_bytes_bound(&vec![0; 1 << 20]) >= most);
}
