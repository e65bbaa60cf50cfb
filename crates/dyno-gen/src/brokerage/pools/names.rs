//! Names of people, the most frequent first.

/// Given names of women.
#[rustfmt::skip]
pub(in crate::brokerage) const WOMEN: [&str; 64] = [
    "Mary", "Jennifer", "Linda", "Patricia", "Elizabeth", "Susan", "Jessica", "Sarah", "Karen",
    "Lisa", "Nancy", "Sandra", "Ashley", "Emily", "Kimberly", "Margaret", "Donna", "Michelle",
    "Carol", "Amanda", "Melissa", "Deborah", "Stephanie", "Rebecca", "Sharon", "Laura", "Cynthia",
    "Amy", "Kathleen", "Angela", "Anna", "Ruth", "Brenda", "Nicole", "Katherine", "Emma",
    "Samantha", "Christine", "Rachel", "Carolyn", "Janet", "Maria", "Olivia", "Heather", "Helen",
    "Diane", "Julie", "Joyce", "Victoria", "Lauren", "Grace", "Alice", "Sofia", "Priya", "Mei",
    "Fatima", "Ingrid", "Yuki", "Leila", "Noor", "Ines", "Freya", "Zofia", "Amara",
];

/// Given names of men.
#[rustfmt::skip]
pub(in crate::brokerage) const MEN: [&str; 64] = [
    "James", "Robert", "John", "Michael", "David", "William", "Richard", "Joseph", "Thomas",
    "Charles", "Christopher", "Daniel", "Matthew", "Anthony", "Mark", "Steven", "Paul", "Andrew",
    "Joshua", "Kevin", "Brian", "George", "Timothy", "Ronald", "Jason", "Edward", "Jeffrey", "Ryan",
    "Jacob", "Gary", "Nicholas", "Eric", "Jonathan", "Stephen", "Larry", "Justin", "Scott",
    "Brandon", "Benjamin", "Samuel", "Gregory", "Frank", "Patrick", "Jack", "Dennis", "Tyler",
    "Aaron", "Jose", "Adam", "Henry", "Nathan", "Peter", "Carlos", "Ahmed", "Wei", "Rajesh",
    "Hiroshi", "Lars", "Mateusz", "Omar", "Kofi", "Diego", "Luca", "Anders",
];

/// Family names.
#[rustfmt::skip]
pub(in crate::brokerage) const FAMILIES: [&str; 160] = [
    "Smith", "Johnson", "Williams", "Brown", "Jones", "Garcia", "Miller", "Davis", "Rodriguez",
    "Martinez", "Hernandez", "Lopez", "Gonzalez", "Wilson", "Anderson", "Thomas", "Taylor", "Moore",
    "Jackson", "Martin", "Lee", "Perez", "Thompson", "White", "Harris", "Sanchez", "Clark",
    "Ramirez", "Lewis", "Robinson", "Walker", "Young", "Allen", "King", "Wright", "Scott", "Torres",
    "Nguyen", "Hill", "Flores", "Green", "Adams", "Nelson", "Baker", "Hall", "Rivera", "Campbell",
    "Mitchell", "Carter", "Roberts", "Gomez", "Phillips", "Evans", "Turner", "Diaz", "Parker",
    "Cruz", "Edwards", "Collins", "Reyes", "Stewart", "Morris", "Morales", "Murphy", "Cook",
    "Rogers", "Gutierrez", "Ortiz", "Morgan", "Cooper", "Peterson", "Bailey", "Reed", "Kelly",
    "Howard", "Ramos", "Kim", "Cox", "Ward", "Richardson", "Watson", "Brooks", "Chavez", "Wood",
    "Bennett", "Gray", "Mendoza", "Ruiz", "Hughes", "Price", "Alvarez", "Castillo", "Sanders",
    "Patel", "Myers", "Long", "Ross", "Foster", "Jimenez", "Powell", "Jenkins", "Perry", "Russell",
    "Sullivan", "Bell", "Coleman", "Butler", "Henderson", "Barnes", "Fisher", "Vasquez", "Simmons",
    "Graham", "Murray", "Ford", "Castro", "Marshall", "Owens", "Harrison", "Fernandez", "McDonald",
    "Woods", "Kennedy", "Wells", "Vargas", "Chen", "Freeman", "Webb", "Tucker", "Guzman", "Burns",
    "Crawford", "Olson", "Simpson", "Porter", "Hunter", "Gordon", "Mendez", "Silva", "Shaw",
    "Snyder", "Mason", "Dixon", "Hunt", "Hicks", "Holmes", "Palmer", "Wagner", "Black", "Stone",
    "Tanaka", "Schmidt", "Kowalski", "Rossi", "Haddad", "Okafor", "Lindqvist", "Novak", "Iyer",
    "Dubois",
];

/// Domains of mail addresses.
#[rustfmt::skip]
pub(in crate::brokerage) const MAIL: [&str; 6] = [
    "mail.example.com", "inbox.example.com", "post.example.net", "home.example.org",
    "office.example.com", "web.example.net",
];

/// Purposes of accounts.
#[rustfmt::skip]
pub(in crate::brokerage) const ACCOUNTS: [&str; 10] = [
    "Investment Account", "Retirement Account", "Joint Account", "Savings Plan", "College Fund",
    "House Fund", "Emergency Fund", "Trust Account", "Vacation Fund", "Business Account",
];
