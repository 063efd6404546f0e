use super::*;

#[track_caller]
fn check(bytes: &[u8]) {
    let mut units = vec![0; bytes.len() * 2];
    let count = read_lossy(bytes, &mut units);
    let expected: Vec<u8> = String::from_utf8_lossy(bytes).encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(units.get(..count), Some(expected.as_slice()), "{bytes:x?}");
}

#[test]
fn bytes_are_read_as_lossily_as_strings_are() {
    for first in 0..=255 {
        check(&[first]);
        for second in 0..=255 {
            check(&[first, second]);
            check(&[first, second, 0x80]);
            check(&[first, second, 0xbf, b'a']);
            check(&[first, second, 0x80, 0xbf]);
            check(&[0xf0, 0x9f, first, second]);
        }
    }
    // Ends of ranges, and what stands beside them.
    const BYTES: [u8; 24] = [
        0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
        0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff,
    ];
    let mut state = 1_u64;
    for count in 0..200_000 {
        let mut bytes = Vec::new();
        for _ in 0..count % 12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            bytes.push(BYTES[(state >> 33) as usize % BYTES.len()]);
        }
        check(&bytes);
    }
}

#[test]
fn characters_that_are_cut_off_anywhere_are_read() {
    let text =
        "a\u{7f}\u{80}é\u{7ff}\u{800}日\u{d7ff}\u{e000}\u{feff}\u{fffd}\u{ffff}\u{10000}🙂\u{10ffff}z".as_bytes();
    for end in 0..=text.len() {
        for start in 0..=end {
            check(&text[start..end]);
        }
    }
}

#[test]
fn what_is_longer_than_a_window_stands_behind_what_came_before() {
    let (long, wide) = ("x".repeat(5000), "é".repeat(5000));
    let vocab = format!(r#"{{"a":0,"{long}":1,"é":2,"{wide}":3}}"#);
    let json = format!(r#"{{"decoder":{{"type":"Fuse"}},"model":{{"type":"BPE","merges":[],"vocab":{vocab}}}}}"#);
    let tokenizer = Tokenizer::from_json(json.as_bytes()).expect("a tokenizer");
    for ids in [vec![0, 1], vec![0, 1, 0, 1, 0], vec![0, 3], vec![0, 1, 2, 1, 3, 0], vec![2, 3, 3, 3, 2]] {
        let options = DecodeOptions::default();
        let mut cells = Cells { count: 4, ..Cells::default() };
        let (text, is_utf16) = tokenizer.decode_cells(&ids, options, &mut cells).expect("a table");
        let expected = tokenizer.decode(&ids, options);
        let units: Vec<u8> = expected.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(text == if is_utf16 { &units } else { expected.as_bytes() }, "{ids:?}");
    }
}

#[test]
fn cells_are_made_once_as_many_ids_were_decoded_as_there_are() {
    let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","merges":[],"vocab":{"a":0,"b":1,"c":2,"d":3}}}"#;
    let tokenizer = Tokenizer::from_json(json).expect("a tokenizer");
    let mut cells = Cells::default();
    for (ids, text) in [(&[0, 1, 2][..], None), (&[], None), (&[3], Some("d")), (&[], Some(""))] {
        let decoded = tokenizer.decode_cells(ids, DecodeOptions::default(), &mut cells);
        assert_eq!(decoded, text.map(|text| (text.as_bytes(), false)), "{ids:?}");
    }
}

#[test]
fn whole_tokens_are_what_they_are_alone() {
    let vocab = r#""a":0,"\u00e3\u0123":1,"\u00c3":2,"<0x41>":3,"<0xC3>":4,"\u2581b":5,"\u65e5":6,"":7"#;
    let added = r#"{"id":8,"content":"</s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}"#;
    let (level, fallback) =
        (r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#, r#"{"type":"ByteFallback"}"#);
    let strip = r#"{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Strip","content":"a","start":1,"stop":0}]}"#;
    let piece = r###"{"type":"WordPiece","prefix":"##","cleanup":true}"###;
    // How many ids are whole: with special ones, and without.
    for (decoder, whole) in [(level, [7, 6]), (fallback, [7, 6]), (strip, [0, 0]), (piece, [0, 0]), ("null", [0, 0])] {
        let json = format!(
            r#"{{"added_tokens":[{added}],"decoder":{decoder},"model":{{"type":"BPE","merges":[],"vocab":{{{vocab}}}}}}}"#
        );
        let tokenizer = Tokenizer::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{decoder}: {error}"));
        for (skip_special_tokens, whole) in [(false, whole[0]), (true, whole[1])] {
            let options = DecodeOptions { skip_special_tokens };
            let ids: Vec<u32> = (0..12).filter(|&id| tokenizer.is_whole(id, options)).collect();
            assert_eq!(ids.len(), whole, "{decoder} {ids:?}");
            for &first in &ids {
                for &second in &ids {
                    let alone = [first, second].map(|id| tokenizer.decode(&[id], options));
                    assert_eq!(tokenizer.decode(&[first, second], options), alone.concat(), "{decoder}");
                }
            }
        }
    }
}
