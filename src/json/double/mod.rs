//! Doubles and their decimals, exactly: what the standard library does with tables larger than a format of ours.

pub(crate) mod big;
pub(crate) mod parse;
pub(crate) mod print;
