//! Sectors, industries and names of companies.

/// Sectors: identifier and name.
#[rustfmt::skip]
pub(in crate::brokerage) const SECTORS: [(&str, &str); 12] = [
    ("EN", "Energy"), ("MT", "Materials"), ("IN", "Industrial Goods"), ("CG", "Consumer Goods"),
    ("RT", "Retail"), ("HC", "Health Care"), ("FS", "Financial Services"), ("TC", "Technology"),
    ("TL", "Telecommunications"), ("UT", "Utilities"), ("TR", "Transportation"), ("MD", "Media"),
];

/// Industries: the index of the sector, the name, and the word for it in names of companies.
#[rustfmt::skip]
pub(in crate::brokerage) const INDUSTRIES: [(u8, &str, &str); 102] = [
    (0, "Oil and Gas Production", "Petroleum"), (0, "Oil Refining", "Refining"),
    (0, "Drilling Services", "Drilling"), (0, "Pipelines", "Pipelines"),
    (0, "Coal Mining", "Coal"), (0, "Solar Power Equipment", "Solar"),
    (0, "Wind Power Equipment", "Windpower"), (0, "Biofuels", "Biofuels"),
    (0, "Energy Storage", "Batteries"),
    (1, "Steel", "Steel"), (1, "Aluminum", "Aluminum"), (1, "Gold and Silver Mining", "Mining"),
    (1, "Specialty Chemicals", "Chemicals"), (1, "Fertilizers", "Fertilizers"),
    (1, "Paper Products", "Paper"), (1, "Packaging", "Packaging"), (1, "Forest Products", "Timber"),
    (1, "Cement and Aggregates", "Cement"),
    (2, "Aerospace and Defense", "Aerospace"), (2, "Machine Tools", "Tooling"),
    (2, "Farm Machinery", "Tractors"), (2, "Electrical Equipment", "Electric"),
    (2, "Building Construction", "Builders"), (2, "Engineering Services", "Engineering"),
    (2, "Industrial Automation", "Robotics"), (2, "Pumps and Valves", "Hydraulics"),
    (2, "Security Equipment", "Safeguard"),
    (3, "Breweries", "Brewing"), (3, "Soft Drinks", "Beverages"), (3, "Packaged Foods", "Foods"),
    (3, "Tobacco", "Tobacco"), (3, "Apparel", "Apparel"), (3, "Footwear", "Footwear"),
    (3, "Furniture", "Furnishings"), (3, "Toys and Games", "Toys"),
    (3, "Personal Care", "Cosmetics"),
    (4, "Department Stores", "Stores"), (4, "Grocery Stores", "Grocers"),
    (4, "Home Improvement Stores", "Hardware"), (4, "Online Retail", "Marketplace"),
    (4, "Restaurants", "Restaurants"), (4, "Drug Stores", "Pharmacies"),
    (4, "Car Dealers", "Motors"), (4, "Book Stores", "Books"), (4, "Jewelry Stores", "Jewelers"),
    (5, "Pharmaceuticals", "Pharma"), (5, "Biotechnology", "Biotech"),
    (5, "Medical Devices", "Medical"), (5, "Hospitals", "Hospitals"),
    (5, "Diagnostic Laboratories", "Diagnostics"), (5, "Dental Supplies", "Dental"),
    (5, "Health Insurance", "Healthplan"), (5, "Nursing Homes", "Care"),
    (5, "Veterinary Products", "Animal Health"),
    (6, "Regional Banks", "Bancorp"), (6, "Investment Banks", "Securities"),
    (6, "Life Insurance", "Life"), (6, "Property Insurance", "Casualty"),
    (6, "Asset Management", "Capital"), (6, "Consumer Credit", "Credit"),
    (6, "Mortgage Finance", "Mortgage"), (6, "Real Estate Trusts", "Realty"),
    (7, "Application Software", "Software"), (7, "System Software", "Systems"),
    (7, "Semiconductors", "Semiconductor"), (7, "Computer Hardware", "Computers"),
    (7, "Data Storage", "Storage"), (7, "Network Equipment", "Networks"),
    (7, "Internet Services", "Online"), (7, "Information Services", "Data"),
    (8, "Mobile Networks", "Wireless"), (8, "Fixed Networks", "Telephone"),
    (8, "Cable Networks", "Cable"), (8, "Satellite Services", "Satellite"),
    (8, "Fiber Networks", "Fiber"), (8, "Telecom Equipment", "Telecom"),
    (8, "Paging and Messaging", "Messaging"), (8, "Tower Operators", "Towers"),
    (9, "Electric Utilities", "Power"), (9, "Gas Utilities", "Gas"),
    (9, "Water Utilities", "Water"), (9, "Nuclear Power", "Nuclear"),
    (9, "Hydroelectric Power", "Hydro"), (9, "Waste Management", "Recycling"),
    (9, "District Heating", "Heating"), (9, "Grid Operators", "Transmission"),
    (10, "Airlines", "Airlines"), (10, "Railroads", "Railway"), (10, "Trucking", "Freight"),
    (10, "Shipping", "Shipping"), (10, "Logistics", "Logistics"), (10, "Bus Lines", "Transit"),
    (10, "Aircraft Leasing", "Leasing"), (10, "Ports and Airports", "Terminals"),
    (11, "Newspapers", "Press"), (11, "Television", "Broadcasting"), (11, "Radio", "Radio"),
    (11, "Film Studios", "Pictures"), (11, "Music", "Music"), (11, "Advertising", "Advertising"),
    (11, "Publishing", "Publishing"), (11, "Video Games", "Interactive"),
];

/// First words of names of companies.
#[rustfmt::skip]
pub(in crate::brokerage) const FIRST: [&str; 160] = [
    "Alder", "Amber", "Anchor", "Apex", "Arbor", "Argent", "Aspen", "Atlas", "Aurora", "Badger",
    "Banner", "Barton", "Beacon", "Bedford", "Bellwether", "Birch", "Blackstone Hill", "Blue Ridge",
    "Boulder", "Bramble", "Bridgeport", "Bristol", "Brook", "Calder", "Cambria", "Canyon",
    "Capstan", "Cardinal", "Carlton", "Cascade", "Cedar", "Centaur", "Chandler", "Chapel",
    "Clearwater", "Cobalt", "Compass", "Concord", "Copper", "Coral", "Corner", "Crescent", "Crest",
    "Crown", "Cypress", "Dalton", "Delmar", "Denham", "Dover", "Drake", "Eagle Rock", "Eastgate",
    "Echo", "Elder", "Elmwood", "Ember", "Emerald", "Evergreen", "Fairfax", "Falcon", "Fenwick",
    "Fern", "Fielding", "Flint", "Forge", "Fremont", "Frontier", "Garnet", "Gateway", "Glacier",
    "Glenmore", "Golden", "Granite", "Grove", "Halcyon", "Hampton", "Harbor", "Harrier", "Hartwell",
    "Haven", "Hawthorn", "Heron", "Hickory", "Highland", "Horizon", "Hudson Bay", "Indigo", "Ivory",
    "Jasper", "Juniper", "Keystone Park", "Kingfisher", "Kirkwood", "Lakeside", "Lantern", "Laurel",
    "Legend", "Liberty Hall", "Linden", "Lodestar", "Lumen", "Magnolia", "Mariner", "Marlow",
    "Meridian", "Merit", "Mesa", "Midland", "Milestone", "Mistral", "Monarch", "Montrose",
    "Mulberry", "Newbury", "Noble", "Northwind", "Oakmont", "Obsidian", "Olive", "Onyx", "Orchard",
    "Orion", "Osprey", "Pacific Crest", "Palisade", "Paragon", "Patriot", "Pebble", "Pembroke",
    "Peregrine", "Pilot", "Pinnacle", "Pioneer", "Polaris", "Prairie", "Quarry", "Quill", "Rampart",
    "Raven", "Redwood", "Regent", "Ridgeline", "Riverside", "Rowan", "Sable", "Saffron",
    "Sagebrush", "Sentinel", "Sequoia", "Sierra", "Silverlake", "Sparrow", "Sterling", "Summit",
    "Tamarack", "Thistle", "Trident", "Vanguard Point", "Vesper", "Westbrook",
];

/// Last words of names of companies.
#[rustfmt::skip]
pub(in crate::brokerage) const LAST: [&str; 8] =
    ["Inc.", "Corp.", "Group", "Holdings", "Company", "Ltd.", "Partners", "International"];

/// Ratings of credit.
#[rustfmt::skip]
pub(in crate::brokerage) const RATINGS: [&str; 10] =
    ["AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BB"];
