//! Which tokenizer decodes which span.

use std::sync::Arc;

use super::Tokenizer;

/// Tokenizers by pattern of the model name: the first pattern that matches decides. `*` stands for any run of
/// characters, `?` for one; case counts. The pattern `*` alone also takes spans that name no model.
#[derive(Debug, Clone, Default)]
pub struct TokenizerSet {
    entries: Vec<(String, Arc<Tokenizer>)>,
}

impl TokenizerSet {
    /// A set without tokenizers.
    pub fn new() -> TokenizerSet {
        TokenizerSet::default()
    }

    /// Adds a tokenizer after those that are there.
    pub fn add(&mut self, pattern: impl Into<String>, tokenizer: Arc<Tokenizer>) {
        self.entries.push((pattern.into(), tokenizer));
    }

    /// The tokenizer of a pattern.
    #[cfg(feature = "rollouts")]
    pub(crate) fn get(&self, pattern: &str) -> Option<&Tokenizer> {
        self.entries.iter().find(|(known, _)| known == pattern).map(|(_, tokenizer)| &**tokenizer)
    }

    /// The tokenizer for a model, and its pattern.
    pub fn find(&self, model: Option<&str>) -> Option<(&str, &Tokenizer)> {
        let matches = |pattern: &str| pattern == "*" || model.is_some_and(|model| glob(pattern, model));
        self.entries
            .iter()
            .find(|(pattern, _)| matches(pattern))
            .map(|(pattern, tokenizer)| (pattern.as_str(), &**tokenizer))
    }
}

impl From<Tokenizer> for TokenizerSet {
    /// One tokenizer for all spans.
    fn from(tokenizer: Tokenizer) -> TokenizerSet {
        TokenizerSet { entries: vec![("*".into(), Arc::new(tokenizer))] }
    }
}

/// Whether the whole text fits the pattern. Goes back to the last `*` only, so the time is bounded by the product
/// of the lengths.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    // The bytes of the character at a place, which is the first of its bytes.
    let width = |at: usize| text.iter().skip(at + 1).take_while(|&&byte| byte & 0xc0 == 0x80).count() + 1;
    let (mut p, mut t) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => {
                last_star = Some((p, t));
                p += 1;
            }
            Some(b'?') => (p, t) = (p + 1, t + width(t)),
            Some(wanted) if wanted == byte => (p, t) = (p + 1, t + 1),
            _ => match last_star {
                Some((star, taken)) => {
                    let taken = taken + width(taken);
                    last_star = Some((star, taken));
                    (p, t) = (star + 1, taken);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn patterns() {
        for (pattern, text, fits) in [
            ("Qwen/*", "Qwen/Qwen3-8B", true),
            ("Qwen/*", "qwen/Qwen3-8B", false),
            ("*", "", true),
            ("*Qwen*8B", "Qwen/Qwen3-8B", true),
            ("*Qwen*8B", "Qwen/Qwen3-8B-Base", false),
            ("Llama-3.?", "Llama-3.1", true),
            ("Llama-3.?", "Llama-3.", false),
            ("", "x", false),
            ("?", "é", true),
            ("??", "é", false),
            ("*?é", "日本é", true),
            ("日*?", "日", false),
            ("a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
        }
    }
}
