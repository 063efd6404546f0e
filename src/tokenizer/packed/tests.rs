//! A packed tokenizer comes back the same, and a damaged or hostile one does no harm.

use super::forms::{ASCII, OTHER, TEXT};
use super::*;
use crate::tokenizer::DecodeOptions;
use crate::tokenizer::chain::Step;

const DECODERS: [&str; 7] = [
    "null",
    r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#,
    r###"{"type":"WordPiece","prefix":"##","cleanup":true}"###,
    r#"{"type":"Sequence","decoders":[{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always"},
        {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}"#,
    r#"{"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true}"#,
    r###"{"type":"Sequence","decoders":[{"type":"BPEDecoder","suffix":"</w>"},{"type":"Fuse"},
        {"type":"WordPiece","prefix":"##","cleanup":false},
        {"type":"Metaspace","replacement":"\u2581","prepend_scheme":"never"},
        {"type":"Strip","content":"x","start":18446744073709551615,"stop":2},{"type":"ByteFallback"},
        {"type":"Replace","pattern":{"String":"a"},"content":"\u00e9\u65e5"},{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}]}"###,
    r#"{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Replace","pattern":{"Regex":"a+|b"},"content":"-"}]}"#,
];

/// Of the decoders, those that this build can run.
fn tokenizers() -> Vec<Tokenizer> {
    let usable = if cfg!(feature = "general") { DECODERS.len() } else { DECODERS.len() - 1 };
    let mut all = Vec::new();
    for decoder in &DECODERS[..usable] {
        let vocab = r###""a":0,"ab":1,"":2,"\u0120x":3,"\u00c3":4,"<0xC3>":5,"<0x41>":6,"\u65e5":7,"a</w>":8,"##b":9,
            "\u2581c":10,"{long}":11,"|":14,".":13,"far":4000000000,"\u2581far":7000000"###;
        let vocab = vocab.replace("{long}", &"\u{2581}long".repeat(20));
        let added = r#"[{"id":0,"content":"</s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}]"#;
        let json = format!(
            r#"{{"added_tokens":{added},"decoder":{decoder},"model":{{"type":"BPE","merges":[],"vocab":{{{vocab}}}}}}}"#
        );
        all.push(Tokenizer::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{decoder}: {error}")));
        all.extend(all.last().map(|tokenizer| Tokenizer {
            cleans_up: true,
            ..unpack(&tokenizer.to_packed()).expect("what was packed")
        }));
    }
    all
}

fn unpack(bytes: &[u8]) -> Result<Tokenizer, Error> {
    Tokenizer::from_json(bytes)
}

fn random(state: &mut u32, below: usize) -> usize {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    ((u64::from(*state) * below as u64) >> 32) as usize
}

fn random_ids(state: &mut u32) -> Vec<u32> {
    const IDS: [u32; 20] =
        [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 7_000_000, 4_000_000_000, 3_999_999_999];
    (0..random(state, 12)).map(|_| IDS[random(state, IDS.len())]).collect()
}

#[test]
fn what_was_packed_decodes_alike_and_packs_alike() {
    let mut state = 1;
    for tokenizer in tokenizers() {
        let packed = tokenizer.to_packed();
        let again = unpack(&packed).expect("what was packed");
        assert!(again.to_packed() == packed && again.info() == tokenizer.info());
        for _ in 0..500 {
            let ids = random_ids(&mut state);
            for skip_special_tokens in [false, true] {
                let options = DecodeOptions { skip_special_tokens };
                assert_eq!(again.decode(&ids, options), tokenizer.decode(&ids, options), "{ids:?} {:?}", again.info);
            }
            assert_eq!(again.text_bytes_bound(&ids), tokenizer.text_bytes_bound(&ids));
            assert!(ids.iter().all(|&id| again.contains(id) == tokenizer.contains(id)));
        }
    }
}

#[test]
fn a_cut_file_is_refused() {
    for tokenizer in tokenizers() {
        let packed = tokenizer.to_packed();
        for len in 0..packed.len() {
            let error = unpack(&packed[..len]).expect_err("it was cut");
            assert_eq!(error.code(), crate::ErrorCode::InvalidTokenizer, "{len}: {error}");
        }
        let error = unpack(&[&packed[..], b"\0"].concat()).expect_err("something follows");
        assert_eq!(error.message(), damaged().message());
        let mut other = packed;
        for (format, which) in [(9, "a newer"), (1, "an older")] {
            other[8] = format;
            let error = unpack(&other).expect_err("another format");
            let expected =
                format!("packed by {which} version of token2text (format {format}); load its tokenizer.json");
            assert_eq!(error.message(), expected);
        }
    }
}

#[test]
fn the_source_is_recorded() {
    for tokenizer in tokenizers() {
        let packed = tokenizer.to_packed_of([7; 32]);
        let again = unpack(&packed).expect("what was packed");
        assert_eq!(again.info().source_sha256, Some([7; 32]));
        assert!(again.to_packed() == packed && packed[20..52] == [7; 32]);
        assert_eq!(tokenizer.info().source_sha256, None);
    }
}

/// A packed form whose content was changed, with the hash that fits.
fn with_hash(mut packed: Vec<u8>) -> Vec<u8> {
    let sum = checksum(&packed[20..]).to_le_bytes();
    packed[12..20].copy_from_slice(&sum);
    packed
}

#[test]
fn a_file_made_to_do_harm_does_none() {
    let (mut state, mut loaded, mut refused) = (7, 0, 0);
    for tokenizer in tokenizers() {
        let packed = tokenizer.to_packed();
        for len in 20..packed.len() {
            assert!(unpack(&with_hash(packed[..len].to_vec())).is_err(), "cut to {len}");
        }
        for turn in 0..3000 {
            let mut changed = packed.clone();
            for _ in 0..=turn % 3 {
                let at = 20 + random(&mut state, packed.len() - 20);
                changed[at] =
                    [0, 1, 0x7f, 0x80, 0xff, changed[at] ^ 1, changed[at].wrapping_add(1)][random(&mut state, 7)];
            }
            let Ok(tokenizer) = unpack(&with_hash(changed)) else {
                refused += 1;
                continue;
            };
            loaded += 1;
            let ids = random_ids(&mut state);
            for skip_special_tokens in [false, true] {
                let bytes = tokenizer.decode_bytes(&ids, DecodeOptions { skip_special_tokens });
                let text = String::from_utf8_lossy(&bytes);
                assert!(text.len() <= tokenizer.text_bytes_bound(&ids), "{ids:?} {tokenizer:?}");
                assert!(text.len() <= ids.len() * tokenizer.longest, "{ids:?} {tokenizer:?}");
            }
            let packed = tokenizer.to_packed();
            assert!(unpack(&packed).expect("what was packed").to_packed() == packed);
        }
    }
    assert!(loaded > 2000 && refused > 2000, "{loaded} {refused}: too few of one kind");
}

#[test]
fn a_regular_expression_needs_the_general_engine() {
    let Vocabulary::Chain(mut chain) = tokenizers().swap_remove(10).vocabulary else { panic!("a chain") };
    chain.steps = Some(vec![Step::Fuse, Step::Replace { pattern: "a+".to_owned(), content: "-".to_owned() }]);
    let mut packed = Tokenizer { vocabulary: Vocabulary::Chain(chain), ..tokenizers().remove(0) }.to_packed();
    // The last step is six numbers, of which the first is its kind, and three bytes of text.
    let at = packed.len() - 27;
    assert_eq!(packed[at], 7);
    packed[at] = 8;
    let unpacked = unpack(&with_hash(packed));
    if cfg!(feature = "general") {
        let tokenizer = unpacked.expect("what was packed");
        assert_eq!(tokenizer.decode(&[0, 0, 3], DecodeOptions::default()), "-Ġx");
        assert_eq!(tokenizer.info().engine, "general");
    } else {
        let error = unpacked.expect_err("no general engine");
        assert_eq!(error.code(), crate::ErrorCode::EngineNotAvailable, "{error}");
    }
}

#[test]
fn steps_that_grow_without_bound_are_refused() {
    let tokenizer = unpack(&tokenizers()[10].to_packed()).expect("a chain");
    let Vocabulary::Chain(mut chain) = tokenizer.vocabulary else { panic!("a chain") };
    let grow = || Step::Replace { pattern: String::new(), content: "a".repeat(1000) };
    chain.steps = Some(vec![grow(), grow(), grow(), Step::ByteFallback, Step::Fuse, Step::Fuse]);
    let packed = Tokenizer { vocabulary: Vocabulary::Chain(chain), ..tokenizers().remove(0) }.to_packed();
    assert_eq!(unpack(&packed).expect_err("it grows").code(), crate::ErrorCode::LimitExceeded);
}

/// A packed table of these codes and buffers, without first forms.
fn table(codes: &[u8], buffers: [&[u8]; 3]) -> Result<Tokenizer, Error> {
    let mut packed = MAGIC.to_vec();
    number(FORMAT, &mut packed);
    // The checksum, the source; a table that does not clean up, of no decoder, without special tokens and far ids.
    packed.extend_from_slice(&[0; 8 + 32 + 5 * 4]);
    [codes, &[]].iter().chain(&buffers).for_each(|part| bytes(part, &mut packed));
    // No first forms, and nothing cut.
    packed.extend_from_slice(&[0; 7 * 4]);
    unpack(&with_hash(packed))
}

#[test]
fn a_form_that_is_said_to_be_text_is_text() {
    let [ascii, text, other] = [ASCII, TEXT, OTHER].map(|kind| move |len: u8| kind << 6 | len);
    let good = table(&[text(1 + 1), ascii(1), other(1), text(0)], [b"a", "é".as_bytes(), b"\xa9"]).expect("a table");
    assert_eq!(good.decode(&[1, 0, 2, 3], DecodeOptions::default()), "aé\u{fffd}");
    let cases: [(&[u8], [&[u8]; 3]); 8] = [
        (&[text(1), text(1)], [b"", "é".as_bytes(), b""]),
        (&[text(1)], [b"", b"\xff", b""]),
        (&[ascii(1)], [b"\xff", b"", b""]),
        (&[ascii(1)], [b"ab", b"", b""]),
        (&[ascii(2)], [b"a", b"b", b""]),
        (&[text(2)], [b"", b"a", b"b"]),
        (&[other(2)], [b"", b"", b"b"]),
        (&[1], [b"", b"", b""]),
    ];
    for (codes, buffers) in cases {
        let error = table(codes, buffers).expect_err("its forms are not what their codes say");
        assert_eq!(error.message(), damaged().message(), "{codes:?}");
    }
}

#[test]
fn memory_is_in_proportion_to_the_file() {
    let error = table(&vec![0; 9 << 20], [b""; 3]).expect_err("too many ids");
    assert_eq!(error.code(), crate::ErrorCode::LimitExceeded);
    table(&vec![0; 1 << 20], [b""; 3]).expect("as many as its bytes account for");
}
