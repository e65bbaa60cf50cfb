//! The grammar of comments: sentences of phrases of words, chosen by weight.

use tpchgen::distribution::{Distribution, Distributions};

use super::lehmer::Lehmer;
use super::words::{Choice, Words};

/// Generates the text of the pool sentence by sentence.
#[derive(Debug)]
pub(super) struct Grammar {
    /// The phrases of a sentence, with one entry per unit of weight.
    sentences: Vec<Vec<Phrase>>,
    /// Indexed by [`Phrase`].
    phrases: [Forms; 4],
    stream: Lehmer,
}

#[derive(Debug, Clone, Copy)]
enum Phrase {
    Noun,
    Verb,
    Preposition,
    Terminator,
}

/// The forms of a phrase, with one entry per unit of weight: the choices for each of its words. A
/// phrase with a single form takes no draw.
type Forms = Vec<Vec<Choice>>;

/// Sentences generated at once.
const BATCH: usize = 256;

impl Grammar {
    /// The TPC-H grammar; its vocabulary goes to `words`.
    pub(super) fn new(distributions: &Distributions, words: &mut Words) -> Self {
        let adverbs = words.add(distributions.adverbs(), " ", "");
        let adjectives = words.add(distributions.adjectives(), " ", "");
        let listed = words.add(distributions.adjectives(), " ", ",");
        let articles = words.add(distributions.articles(), " ", "");
        let nouns = words.add(distributions.nouns(), " ", "");
        let verbs = words.add(distributions.verbs(), " ", "");
        let auxiliaries = words.add(distributions.auxiliaries(), " ", "");
        let prepositions = words.add(distributions.prepositions(), " ", " the");
        let terminators = words.add(distributions.terminators(), "", "");

        let word = |letter: char, in_list: bool| match (letter, in_list) {
            ('A', _) => articles.clone(),
            ('D', _) => adverbs.clone(),
            ('J', true) => listed.clone(),
            ('J', false) => adjectives.clone(),
            ('N', _) => nouns.clone(),
            ('V', _) => verbs.clone(),
            ('X', _) => auxiliaries.clone(),
            _ => unreachable!("the grammar is constant"),
        };
        let forms = |syntax: &Distribution| {
            by_weight(syntax, |text| {
                let next = text.chars().skip(1).chain([' ']);
                let letters = text.chars().zip(next).filter(|(letter, _)| letter.is_alphabetic());
                letters.map(|(letter, next)| word(letter, next == ',')).collect()
            })
        };
        let phrases = [
            forms(distributions.noun_phrase()),
            forms(distributions.verb_phrase()),
            vec![vec![prepositions.clone()]],
            vec![vec![terminators.clone()]],
        ];
        let sentences = by_weight(distributions.grammar(), |text| {
            let mut sentence = Vec::new();
            for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
                match letter {
                    'N' => sentence.push(Phrase::Noun),
                    'V' => sentence.push(Phrase::Verb),
                    'P' => sentence.extend([Phrase::Preposition, Phrase::Noun]),
                    'T' => sentence.push(Phrase::Terminator),
                    _ => unreachable!("the grammar is constant"),
                }
            }
            sentence
        });
        Self { sentences, phrases, stream: Lehmer::new(933_588_178) }
    }

    /// Appends the words of the next sentences.
    pub(super) fn sentences(&mut self, text: &mut Vec<u8>) {
        let stream = &mut self.stream;
        for _ in 0..BATCH {
            for phrase in pick(&self.sentences, stream) {
                let forms = &self.phrases[*phrase as usize];
                let form = if forms.len() == 1 { &forms[0] } else { pick(forms, stream) };
                for word in form {
                    text.push(*pick(word, stream));
                }
            }
        }
    }
}

/// One entry per unit of weight of a distribution, converted by `make`.
fn by_weight<T: Clone>(from: &Distribution, make: impl Fn(&str) -> T) -> Vec<T> {
    let mut entries = Vec::new();
    for (i, value) in from.get_values().iter().enumerate() {
        entries.resize(from.get_weight(i) as usize, make(value));
    }
    entries
}

/// Picks an entry uniformly.
#[inline]
fn pick<'e, T>(entries: &'e [T], stream: &mut Lehmer) -> &'e T {
    &entries[stream.choose(0, entries.len() as u32 - 1) as usize]
}
