//! What holds for any bytes: shared by the fuzz targets and by `tests/fuzz_seeds.rs`.
#![allow(dead_code)]

#[path = "parts.rs"]
mod parts;

use std::sync::LazyLock;

use serde_json::Value;
use token2text::{
    DecodeOptions, EnrichOptions, ErrorCode, Existing, Format, Layout, LoadOptions, Status, Tokenizer, TokenizerLoader,
    TokenizerSet, enrich, strip,
};

/// Ids 0 to 25 are the letters a to z.
const LETTERS: &str = r#"{"added_tokens":[],"decoder":{"type":"Fuse"},"model":{"type":"WordLevel","unk_token":"a","vocab":{
    "a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9,"k":10,"l":11,"m":12,"n":13,"o":14,"p":15,"q":16,"r":17,
    "s":18,"t":19,"u":20,"v":21,"w":22,"x":23,"y":24,"z":25}}}"#;

static TOKENIZERS: LazyLock<TokenizerSet> = LazyLock::new(|| Tokenizer::from_json(LETTERS.as_bytes()).unwrap().into());
static LAYOUTS: LazyLock<Vec<Layout>> = LazyLock::new(Layout::builtin);

static NO_KEYS: LazyLock<Layout> = LazyLock::new(|| {
    let layout = br#"{ "name": "none", "when": ["/output"], "fields": [
        { "kind": "prompt", "ids": "/output/0/0/0/0/0/0/0/0/0", "text": "/output/none" }] }"#;
    Layout::from_json(layout).unwrap().remove(0)
});

/// The letters, and the marks of a chat template.
#[cfg(feature = "rollouts")]
static CHAT: LazyLock<TokenizerSet> = LazyLock::new(|| {
    let mut file: Value = serde_json::from_str(LETTERS).unwrap();
    for (id, content) in (26..).zip(["<|im_start|>", "<|im_end|>", "<think>", "</think>", "<|endoftext|>", "\n"]) {
        file["added_tokens"].as_array_mut().unwrap().push(serde_json::json!({ "id": id, "content": content,
            "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": content != "\n" }));
    }
    Tokenizer::from_json(file.to_string().as_bytes()).unwrap().into()
});

/// However a body comes, it is read as its whole.
#[cfg(feature = "rollouts")]
fn body_in_pieces(
    body: &[u8],
    options: &token2text::ReadOptions,
    whole: Result<&token2text::Reading, token2text::ErrorCode>,
) {
    for size in [1, 61, 1000] {
        // Most bodies are long, and single bytes take long.
        if body.len() > size * 2000 {
            continue;
        }
        let mut reader = token2text::BodyReader::new(options.clone(), &token2text::Origin::default());
        let pushed = body.chunks(size).try_for_each(|piece| reader.push(piece));
        let read = pushed.and_then(|()| reader.finish());
        assert_eq!(read.as_ref().map_err(token2text::Error::code), whole, "in pieces of {size}");
    }
}

/// The rollouts of any body: nothing panics, and segments and messages have every token once.
#[cfg(feature = "rollouts")]
fn rollouts(body: &[u8], format: Format) {
    use token2text::rollout::{CheckOptions, Rollouts};
    let mut options = token2text::ReadOptions::default();
    (options.format, options.layouts) = (format, LAYOUTS.clone());
    options.limits.ids_per_field = 4096;
    let whole = token2text::read_all(body, &token2text::Origin::default(), &options);
    body_in_pieces(body, &options, whole.as_ref().map_err(token2text::Error::code));
    let Ok(token2text::Reading { spans, .. }) = whole else { return };
    let rollouts = Rollouts::new(spans, CHAT.clone(), CheckOptions::default()).unwrap();
    let mut seen = 0;
    for (at, rollout) in rollouts.list.iter().enumerate() {
        let checked = rollouts.check(at).unwrap();
        seen += rollout.nodes.len();
        let tokens: usize = checked.totals.tokens.iter().sum();
        assert_eq!(rollouts.overview(at).tokens, tokens, "the list counts what the rollout counts");
        assert!(rollouts.spans_of(rollout).len() <= rollouts.spans.len());
        for (node, numbers) in rollout.nodes.iter().zip(rollouts.numbers(at)) {
            for one in numbers {
                assert_eq!(one.values.len(), rollouts.calls[node.call].ids.len());
            }
        }
        for (node, cut) in rollout.nodes.iter().zip(&checked.calls) {
            let covers = |ranges: Vec<[usize; 2]>| {
                let start = ranges.first().map_or(0, |range| range[0]);
                let end = ranges.into_iter().fold(start, |end, range| {
                    assert!(range[0] == end && range[1] >= end, "{range:?} behind {end}");
                    range[1]
                });
                assert!(end == rollouts.calls[node.call].ids.len() || start == end);
            };
            covers(cut.segments.iter().map(|segment| segment.tokens).collect());
            covers(cut.messages.iter().map(|message| message.tokens).collect());
        }
    }
    assert_eq!(seen, rollouts.calls.len(), "each call is in one rollout");
}

fn options_for(format: Format) -> EnrichOptions {
    let mut options = EnrichOptions::default();
    options.layouts.clone_from(&LAYOUTS);
    options.format = format;
    // What a body can ask for is bounded by limits that are quick to reach.
    options.limits.ids_per_field = 4096;
    options
}

/// A body in a format: nothing panics; twice is once; what was put in goes out again; what is not touched is the same; JSON
/// stays JSON.
pub fn body(body: &[u8], format: Format) {
    #[cfg(feature = "rollouts")]
    rollouts(body, format);
    let options = options_for(format);
    // Of anything, something is left or an error.
    let stripped = strip(body, &options);
    let Ok(once) = enrich(body, &TOKENIZERS, &options) else { return };
    let report = &once.report;
    if report.totals.decoded + report.totals.replaced == 0 {
        same(&once.body, body, "nothing was written, but the body is another");
    }
    // A layout that asks for no key and finds nothing: spans that the sieve would refuse are looked into.
    let mut whole = options.clone();
    whole.layouts.push(NO_KEYS.clone());
    let whole = enrich(body, &TOKENIZERS, &whole).expect("a body is one whatever the layouts are");
    same(&whole.body, &once.body, "the sieve makes another body");
    assert_eq!(whole.report, once.report, "the sieve makes another report");
    // Later calls are told the format, which a text may have made another.
    let mut told = options.clone();
    told.format = [
        Format::Record,
        Format::OtlpJson,
        Format::OtlpProto,
        Format::Mlflow,
        Format::Weave,
        Format::Trackio,
        Format::Sse,
    ]
    .into_iter()
    .find(|format| format.as_str() == report.format)
    .unwrap();
    let twice = enrich(&once.body, &TOKENIZERS, &told).expect("an enriched body is one");
    same(&twice.body, &once.body, "twice is not once");
    assert_eq!(twice.report.totals.decoded, 0);
    let is_plain = report.fields.iter().all(|field| field.status != Status::Replaced && field.existing.is_none());
    // What a default enrichment would have put there, it takes out.
    let had_ours = stripped.is_ok_and(|stripped| stripped != body);
    if is_plain && !had_ours && report.fields.len() < 10_000 {
        same(&strip(&once.body, &told).expect("strip"), body, "strip does not give the body back");
    }
    if let Ok(text) = std::str::from_utf8(body) {
        let is_json = |text: &str| serde_json::from_str::<Value>(text).is_ok();
        if is_json(text) {
            assert!(is_json(std::str::from_utf8(&once.body).expect("UTF-8 stays UTF-8")), "the body is JSON no more");
        }
    }
    // Not dropped and replaced at once: what is left may be other ids of the same field, whose text would be next.
    for (drop_ids, existing, most) in [
        (true, Existing::Keep, None),
        (true, Existing::Keep, Some(2)),
        (false, Existing::Replace, None),
        (false, Existing::Replace, Some(2)),
    ] {
        let mut other = told.clone();
        (other.drop_ids, other.existing, other.max_text_chars) = (drop_ids, existing, most);
        let once = enrich(body, &TOKENIZERS, &other).expect("options change nothing about what is read");
        let twice = enrich(&once.body, &TOKENIZERS, &other).expect("an enriched body is one");
        same(&twice.body, &once.body, &format!("twice is not once: drop {drop_ids}, {existing:?}, {most:?}"));
    }
}

/// Fails where two bodies differ, with what is there.
fn same(left: &[u8], right: &[u8], what: &str) {
    if left != right {
        let at = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        let near = |body: &[u8]| {
            String::from_utf8_lossy(&body[at.saturating_sub(200)..(at + 200).min(body.len())]).into_owned()
        };
        panic!("{what}\n{}\n\n{}", near(left), near(right));
    }
}

/// Layouts, and a body that has what they look for.
pub fn layouts(data: &[u8]) {
    const BODY: &[u8] =
        br#"{"inputs": {"prompt_ids": [0]}, "output": {"token_ids": [1, 2], "mask": [0, 1], "rows": [[0], [1]],
        "choices": [{"ids": "[3]", "index": 0}, {"ids": [4], "index": 1}]}, "attributes": {"a": "[5]"}}"#;
    let Ok(layouts) = Layout::from_json(data) else { return };
    let mut options = options_for(Format::Record);
    options.layouts = layouts;
    let once = enrich(BODY, &TOKENIZERS, &options).expect("a layout fails no body");
    serde_json::from_slice::<Value>(&once.body).expect("JSON stays JSON");
    strip(&once.body, &options).expect("strip");
}

/// Options as JavaScript writes them.
pub fn options(data: &[u8]) {
    let Ok(options) = EnrichOptions::from_json(data) else { return };
    let body = br#"{"inputs": {"prompt_ids": [0]}, "output": {"token_ids": [1, 99]}}"#;
    let _ = enrich(body, &TOKENIZERS, &options);
}

/// Ids of all kinds.
const IDS: [&[u32]; 4] = [&[0, 1, 2, 3, 4, 5, 6, 7], &[7, 7, 7, 0], &[255, 256, 257, 1000, u32::MAX], &[]];

/// A `tokenizer.json`: what loads decodes any ids, also in parts, and comes to the same when it was packed.
pub fn tokenizer(data: &[u8]) {
    let whole = Tokenizer::from_json(data);
    in_pieces(data, &whole);
    let Ok(tokenizer) = whole else { return };
    let again = Tokenizer::from_json(&tokenizer.to_packed()).expect("a packed tokenizer loads");
    for skip_special_tokens in [false, true] {
        for ids in IDS {
            let options = DecodeOptions { skip_special_tokens };
            assert_eq!(tokenizer.decode(ids, options), again.decode(ids, options));
            parts::check(&tokenizer, ids, skip_special_tokens);
        }
    }
    let (info, packed) = (tokenizer.info(), again.info());
    assert_eq!(
        (info.vocab_size, info.decoder, info.special_tokens),
        (packed.vocab_size, packed.decoder, packed.special_tokens)
    );
    // A regular expression that was applied to every token when the file was read is not needed again.
    assert!(info.engine == packed.engine || (info.engine, packed.engine) == ("general", "table"));
}

/// What came of loading: the tokenizer as bytes, or the error without its positions, which white space moves.
fn loaded(result: &Result<Tokenizer, token2text::Error>) -> Result<Vec<u8>, (ErrorCode, String)> {
    match result {
        Ok(tokenizer) => Ok(tokenizer.to_packed()),
        Err(error) => {
            let words = error.message().chars().filter(|c| !c.is_ascii_digit()).collect();
            Err((error.code(), words))
        }
    }
}

/// However a file comes, it is the same; also where a window of the loader ends inside it, which white space before it sees to.
fn in_pieces(data: &[u8], whole: &Result<Tokenizer, token2text::Error>) {
    const WINDOW: usize = 64 << 10;
    let mut places = data.iter().fold(data.len(), |sum, &byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    for _ in 0..3 {
        places = places.rotate_left(21).wrapping_mul(0x9e37_79b9);
        let pushed = |bytes: &[u8], most: usize| {
            let mut loader = TokenizerLoader::new(LoadOptions::default())?;
            bytes.chunks(most).try_for_each(|chunk| loader.push(chunk))?;
            loader.finish()
        };
        assert_eq!(loaded(&pushed(data, places % 100 + 1)), loaded(whole));
        // Only such files may have white space in front; the limits grow with the file.
        let begins = data.trim_ascii_start().first() == Some(&b'{');
        let is_limited = whole.as_ref().is_err_and(|error| error.code() == ErrorCode::LimitExceeded);
        if begins && !is_limited && data.len() < WINDOW {
            let mut padded = vec![b' '; WINDOW - places % data.len()];
            padded.extend_from_slice(data);
            assert_eq!(loaded(&pushed(&padded, WINDOW)), loaded(whole), "cut at {}", places % data.len());
        }
    }
}

/// Words that some decoder treats in its own way; the last one is special.
const WORDS: [&str; 40] = [
    "a",
    "b",
    "ab",
    "",
    " ",
    "▁",
    "▁▁c",
    "_",
    "##",
    "##d",
    "e</w>",
    "</w>",
    "<pad>",
    "|",
    "<0x41>",
    "<0xC3>",
    "<0xA9>",
    "<0xE2>",
    "<0x82>",
    "<0xAC>",
    "<0x20>",
    "<0x0A>",
    "Ġ",
    "Ã",
    "©",
    "ðŁ",
    "ĺ",
    "Ģ",
    "é",
    "日本",
    "😀",
    "\u{fffd}",
    " .",
    ".",
    "n't",
    "'",
    "do",
    "not",
    "a long token ▁ of more than sixteen bytes",
    "<s>",
];

/// The decoders of real files, and others that no table has.
const DECODERS: [&str; 18] = [
    LEVEL,
    r#"{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},
        {"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}"#,
    r#"{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}]}"#,
    r#"{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"}"#,
    r###"{"type":"WordPiece","prefix":"##","cleanup":true}"###,
    "null",
    r#"{"type":"BPEDecoder","suffix":"</w>"}"#,
    r#"{"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true}"#,
    r#"{"type":"ByteFallback"}"#,
    r#"{"type":"Fuse"}"#,
    r#"{"type":"Strip","content":"a","start":1,"stop":1}"#,
    r#"{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Replace","pattern":{"String":"a"},"content":"xyz"}]}"#,
    r#"{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Strip","content":" ","start":2,"stop":2}]}"#,
    r#"{"type":"Sequence","decoders":[{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},{"type":"Replace",
        "pattern":{"String":"é"},"content":""}]}"#,
    r#"{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"BPEDecoder","suffix":"</w>"},{"type":"ByteFallback"}]}"#,
    r#"{"type":"Sequence","decoders":[{"type":"CTC","pad_token":"a","word_delimiter_token":"b","cleanup":false},
        {"type":"CTC","pad_token":"","word_delimiter_token":"","cleanup":true},{"type":"ByteFallback"},{"type":"Fuse"}]}"#,
    r###"{"type":"Sequence","decoders":[{"type":"WordPiece","prefix":"##","cleanup":true},{"type":"Metaspace","replacement":"▁",
        "prepend_scheme":"first"},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":2,"stop":0}]}"###,
    r#"{"type":"Sequence","decoders":[]}"#,
];

const LEVEL: &str = r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#;

static DECODING: LazyLock<Vec<Tokenizer>> = LazyLock::new(|| {
    let vocab: Vec<String> = WORDS.iter().zip(0..).map(|(word, id)| format!("{}:{id}", Value::from(*word))).collect();
    let tokenizer = |decoder: &&str| {
        let json = format!(
            r#"{{"added_tokens":[{{"id":39,"content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,
                "special":true}}],"decoder":{decoder},"model":{{"type":"BPE","merges":[],"vocab":{{{}}}}}}}"#,
            vocab.join(",")
        );
        Tokenizer::from_json(json.as_bytes()).expect("a tokenizer")
    };
    DECODERS.iter().map(tokenizer).collect()
});

/// How many kinds of decoders the first byte for [`decode`], [`pieces`] and [`stream`] chooses from.
pub const DECODER_KINDS: u8 = DECODERS.len() as u8;

/// What to decode: the first byte says with which decoder, and whether special tokens are skipped; each other one is an id,
/// a few of them unknown.
fn decoding(data: &[u8]) -> Option<(&'static Tokenizer, Vec<u32>, DecodeOptions)> {
    let (first, ids) = data.split_first()?;
    let tokenizer = &DECODING[usize::from(first & 0x7f) % DECODING.len()];
    let ids = ids.iter().map(|id| u32::from(id & 0x7f) % (WORDS.len() as u32 + 2)).collect();
    Some((tokenizer, ids, DecodeOptions { skip_special_tokens: first & 0x80 != 0 }))
}

/// All ways to decode agree.
pub fn decode(data: &[u8]) {
    let Some((tokenizer, ids, options)) = decoding(data) else { return };
    let text = tokenizer.decode(&ids, options);
    let mut bytes = b"before".to_vec();
    tokenizer.decode_into(&ids, options, &mut bytes);
    assert_eq!(String::from_utf8_lossy(&bytes[6..]), text);
    assert_eq!(tokenizer.decode_bytes(&ids, options), bytes[6..]);
    let known: Vec<u32> = ids.into_iter().filter(|&id| tokenizer.contains(id)).collect();
    assert_eq!(tokenizer.decode(&known, options), text);
}

/// The pieces of a text are the text.
pub fn pieces(data: &[u8]) {
    let Some((tokenizer, ids, options)) = decoding(data) else { return };
    parts::check_pieces(tokenizer, &ids, options);
}

/// Whatever the parts, a stream gives the text of the whole. A part ends behind each byte with the high bit.
pub fn stream(data: &[u8]) {
    let Some((tokenizer, ids, options)) = decoding(data) else { return };
    let sizes: Vec<usize> = data[1..].split_inclusive(|byte| byte & 0x80 != 0).map(<[u8]>::len).collect();
    parts::check_stream(tokenizer, &ids, options, &sizes);
}

/// Tokenizers of several kinds: a table, one that joins words, a chain of decoders.
const KINDS: [&str; 4] = [
    LETTERS,
    r#"{"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true},"added_tokens":[{"id":3,
        "content":"<s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}],
        "model":{"type":"BPE","merges":[],"vocab":{"a":0,"\u0120b":1,"\u00c3":2}}}"#,
    r#"{"decoder":{"type":"WordPiece","prefix":"\u0023#","cleanup":true},
        "model":{"type":"WordPiece","unk_token":"a","continuing_subword_prefix":"\u0023#","max_input_chars_per_word":9,"vocab":{"a":0,"\u0023#b":1,".":2}}}"#,
    r#"{"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"a"},"content":"bc"},
        {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]},
        "model":{"type":"BPE","merges":[],"vocab":{"a":0," b":1,"<0xE2>":2,"\u2581c":3}}}"#,
];

static PACKED: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let packed = |json: &&str| Tokenizer::from_json(json.as_bytes()).expect("a tokenizer").to_packed();
    KINDS.iter().map(packed).collect()
});

/// A packed tokenizer with changes, under a hash that makes it one again. The first byte says which, then each three where
/// and what.
pub fn packed(data: &[u8]) {
    let Some((kind, changes)) = data.split_first() else { return };
    let mut packed = PACKED[usize::from(*kind) % PACKED.len()].clone();
    for change in changes.chunks_exact(3) {
        let at = 20 + usize::from(u16::from_le_bytes([change[0], change[1]])) % (packed.len() - 20);
        packed[at] = change[2];
    }
    let Ok(tokenizer) = Tokenizer::from_json(&hashed(&packed)) else { return };
    for skip_special_tokens in [false, true] {
        for ids in IDS {
            let options = DecodeOptions { skip_special_tokens };
            tokenizer.decode(ids, options);
            tokenizer.pieces(ids, options);
            let mut stream = tokenizer.stream(options);
            stream.push(ids);
            stream.finish();
        }
    }
    tokenizer.info();
}

/// A packed form with the hash of its content: eight bytes of magic, four of the format, eight of the hash, the content.
fn hashed(data: &[u8]) -> Vec<u8> {
    let mut packed = data.to_vec();
    if let Some((head, content)) = packed.split_at_mut_checked(20) {
        head[12..].copy_from_slice(&hash(content).to_le_bytes());
    }
    packed
}

/// The checksum of a packed form, as docs/packed.md has it.
fn hash(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| {
        let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^ sum >> 32
    };
    let mut padded = bytes.to_vec();
    padded.resize((bytes.len() / 16 + 1) * 16, 0);
    let mut sums = [bytes.len() as u64, 0];
    for (at, word) in padded.chunks_exact(8).enumerate() {
        sums[at % 2] = mix(sums[at % 2], u64::from_le_bytes(word.try_into().unwrap()));
    }
    mix(sums[0], sums[1])
}
