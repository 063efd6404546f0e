use super::*;

#[test]
fn short_and_long_patterns_are_replaced_alike() {
    let long = "abcabcabcabcabcabd";
    let many = [long, "abc", long, long, &long[..17], "abcabcabcabc", long, "d"].concat();
    for token in ["", "a", "aaa", "ab", "xaab", "▁▁a▁", "é▁", "ab ab ab", "a.b", long, &many, &"a".repeat(99)]
    {
        let sames = "a".repeat(20);
        let end = format!("{sames}b");
        for pattern in ["", "a", "aa", "ab", "▁", "▁▁", "é", "é▁", ".", long, &long[..17], &sames, &end] {
            let mut ours = String::new();
            replace(token, pattern, "$1", &mut ours);
            assert_eq!(ours, token.replace(pattern, "$1"), "{token:?} {pattern:?}");
        }
    }
}

#[test]
fn a_long_pattern_is_found_in_linear_time() {
    let (token, pattern) = ("a".repeat(4 << 20), "a".repeat(2 << 20) + "b");
    let mut ours = String::new();
    replace(&token, &pattern, "", &mut ours);
    assert_eq!(ours, token);
}

#[test]
fn the_alphabet_covers_each_byte_once() {
    let mut bytes: Vec<u8> = (0..0x800).filter_map(alphabet_byte).collect();
    bytes.sort_unstable();
    assert!(bytes.into_iter().eq(0..=255));
    let some = [0x120, 0x10a, 0x121, 0x142, 0x143, 0xe9, 0x20, 0x144].map(alphabet_byte);
    assert_eq!(some, [Some(0x20), Some(0x0a), Some(0x7f), Some(0xa0), Some(0xad), Some(0xe9), None, None]);
}
