//! Drift as findings: one for each cause in a call.

use super::super::calls::Call;
use super::super::findings::{Context, Finding, Side, count};
use super::{DriftCause, DriftRun, compare, listed_run};
use crate::{Error, ErrorCode};

/// The code of a cause, and what it means in words; none where it is nothing to look at, or found otherwise.
fn told(cause: DriftCause) -> Option<(&'static str, &'static str)> {
    Some(match cause {
        DriftCause::SpecialAsText => ("special_as_text", "a special token is spelled as text"),
        DriftCause::InvalidUtf8 => ("invalid_utf8", "the bytes are no text"),
        DriftCause::Merge => ("drift", "the model cut the text up otherwise than the tokenizer"),
        DriftCause::PreTokenizer => ("drift", "a token spans a place where the tokenizer cuts"),
        DriftCause::AddedTokenWhitespace => ("drift", "an added token takes white space, or is none inside a word"),
        DriftCause::Normalizer => ("drift", "the normalizer makes another text of it"),
        DriftCause::UnknownText => ("drift", "the tokenizer has no token for the text"),
        // The tokenizer's own doing, whoever made the ids; and what `unknown_ids` says.
        DriftCause::Decoder | DriftCause::UnknownId => return None,
    })
}

/// What of a call, from a message on, is encoded to other ids; of that what is not only before its new tokens.
pub(in super::super) fn of_call(
    call: &Call,
    [start, from]: [usize; 2],
    context: &Context<'_>,
) -> Result<Vec<Finding>, Error> {
    let ids = call.ids.get(start..).unwrap_or_default();
    let compared = compare(context.tokenizer, ids, &mut |_, _| {}, |found, given, encoded| {
        let mut findings: Vec<(DriftCause, usize, Finding)> = Vec::new();
        for &(run, cause) in found {
            let tokens = run.ids.map(|at| at + start);
            let Some((mut code, words)) = told(cause).filter(|_| tokens[1].max(tokens[0] + 1) > from) else { continue };
            if cause == DriftCause::InvalidUtf8 && tokens[1] == call.ids.len() {
                // Cut off inside a character.
                code = "drift";
            }
            match findings.iter_mut().find(|(known, _, finding)| *known == cause && finding.code == code) {
                Some((_, runs, _)) => *runs += 1,
                None => {
                    let run = listed_run(given, encoded, run, cause);
                    findings.push((cause, 1, finding(code, words, run, tokens, ids, context)));
                }
            }
        }
        findings
    });
    let findings = match compared {
        Ok(findings) => findings,
        Err(error) if error.code() == ErrorCode::EngineNotAvailable => return Err(error),
        Err(error) => {
            let message = format!("drift could not be looked at: {}", error.message());
            return Ok(vec![Finding::new("drift_unchecked", context.at, None, message)]);
        }
    };
    let several = |(_, runs, mut finding): (DriftCause, usize, Finding)| {
        if runs > 1 {
            finding.message += &format!("; {} more", count(runs - 1, "run"));
        }
        finding
    };
    Ok(findings.into_iter().map(several).collect())
}

fn finding(
    code: &'static str,
    words: &str,
    run: DriftRun,
    tokens: [usize; 2],
    ids: &[u32],
    context: &Context<'_>,
) -> Finding {
    let message = format!("encoding the text gives other ids at token {}: {words}", tokens[0]);
    let mut finding = Finding::new(code, context.at, Some(tokens), message);
    let stands = ids.get(run.tokens[0]..run.tokens[1]).unwrap_or_default().to_vec();
    let encoded = run.encoded_text.unwrap_or_else(|| run.text.clone());
    finding.sides = Some([Side { ids: stands, text: run.text }, Side { ids: run.ids, text: encoded }]);
    finding
}
