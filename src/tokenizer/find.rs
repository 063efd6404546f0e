//! Tokens by their text.

use super::{Tokenizer, Vocabulary};

impl Tokenizer {
    /// For each of some texts the id of the token that is this text, if there is one; in one pass over the vocabulary.
    ///
    /// Of several tokens with one text a special one is taken, and else the one with the largest id: added tokens stand
    /// behind those that were learned.
    pub(crate) fn find_tokens(&self, wanted: &[&str]) -> Vec<Option<u32>> {
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_unstable_by_key(|&at| wanted.get(at));
        // Most tokens begin as none of the texts does, or are longer.
        let (mut begins, mut longest) = ([false; 256], 0);
        for text in wanted {
            let first = text.as_bytes().first().copied().unwrap_or_default();
            if let Some(begins) = begins.get_mut(usize::from(first)) {
                *begins = true;
            }
            longest = longest.max(text.len());
        }
        let mut found = vec![None; wanted.len()];
        let mut take = |id: u32, form: &[u8]| {
            let first = form.first().copied().unwrap_or_default();
            if form.len() > longest || !begins.get(usize::from(first)).is_some_and(|begins| *begins) {
                return;
            }
            let text = |&at: &usize| wanted.get(at).map_or(&[][..], |text| text.as_bytes());
            let first = order.partition_point(|at| text(at) < form);
            for at in order.iter().skip(first).take_while(|at| text(at) == form) {
                if let Some(found) = found.get_mut(*at) {
                    *found = Some(id);
                }
            }
        };
        match &self.vocabulary {
            Vocabulary::Table(table) => {
                for (at, &slot) in table.slots.iter().enumerate() {
                    let id = table.far.get(at.wrapping_sub(table.near)).copied().unwrap_or(at as u32);
                    take(id, table.form(slot));
                }
            }
            Vocabulary::Chain(chain) => {
                for word in &chain.words.list {
                    take(word.id, chain.words.bytes(*word));
                }
            }
        }
        for (id, content) in &self.info.special_tokens {
            take(*id, content.as_bytes());
        }
        found
    }
}
