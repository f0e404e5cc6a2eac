package demo

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Names of the people one meets in a school today; a few have a short form that they go by.
var forenames = strings.Fields(`
Aaliyah Aaron Abigail Adam Adébáyò Agnieszka Ahmed Aisha Aisling Alexander/Alex Alice Amara Amelia Amira Ana Anaïs
Andrew Anika Antonio Aoife Arjun Arthur Ava Ayesha Beatrice/Bea Benjamin/Ben Björn Blessing Bronwyn Callum Caoimhe
Catherine/Kate Charlotte/Lottie Chiamaka Chloë Christopher/Chris Ciarán Clara Connor Daisy Daniel Darius David Deepa
Delphine Dmitri Edward/Ted Eilidh Elena Elijah Elizabeth/Lizzie Ella Emily Emma Émile Erin Esmé Ethan Eva Evie Farah
Fatima Felix Femi Finlay Florence Francesca Freya Gabriel George Gethin Grace Gurpreet Hamza Hannah Harriet/Hattie
Harry Hassan Helena Henry Hiroshi Hugo Ibrahim Imogen Ingrid Isaac Isabella/Bella Isla Ivan Jack Jacob Jakub James
Jamila Jasmine Jaya Jean-Luc Jessica/Jess João Joel Jonathan/Jon José Joseph/Joe Joshua/Josh Kai Kateryna Katie
Kenji Khadija Kofi Kwame Laila Lars Laura Léa Leo Lily Linh Logan Louis Lucía Lucy Luke Łukasz Mabel Malachi Manon
Margaret/Maggie Maria Marta Mary-Jane Mateo Matilda/Tilly Matthew/Matt Max Maya Megan Mehmet Mei Mia Mohammed Mollie
Muhammad Nadia Naomi Nathan Nia Niamh Nicholas/Nick Nikhil Noah Nour Oisín Oliver/Ollie Olivia Omar Oscar Owain
Parveen Patrick/Paddy Phoebe Poppy Priya Rachel Rafał Rahul Rebecca/Becky Reuben Rhys Rohan Rosa Rosie Ruby Ryan
Sakura Samuel/Sam Sanjay Saoirse Sara Scarlett Sebastian/Seb Seren Seán Shanice Siân Simran Siobhán Søren Sofia
Sophie Stefan Tadeusz Tamsin Tariq Theodore/Theo Thomas/Tom Tobias Tomasz Uma Victoria/Vicky Vihaan Violet
William/Will Xin Yasmin Yusuf Zachary/Zac Zainab Zara Zoë`)

var surnames = []string{"Abdi", "Abdullah", "Adeyemi", "Agarwal", "Ahmed", "Akhtar", "Alexander", "Ali", "Allen",
	"Al-Rashid", "Andersen", "Anderson", "Appiah", "Armstrong", "Ashworth", "Atkinson", "Bailey", "Baker", "Balogun",
	"Banerjee", "Barker", "Barnes", "Begum", "Bell", "Bennett", "Berg", "Bhatt", "Birch", "Blackwood", "Boateng",
	"Bowen", "Boyd", "Bradley", "Brennan", "Brooks", "Brown", "Burton", "Butler", "Byrne", "Campbell", "Carter",
	"Castillo", "Chan", "Chapman", "Chaudhry", "Chen", "Choudhury", "Clarke", "Cohen", "Cole", "Collins", "Cook",
	"Cooper", "Costa", "Cox", "Cunningham", "D'Arcy", "D'Souza", "da Silva", "Davies", "de la Cruz", "Desai", "Diallo",
	"Dixon", "Doherty", "Duffy", "Edwards", "Egbe", "Ellis", "Evans", "Farooq", "Ferguson", "Fernández", "Fischer",
	"Fitzgerald", "Fletcher", "Foster", "Fraser", "Garcia", "Gibson", "Gill", "Gordon", "Graham", "Gray", "Green",
	"Griffiths", "Gupta", "Hall", "Hamilton", "Harris", "Harvey", "Hassan", "Hayes", "Henderson", "Hill", "Holmes",
	"Howells", "Hughes", "Hussain", "Ibrahim", "Iqbal", "Jackson", "Jansen", "Jenkins", "Jiménez", "Johnson", "Jones",
	"Kaur", "Kelly", "Kennedy", "Khan", "Kim", "King", "Kovács", "Kowalska", "Kumar", "Lambert", "Le Fèvre", "Lee",
	"Lewis", "Li", "Liu", "Lloyd", "López", "MacDonald", "Mackenzie", "Malik", "Marshall", "Martin", "Mason",
	"McCarthy", "McGregor", "Mehta", "Mensah", "Miah", "Mitchell", "Moore", "Morgan", "Morris", "Müller", "Murphy",
	"Murray", "Nakamura", "Ndiaye", "Nguyễn", "Novák", "Núñez", "Nwosu", "O'Brien", "O'Connor", "O'Neill",
	"O'Sullivan", "Ó Briain", "Okafor", "Okonkwo", "Olsen", "Osei", "Owen", "Owusu", "Özdemir", "Palmer", "Park",
	"Parker", "Parry", "Patel", "Pereira", "Phillips", "Popescu", "Powell", "Price", "Qureshi", "Rahman", "Reid",
	"Reilly", "Rhodes", "Richards", "Robertson", "Robinson", "Rossi", "Russell", "Ryan", "Sahota", "Şahin", "Sanders",
	"Santos", "Schmidt", "Scott", "Shah", "Sharma", "Shaw", "Shevchenko", "Simpson", "Singh", "Smith", "Smythe-Jones",
	"Sørensen", "Stewart", "Suzuki", "Takahashi", "Tanaka", "Taylor", "Thomas", "Thompson", "Thorne", "Tran",
	"Turner", "van den Berg", "Vasquez", "Vaughan", "Walker", "Wallace", "Walsh", "Wang", "Ward", "Watson", "Webb",
	"West", "White", "Whittaker", "Williams", "Wilson", "Wójcik", "Wong", "Wood", "Wright", "Xu", "Yılmaz", "Young",
	"Yusuf", "Zhang", "Zieliński"}

var titles = []string{"Mr", "Mrs", "Ms", "Miss", "Dr", "Mr", "Ms", "Mx"}

// name draws a forename, the name that the person goes by if it is another, and a surname.
func name(d dice) (forename, knownAs, surname string) {
	forename, knownAs, _ = strings.Cut(pick(d, forenames), "/")
	if knownAs != "" && !d.chance(2) {
		knownAs = ""
	}
	return forename, knownAs, pick(d, surnames)
}

// withoutMarks are the letters that Unicode does not decompose.
var withoutMarks = strings.NewReplacer("ł", "l", "Ł", "L", "ø", "o", "Ø", "O", "ı", "i")

// ascii is a name in the letters a to z and A to Z.
func ascii(name string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, norm.NFD.String(withoutMarks.Replace(name)))
}

// initials returns about three letters, unique in the school.
func initials(forename, surname string, taken map[string]bool) string {
	f, s := strings.ToUpper(ascii(forename)), strings.ToUpper(ascii(surname))
	for _, third := range s[1:] {
		if code := f[:1] + s[:1] + string(third); !taken[code] {
			taken[code] = true
			return code
		}
	}
	for n := 1; ; n++ {
		if code := fmt.Sprintf("%s%s%d", f[:1], s[:1], n); !taken[code] {
			taken[code] = true
			return code
		}
	}
}

// address returns a unique e-mail address in the school's domain, which is a reserved one.
func (s *school) address(forename, surname string) string {
	local := strings.ToLower(ascii(forename) + "." + ascii(surname))
	candidate := local
	for n := 2; s.addresses[candidate]; n++ {
		candidate = fmt.Sprintf("%s%d", local, n)
	}
	s.addresses[candidate] = true
	return candidate + "@" + s.domain
}
