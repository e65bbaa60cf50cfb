//! Parts of sentences in news, and of descriptions of companies.

/// Who reports.
#[rustfmt::skip]
pub(in crate::brokerage) const SOURCES: [&str; 8] = [
    "Market Ledger", "Daily Ticker", "Bourse Review", "Capital Post", "Trade Journal",
    "Harbor Wire", "Investor Courier", "Evening Quote",
];

/// What a company did. A space and an object follow.
#[rustfmt::skip]
pub(in crate::brokerage) const VERBS: [&str; 24] = [
    "announced", "delayed", "completed", "expanded", "reviewed", "confirmed", "postponed",
    "presented", "approved", "increased", "cut", "sold", "acquired", "opened", "closed",
    "renewed", "won", "lost", "financed", "outsourced", "restructured", "doubled", "tested",
    "launched",
];

/// What it was done to.
#[rustfmt::skip]
pub(in crate::brokerage) const OBJECTS: [&str; 32] = [
    "its quarterly dividend", "a new factory", "the merger with a smaller rival",
    "a supply contract", "its credit line", "the annual forecast", "a research program",
    "a share buyback", "its pension plan", "two regional offices", "a patent license",
    "the sale of a subsidiary", "an order from the government", "its distribution network",
    "a joint venture", "the search for a chief executive", "a product recall", "its bond issue",
    "a customer service center", "the upgrade of its data center", "its marketing budget",
    "a long-term lease", "the integration of its suppliers", "an employee stock plan",
    "a plant closure", "its export business", "a pilot project", "the appeal of a court ruling",
    "a training program", "its inventory", "a price increase", "the switch to a new auditor",
];

/// How or when.
#[rustfmt::skip]
pub(in crate::brokerage) const CIRCUMSTANCES: [&str; 24] = [
    "after a strong quarter", "despite weak demand", "before the annual meeting",
    "as costs rose", "as competitors lowered prices", "to the surprise of analysts",
    "with support from lenders", "ahead of schedule", "after months of talks",
    "for the second time this year", "under pressure from shareholders",
    "in response to new rules", "as interest rates fell", "while sales abroad grew",
    "at a lower cost than planned", "in its largest market", "without giving a reason",
    "to free up cash", "as its chairman had promised", "because of a shortage of parts",
    "with immediate effect", "over the next two years", "in three states",
    "as the dollar weakened",
];

/// Whole sentences.
#[rustfmt::skip]
pub(in crate::brokerage) const REMARKS: [&str; 16] = [
    "Shares changed little in early trading.", "Analysts had expected the step.",
    "A spokesperson declined to comment.", "Trading volume was above average.",
    "The board will vote on it next month.", "Investors reacted with caution.",
    "Details will follow with the next report.", "The market opened higher.",
    "Two brokers raised their price targets.", "Margins should improve by the end of the year.",
    "The union asked for talks.", "Regulators have yet to approve it.",
    "The effect on earnings is small.", "Suppliers were informed in advance.",
    "Several funds increased their holdings.", "The stock is up since January.",
];
