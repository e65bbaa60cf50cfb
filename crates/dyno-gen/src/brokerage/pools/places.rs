//! Places of addresses.

/// States, in the order of their share of zip codes.
#[rustfmt::skip]
pub(in crate::brokerage) const STATES: [(&str, &str); 50] = [
    ("ME", "Maine"), ("NH", "New Hampshire"), ("VT", "Vermont"), ("MA", "Massachusetts"),
    ("RI", "Rhode Island"), ("CT", "Connecticut"), ("NY", "New York"), ("NJ", "New Jersey"),
    ("PA", "Pennsylvania"), ("DE", "Delaware"), ("MD", "Maryland"), ("VA", "Virginia"),
    ("WV", "West Virginia"), ("NC", "North Carolina"), ("SC", "South Carolina"), ("GA", "Georgia"),
    ("FL", "Florida"), ("AL", "Alabama"), ("TN", "Tennessee"), ("MS", "Mississippi"),
    ("KY", "Kentucky"), ("OH", "Ohio"), ("IN", "Indiana"), ("MI", "Michigan"), ("IA", "Iowa"),
    ("WI", "Wisconsin"), ("MN", "Minnesota"), ("SD", "South Dakota"), ("ND", "North Dakota"),
    ("MT", "Montana"), ("IL", "Illinois"), ("MO", "Missouri"), ("KS", "Kansas"),
    ("NE", "Nebraska"), ("LA", "Louisiana"), ("AR", "Arkansas"), ("OK", "Oklahoma"),
    ("TX", "Texas"), ("CO", "Colorado"), ("WY", "Wyoming"), ("ID", "Idaho"), ("UT", "Utah"),
    ("AZ", "Arizona"), ("NM", "New Mexico"), ("NV", "Nevada"), ("CA", "California"),
    ("HI", "Hawaii"), ("OR", "Oregon"), ("WA", "Washington"), ("AK", "Alaska"),
];

/// Beginnings of towns.
#[rustfmt::skip]
pub(in crate::brokerage) const TOWNS: [&str; 64] = [
    "Oak", "River", "Spring", "Fair", "Green", "Maple", "Mill", "Lake", "Cedar", "Ash", "Bright",
    "Clear", "Elm", "Glen", "Harbor", "High", "Iron", "Kings", "Lark", "Marsh", "North", "Orchard",
    "Pine", "Quarry", "Red", "Sand", "Stone", "Timber", "Union", "Valley", "West", "White",
    "Willow", "Winter", "Wood", "York", "Amber", "Birch", "Cherry", "Deer", "East", "Fox",
    "Granite", "Hazel", "Hill", "Juniper", "Long", "Meadow", "New", "Old", "Park", "Plain", "Rock",
    "Rose", "Salt", "Silver", "Snow", "South", "Summer", "Sun", "Walnut", "Water", "Wheat", "Wind",
];

/// Ends of towns.
#[rustfmt::skip]
pub(in crate::brokerage) const TOWN_ENDS: [&str; 24] = [
    "ville", "ton", "field", "dale", "wood", "brook", "port", "ford", "haven", "mont", "ridge",
    "view", " Falls", " Springs", " City", " Creek", " Grove", " Heights", " Junction", " Point",
    "burg", "bury", "worth", "stead",
];

/// Names of streets.
#[rustfmt::skip]
pub(in crate::brokerage) const STREETS: [&str; 48] = [
    "Main", "Second", "Third", "First", "Oak", "Fourth", "Park", "Fifth", "Pine", "Maple", "Cedar",
    "Elm", "View", "Washington", "Lake", "Hill", "Walnut", "Spring", "North", "Ridge", "Lincoln",
    "Church", "Willow", "Mill", "Sunset", "Railroad", "Jackson", "Cherry", "West", "South", "Center",
    "Highland", "Forest", "Jefferson", "River", "Meadow", "East", "Chestnut", "College", "Prospect",
    "Franklin", "Orchard", "Harbor", "Market", "Union", "Academy", "Canal", "Garden",
];

/// Kinds of streets.
#[rustfmt::skip]
pub(in crate::brokerage) const STREET_KINDS: [&str; 8] =
    ["Street", "Avenue", "Road", "Drive", "Lane", "Boulevard", "Court", "Way"];
