//! Decisions that are read from bytes, so that a fuzzer which changes bytes changes decisions.

/// What is left of the bytes. Where they end every choice is the first one, so that bytes which are
/// too few mean something too.
#[derive(Clone, Debug)]
pub struct Choices<'d>(&'d [u8]);

impl<'d> Choices<'d> {
    /// Begins with all of them.
    #[must_use]
    pub const fn new(data: &'d [u8]) -> Self {
        Self(data)
    }

    /// A number below `bound`, which is at most 65,536.
    pub fn below(&mut self, bound: usize) -> usize {
        let number = match bound {
            0..=256 => usize::from(self.byte()),
            _ => usize::from(self.byte()) << 8 | usize::from(self.byte()),
        };
        number % bound.max(1)
    }

    /// One of several.
    pub fn of<T: Copy>(&mut self, several: &[T]) -> T {
        several[self.below(several.len())]
    }

    /// One time in `times`; never where the bytes have ended.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    /// At most so many bytes as they stand.
    pub fn bytes(&mut self, most: usize) -> &'d [u8] {
        let length = self.below(most + 1).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    /// All that are left.
    #[must_use]
    pub const fn rest(self) -> &'d [u8] {
        self.0
    }

    /// Changes a text a little, or not at all.
    pub fn damage(&mut self, text: &mut Vec<u8>) {
        for _ in 0..self.below(4) {
            let at = self.below(text.len() + 1);
            match self.below(4) {
                0 if at < text.len() => text[at] ^= 1 << self.below(8),
                1 if at < text.len() => drop(text.remove(at)),
                2 => text.truncate(at),
                _ => text.insert(at, self.byte()),
            }
        }
    }

    fn byte(&mut self) -> u8 {
        match self.0 {
            [] => 0,
            [first, rest @ ..] => {
                self.0 = rest;
                *first
            }
        }
    }
}
