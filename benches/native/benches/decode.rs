//! Decoding by the crate and by its peers in Rust: the ids and sizes of `benches/decode/inputs.py`, a String of each list.
//!
//!     BENCH_TOKENIZERS=qwen2_5,gemma3 cargo bench --locked --manifest-path benches/native/Cargo.toml -- [FILTER]
//!
//! Criterion's groups are `TOKENIZER,CORPUS,SIZE`. A line `differs: GROUP/PEER` says who gives another text than the crate
//! `tokenizers`; one is timed all the same.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{Criterion, SamplingMode};
use kitoken::Kitoken;
use serde::Deserialize;

/// Where ids and tokenizers are, from the root of the repository.
const INPUTS: &str = ".cache/benches";
const TOKENIZERS: &str = ".cache/tokenizers";

/// A size of a corpus: how many ids a list has, and where the lists start.
#[derive(Deserialize)]
struct Size {
    name: String,
    ids: usize,
    batch: bool,
    starts: Vec<usize>,
}

/// A loaded peer: the text of ids.
type Decode = Box<dyn Fn(&[u32]) -> String>;

fn ours(json: &[u8]) -> Decode {
    let tokenizer = token2text::Tokenizer::from_json(json).expect("token2text loads it");
    Box::new(move |ids| tokenizer.decode(ids, token2text::DecodeOptions::default()))
}

fn reference(json: &[u8]) -> Decode {
    let tokenizer = tokenizers::Tokenizer::from_bytes(json).expect("tokenizers loads it");
    Box::new(move |ids| tokenizer.decode(ids, false).expect("tokenizers decodes"))
}

/// It gives bytes, which are cut in the midst of characters where the ids are.
fn kitoken(json: &[u8]) -> Decode {
    let tokenizer = Kitoken::from_tokenizers_slice(json).expect("kitoken loads it");
    Box::new(move |ids| {
        let bytes = tokenizer.decode(ids, true).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    })
}

const REFERENCE: usize = 1;
const PEERS: [(&str, fn(&[u8]) -> Decode); 3] = [("token2text", ours), ("tokenizers", reference), ("kitoken", kitoken)];

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(30))
        .measurement_time(Duration::from_millis(100))
        .nresamples(1001)
        .configure_from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let keys = std::env::var("BENCH_TOKENIZERS").unwrap_or_else(|_| "qwen2_5".to_owned());
    for key in keys.split(',') {
        let json = read(&root.join(TOKENIZERS).join(key).join("tokenizer.json"));
        let peers = PEERS.map(|(name, load)| (name, load(&json)));
        let manifest = read(&root.join(INPUTS).join(format!("{key}.json")));
        let corpora: BTreeMap<String, Vec<Size>> = serde_json::from_slice(&manifest).expect("a manifest of inputs.py");
        for (corpus, sizes) in corpora {
            let ids = words(&read(&root.join(INPUTS).join(format!("{key}-{corpus}.u32"))));
            for size in sizes {
                let lists: Vec<&[u32]> = size.starts.iter().map(|start| &ids[*start..start + size.ids]).collect();
                race(&mut criterion, &format!("{key},{corpus},{}", size.name), &peers, &lists, size.batch);
            }
        }
    }
    criterion.final_summary();
}

/// One after the other on the same lists: a list in each call, or of a batch all of them.
fn race(criterion: &mut Criterion, name: &str, peers: &[(&str, Decode)], lists: &[&[u32]], is_batch: bool) {
    let texts = |decode: &Decode| lists.iter().map(|ids| decode(ids)).collect::<Vec<_>>();
    let right = texts(&peers[REFERENCE].1);
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat);
    for (peer, decode) in peers {
        if texts(decode) != right {
            println!("differs: {name}/{peer}");
        }
        let mut turns = lists.iter().cycle();
        group.bench_function(*peer, |bencher| {
            if is_batch {
                bencher.iter(|| lists.iter().map(|ids| black_box(decode(ids)).len()).sum::<usize>());
            } else {
                bencher.iter(|| turns.next().map(|ids| decode(ids)));
            }
        });
    }
    group.finish();
}

/// Of inputs that `node benches/decode.mjs` makes.
fn read(path: &PathBuf) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
