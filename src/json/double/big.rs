//! Whole numbers of any size, with the few operations that exact decimals need.

use std::cmp::Ordering;

/// A whole number, 0 or more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Big {
    /// Digits to the base 2^32, the lowest first, the highest not 0.
    digits: Vec<u32>,
}

impl Big {
    pub(crate) fn new(number: u64) -> Big {
        let mut big = Big { digits: vec![number as u32, (number >> 32) as u32] };
        big.trim();
        big
    }

    /// Multiplies by a factor, and adds.
    pub(crate) fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for digit in &mut self.digits {
            carry += u64::from(*digit) * u64::from(factor);
            *digit = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.digits.push(carry as u32);
        }
        self.trim();
    }

    /// Multiplies by a power of ten.
    pub(crate) fn multiply_ten(&mut self, mut exponent: u32) {
        while exponent > 0 {
            let step = exponent.min(9);
            self.multiply_add(10u32.pow(step), 0);
            exponent -= step;
        }
    }

    /// Multiplies by a power of two.
    pub(crate) fn multiply_two(&mut self, exponent: u32) {
        self.multiply_add(1 << (exponent % 32), 0);
        if !self.digits.is_empty() {
            let mut digits = vec![0; exponent as usize / 32];
            digits.extend_from_slice(&self.digits);
            self.digits = digits;
        }
    }

    /// Adds another.
    pub(crate) fn add(&mut self, other: &Big) {
        let mut carry = 0;
        if self.digits.len() < other.digits.len() {
            self.digits.resize(other.digits.len(), 0);
        }
        for (i, digit) in self.digits.iter_mut().enumerate() {
            carry += u64::from(*digit) + u64::from(other.digits.get(i).copied().unwrap_or(0));
            *digit = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.digits.push(carry as u32);
        }
    }

    /// Takes away another that is not greater.
    pub(crate) fn subtract(&mut self, other: &Big) {
        let mut borrow = 0;
        for (i, digit) in self.digits.iter_mut().enumerate() {
            let less = i64::from(*digit) - i64::from(other.digits.get(i).copied().unwrap_or(0)) - borrow;
            *digit = less as u32;
            borrow = i64::from(less < 0);
        }
        self.trim();
    }

    pub(crate) fn compare(&self, other: &Big) -> Ordering {
        let mut order = self.digits.len().cmp(&other.digits.len());
        for (digit, others) in self.digits.iter().rev().zip(other.digits.iter().rev()) {
            order = order.then(digit.cmp(others));
        }
        order
    }

    /// Number of digits to the base 2.
    pub(crate) fn bits(&self) -> u32 {
        let highest = self.digits.last().map_or(0, |digit| 32 - digit.leading_zeros());
        (self.digits.len() as u32).saturating_sub(1) * 32 + highest
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_u128() {
        let of = |number: u128| {
            let mut big = Big::new((number >> 64) as u64);
            big.multiply_two(64);
            big.add(&Big::new(number as u64));
            big
        };
        let mut seed = 1u128;
        for _ in 0..10_000 {
            seed = seed.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
            let (a, b) = (seed >> 40, (seed << 7) >> 60);
            let mut sum = of(a);
            sum.add(&of(b));
            assert_eq!(sum, of(a + b));
            sum.subtract(&of(a));
            assert_eq!(sum, of(b));
            assert_eq!(of(a).compare(&of(b)), a.cmp(&b));
            let mut product = of(a);
            product.multiply_add(b as u32, 7);
            assert_eq!(product, of(a * u128::from(b as u32) + 7));
        }
        let mut ten = Big::new(3);
        ten.multiply_ten(30);
        assert_eq!(ten, of(3 * 10u128.pow(30)));
        let mut none = Big::new(0);
        none.multiply_two(100);
        assert_eq!(none, Big::new(0));
    }
}
