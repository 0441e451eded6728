"""Texts that tokenizers get wrong, written for this project; the same on every run."""
import random

WRITTEN = [
    "", " ", "  ", "   ", "\n", "\n\n", "\r\n\r\n", "\t", " \t \n ", "a", " a", "a ", "  a  b   c    d  ", "Hello, world!",
    "hello world\n", "\n hello", "end  \n\n  start", "tabs\t\tand\tspaces ", "x  1", "x\u00a0\u00a0y", "\u3000全角\u3000",
    "1", "12", "123", "1234", "12345", "123456", "1234567", "12345678901234567890", "3.14159", "1,234,567.89", "1234abc",
    "abc1234", "v1.2.3", "12 345 6789", "²³ 12² ½ Ⅷ 〇", "١٢٣٤٥٦٧", "12345٦٧٨ 9", "123_456", "1234é", "007-1234",
    "I'm you're he's we'll they'd I've don't", "I'M YOU'RE HE'S WE'LL THEY'D I'VE DON'T", "'s't 're 'lll 'D", "it''s",
    "CamelCase XMLHttpRequest iPhone HTTPServer aB Ab aBC ABc ÉCOLE École éCOLE", "ǅ ǈ ʰa ªb", "ß ẞ ſ 'ſ",
    "café cafe\u0301 \u0301 \u0301\u0301 n\u0303o ", "Ångström \u212bngstro\u0308m", "ﬁne ﬀ ĳ", "Ελληνικά ΣΊΣΥΦΟΣ",
    "Привет, МИР! ёжик", "中文字符，混合English和日本語。", "ひらがな カタカナ ｶﾅ 々〆", "한국어 텍스트 ㄱㄴㄷ", "ㄅㄆㄇ 注音",
    " 中", "  中", "!⺀x ⺀abc 1〇2", "中a中 aa中中", "ไทยไม่มีวรรค", "ລາວ ខ្មែរ မြန်မာ", "हिन्दी में पाठ", "தமிழ் বাংলা",
    "עברית עִבְרִית", "العربية، مُشَكَّلَة؟ ۔", "👍 👩‍👩‍👧 🏳️‍🌈 🇩🇪 ☺️", "∑∫√ ≠ ± × ÷ → ⇒ €£¥ ©®™", "$100 50% #tag @user a+b=c <tag/> ^~|`",
    "... --- ___ *** !!! ?!?! …… ——", "(parens) [brackets] {braces}", "\"quoted\" 'single' “curly” ‘so’ «guillemets»",
    "https://example.org/path?q=1&r=2#frag", "user@example.com", "C:\\Users\\x\\file.txt", "/usr/local/bin/",
    "for (int i = 0; i < 10; ++i) {\n    sum += a[i];\n}\n", "def f(x):\n\treturn x**2  # square\n", "if(a&&b||!c)\r\n  go();",
    "<sentinel:12> <sentinel:x> IMGIMGABCDZ IMGIMGABCDEZ IMGIMGZ", "a.b,c!d?e;f:g", "foo/bar//baz", "line1\n/line2\n//",
    "mixed\u200bzero\u200dwidth\ufeffbom\u00adsoft", "\u0000\u0001\u001f\u007f\u0085\u2028\u2029", "a\u180eb \u180e c",
    "\u202eright-to-left\u202c", "𝒳𝓎 𝟘𝟙 𐐀𐐨 𠀀", "word " * 5 + "end", "aaaaaaaaaaaaaaaaaaaaaaaa", "AAAAAAAAAAAAaaaaaaaaaaaa",
    "aBaBaBaBaB", "\n" * 17, " " * 33, " " * 700 + "x", "\t" * 9 + "y", " \n" * 7, "0" * 31, "!" * 40, "\u0301" * 12,
    "a " * 20, "中" * 20, "ab\r\ncd\rnew\n\rend\n", "ends with spaces   ", "ends with newline \n", "A B C D", "a b c d e1 f",
]

ALPHABETS = [
    "abcXYZ", "éÉß", "αΩж", "中文かカ", "한ㄱㅂ", "\u0301\u0308\u05b4", "0123456789", "²Ⅷ〇١", " ", "  ", "\n", "\r\n", "\t\u00a0\u3000",
    "'", ".,!?", "$+<=>^`|~", "-_/\\", "…“”‘’—", "’'s", "👍🏳\ufe0f\u200d", "ªʰǅ", "กไខမ", "⺀々", "&*()[]{}#@%;:\"",
]


def mixed(count, seed, length=24):
    """Random runs over the alphabets."""
    choose = random.Random(seed)
    for _ in range(count):
        text = ""
        while len(text) < length:
            letters = choose.choice(ALPHABETS)
            text += "".join(choose.choice(letters) for _ in range(choose.randint(1, 5)))
        yield text


def all_texts(count=120, seed=1):
    return WRITTEN + list(mixed(count, seed))
