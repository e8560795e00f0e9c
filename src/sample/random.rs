//! Chance that is the same on every machine and for ever.

/// `SplitMix64`: the seed is the state, so that each seed is a sequence of its own. Its constants are
/// part of what `--seed` promises.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(end);
        u64::try_from(wide >> 64).unwrap_or_default()
    }

    /// An index of a list of that length.
    pub(super) fn index(&mut self, length: usize) -> usize {
        let end = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(end)).unwrap_or_default()
    }

    /// True once in so many times.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// Cards that are dealt in an order of chance, each once before any comes again: whoever draws as
/// often as there are cards has seen them all, whatever the seed.
#[derive(Clone, Debug)]
pub(super) struct Deck<T: 'static> {
    cards: &'static [T],
    left: Vec<T>,
}

impl<T: Clone> Deck<T> {
    /// `cards` is not empty.
    pub(super) fn new(cards: &'static [T]) -> Self {
        Self {
            cards,
            left: Vec::new(),
        }
    }

    pub(super) fn deal(&mut self, random: &mut Random) -> T {
        if self.left.is_empty() {
            self.left.extend_from_slice(self.cards);
        }
        let at = random.index(self.left.len());
        self.left.swap_remove(at)
    }
}

/// One list from several: each keeps its order, and they begin in the order in which they are given.
/// `stick` in `stick + 1` items are followed by the next of the same list.
pub(super) fn braid<T>(random: &mut Random, lists: Vec<Vec<T>>, stick: u64) -> Vec<T> {
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    let mut waiting = lists.into_iter().map(Vec::into_iter);
    let mut begun: Vec<std::vec::IntoIter<T>> = Vec::new();
    let mut at = 0;
    loop {
        begun.retain(|list| !list.as_slice().is_empty());
        if begun.len() < 3 && (begun.is_empty() || random.once_in(stick + 1)) {
            if let Some(list) = waiting.next() {
                begun.push(list);
                at = begun.len() - 1;
            } else if begun.is_empty() {
                return all;
            }
        } else if random.once_in(stick + 1) {
            at = random.index(begun.len());
        }
        at = at.min(begun.len() - 1);
        all.extend(begun[at].next());
    }
}

#[cfg(test)]
mod tests {
    use super::{Deck, Random, braid};

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new(0);
        assert_eq!(random.next(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(random.next(), 0x6E78_9E6A_A1B9_65F4);
        assert_eq!(Random::new(7).below(0), 0);
        assert!((0..100).all(|seed| Random::new(seed).below(3) < 3));
    }

    #[test]
    fn a_deck_deals_every_card_before_it_begins_again() {
        let mut random = Random::new(1);
        let mut deck = Deck::new(&[1, 2, 3, 4]);
        for _ in 0..3 {
            let mut hand: Vec<i32> = (0..4).map(|_| deck.deal(&mut random)).collect();
            hand.sort_unstable();
            assert_eq!(hand, [1, 2, 3, 4]);
        }
    }

    #[test]
    fn braided_lists_keep_their_orders_and_begin_in_turn() {
        for seed in 0..200 {
            let lists: Vec<Vec<(usize, usize)>> = (0..5)
                .map(|list| (0..=list).map(|item| (list, item)).collect())
                .collect();
            let all = braid(&mut Random::new(seed), lists, 2);
            assert_eq!(all.len(), 15);
            let begins: Vec<usize> = all
                .iter()
                .filter(|(_, item)| *item == 0)
                .map(|(list, _)| *list)
                .collect();
            assert_eq!(begins, [0, 1, 2, 3, 4]);
            for list in 0..5 {
                let items = all
                    .iter()
                    .filter(|(of, _)| *of == list)
                    .map(|(_, item)| *item);
                assert!(items.eq(0..=list));
            }
        }
    }
}
