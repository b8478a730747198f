"""Words and sentence frames from which the built-in reviews are made."""


def _words(text):
    return tuple(text.split())


# Opinion words that mean the same whatever they speak of, the usual ones first.
CLEAR = {
    "good": _words("""
        great good nice excellent wonderful perfect lovely beautiful fantastic
        superb brilliant charming delightful impressive amazing outstanding pleasant
        splendid clever fine remarkable enjoyable flawless satisfying solid reliable
        marvellous stunning terrific worthwhile first-rate admirable thoughtful
        refreshing convincing elegant top-notch memorable magnificent graceful
    """),
    "bad": _words("""
        bad poor terrible awful disappointing boring useless horrible weak ugly
        annoying mediocre sloppy dreadful cheapish clumsy pathetic lousy tiresome
        careless dull miserable shoddy pointless ridiculous unbearable inferior
        tedious hopeless frustrating atrocious unpleasant faulty second-rate tasteless
        regrettable abysmal laughable half-baked wretched
    """),
}

# Domain, then its aspects with the words that praise (+) or blame (-) just that
# aspect. Every one of these words praises one thing and blames another.
_DOMAINS = """
books
    plot + unpredictable dark simple fast strange - predictable thin slow heavy long
    style + light simple sharp quiet dry - heavy cold flat thick hard
    ending + sudden sweet unpredictable strange - predictable soft short cold
    heroine + sharp strange loud quiet - flat cold soft predictable
    binding + thick heavy hard - thin soft cheap
    print + big sharp dark - small light thin
films
    story + dark unpredictable strange fast - predictable long slow thin sweet
    villain + cold dark quiet unpredictable - soft loud flat sweet
    soundtrack + loud strange soft - quiet cheap flat
    lighting + soft dark - flat hard cold bright
    ending + sudden quiet dark - sweet predictable long fast
    ticket + cheap small - big long
kitchen
    knife + sharp light thin - heavy short soft
    kettle + quiet fast light big - loud slow hot small
    handle + thick soft cold long - thin hot hard short sharp
    pan + heavy flat thick big - light thin small
    motor + quiet fast predictable - loud slow hot unpredictable
    price + small - big
phones
    battery + long big heavy cold - short small hot unpredictable
    screen + bright big sharp flat - dark small dry
    case + thin light hard small - thick heavy soft hot
    speaker + loud big sharp - quiet flat thin
    menu + simple fast predictable - slow long strange hard
    cable + long soft thick - short hard thin
hotels
    room + quiet big bright dark - small loud hot cold
    bed + soft big hard - short small thin
    breakfast + slow long hot sweet big - cold dry small simple
    staff + fast quiet sweet - slow loud cold strange
    pool + long hot quiet - cold small loud
    bill + small short - big long strange
everything
    design + simple light bright soft dark - heavy flat strange loud
    size + big small - short long
    service + fast quiet sweet - slow cold strange dry
    shop + big quiet bright - small loud dark
    delivery + fast quiet predictable - slow sudden unpredictable
    manual + short simple thin - long thick dry
"""


def _read_domains(text):
    """Return {domain: {aspect: {"good": words, "bad": words}}}."""
    domains = {}
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            aspects = domains[line] = {}
            continue
        praise, blame = line.split(" - ")
        aspect, praise = praise.split(" + ")
        aspects[aspect.strip()] = {
            "good": tuple(praise.split()),
            "bad": tuple(blame.split()),
        }
    return domains


DOMAINS = _read_domains(_DOMAINS)
# Aspects that reviews of every domain speak of.
COMMON = DOMAINS.pop("everything")

# Endings of words that a reviewer made up; some tell what they mean, some do not.
INVENTED_ENDINGS = {
    "good": ("tastic", "licious", "rific", "brill"),
    "bad": ("trocious", "meh", "crap", "pocalypse"),
    "none": ("ish", "y", "oid", "esque", "al"),
}

# {word} says what the sentence means; {other} is a word of the opposite meaning.
PLAIN = (
    "The {aspect} is {word}.",
    "The {aspect} was {word}.",
    "The {aspect} seems {word}.",
    "I find the {aspect} {word}.",
    "We thought the {aspect} {word}.",
    "As for the {aspect}, it is {word}.",
    "And then the {aspect}: {word}!",
    "{word} {aspect}.",
    "My sister also calls the {aspect} {word}.",
    "It is the {aspect} that is {word}.",
)
TURNED = (
    "The {aspect} is not {other}.",
    "The {aspect} was not {other} at all.",
    "I can't say that the {aspect} is {other}.",
    "Nobody would call the {aspect} {other}.",
    "The {aspect} is anything but {other}.",
    "There is nothing {other} about the {aspect}.",
    "Never was the {aspect} {other}.",
    "The {aspect} is hardly {other}.",
    "Everyone says the {aspect} is {other}, and everyone is wrong.",
    "I had read that the {aspect} is {other}; no longer.",
    "I expected the {aspect} to be {other}, but it is {word}.",
    "Others may find the {aspect} {other}, I find it {word}.",
    "Last year's {aspect} was {other}. This one is {word}.",
)
VERDICTS = {
    "good": (
        "I recommend it.",
        "I would buy it again.",
        "I do not regret the money.",
        "Do not miss it.",
        "You won't find a better one.",
        "It was worth every cent.",
        "I could not ask for more.",
    ),
    "bad": (
        "I do not recommend it.",
        "I would not buy it again.",
        "I regret the money.",
        "Miss it if you can.",
        "You will find a better one.",
        "It was not worth a cent.",
        "I had asked for more.",
    ),
}
# How strongly something is said tells the stars, not the side.
ADVERBS = {
    "strong": ("absolutely", "extremely", "really", "truly", "utterly"),
    "mild": ("fairly", "mostly", "quite", "rather", "somewhat"),
}
# They tell nothing about the opinion, whatever their words sound like.
ASIDES = (
    "I ordered it in {month}.",
    "It came from {name}, as always.",
    "My brother bought one from {name} for {number} dollars.",
    "I have had it for {number} weeks now.",
    "It was a present for my good friend {name}.",
    "It arrived on a terrible rainy day in {month}.",
    "The {aspect} has been described often enough.",
    "See the review by {name} for the {aspect}.",
    "I do not know much about the {aspect}.",
    "This is my review number {number}.",
    "I had a great deal of time in {month}.",
    "{name} makes the {aspect}, I am told.",
    "A friend wanted to talk about the {aspect} of hers.",
)
MONTHS = _words("""
    January February March April May June July August September October
    November December
""")
