"""Writes literals.json: Python literals, as `repr` prints them and damaged, and what `json` makes of what
`ast.literal_eval` reads in them.

    python3 tests/oracle/literals.py            write
    ... literals.py --check                     compare with what is committed

Each is [text, JSON text or null, whether the text is just what `repr` prints]. What is not must be read alike or not at all.
"""

import ast
import json
import random
import re
import sys
import warnings
from pathlib import Path

PATH = Path(__file__).parent / "literals.json"
CHARS = list("abz 09'\"\\/\n\r\t{}[](),:.#=") + ["\0", "\x07", "\x1b", "\x7f", "\x80", "é", "\u2028", "京", "☔", "😀", "\ud83d", "\ude00"]
HANDMADE = [
    "( 1 )", "((1,),)", "(('a'))", "[1,]", "{'a': 1,}", "[(), {}, []]", " [ 1 ,\n 2 ] ", "(,)", "[,]", "[1,,2]", "{1}", "{'a'}",
    "{'a': 1, 2: None, True: 0.5, None: []}", "{(1, 2): 3}", "{[1]: 2}", "b'a'", "[b'\\xff']", "nan", "[1, nan]", "[-inf]",
    "01", "-", "--1", "+1", "1j", "0x1f", "1_000", "[1 2]", "[1][0]", "'a' 'b'", "u'a'", "'''a'''", "''", "'a", "'a\nb'",
    r"'\x4'", r"'\u12'", r"'\U00110000'", r"'\N{DIGIT ONE}'", r"'\d\7\77\777\x41é\U0001f600\ud83d'", "'a\\\nb'", "None", "True", "true",
    "null", "Noned", "None()", "[1]]", "[(1]", "-0.0", "1e-07", "123456789012345678901234567890", "# 1", "[1 # a\n]", "",
    "[" * 60 + "]" * 60,
]


def scalar(random):
    kind = random.randrange(8)
    if kind == 0:
        return random.choice([None, True, False])
    if kind == 1:
        return random.choice([0, 1, -1, 151644, -(2**63), 2**70])
    if kind == 2:
        return random.choice([0.0, -1.5, 1e-07, 1e22, 3.141592653589793, random.uniform(-9, 9)])
    return "".join(random.choices(CHARS, k=random.randrange(12)))


def value(random, depth=0):
    kind = random.randrange(6 if depth < 4 else 3)
    if kind < 3:
        return scalar(random)
    if kind == 3:
        return {random.choice([scalar(random), str(i)]): value(random, depth + 1) for i in range(random.randrange(4))}
    items = [value(random, depth + 1) for _ in range(random.randrange(4))]
    return items if kind == 4 else tuple(items)


def damaged(random, text):
    chars = list(text)
    for _ in range(random.randrange(1, 3)):
        at = random.randrange(len(chars) + 1)
        if random.randrange(2):
            chars[at : at + 1] = []
        else:
            chars[at:at] = random.choice(CHARS)
    return "".join(chars)


def of_json(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)


class Names(ast.NodeTransformer):
    """The numbers that `repr` prints as names, which are no literals."""

    def visit_Name(self, node):
        return ast.copy_location(ast.Constant(float(node.id)), node) if node.id in ("nan", "inf") else node


def floats(value):
    if isinstance(value, float):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value:
            yield from floats(item)
        yield from floats(list(value.values())) if isinstance(value, dict) else ()


def read(text):
    """The JSON of a literal, and whether it is printed so; nothing where there is nothing to compare."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(Names().visit(ast.parse(text.strip(), mode="eval")))
        # Ours leaves a number as it is spelled, and `json` does not.
        if any(repr(number) not in text for number in floats(value)):
            return None
        return of_json(value), repr(value) == text
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None, False


def main():
    source = random.Random(5)
    texts = list(HANDMADE)
    for _ in range(300):
        text = repr(value(source))
        texts += [text, damaged(source, text)]
    rows = []
    for text in dict.fromkeys(texts):
        # What cannot be written in UTF-8 cannot stand in a trace.
        comparable = not any("\ud800" <= char <= "\udfff" for char in text) and read(text)
        if comparable:
            rows.append(json.dumps([text, *comparable]))
    out = "[\n" + ",\n".join(rows) + "\n]\n"
    if "--check" not in sys.argv:
        PATH.write_text(out, encoding="utf-8")
    elif PATH.read_text(encoding="utf-8") != out:
        sys.exit("not as committed: literals.json")
    print(f"{len(rows)} literals")


if __name__ == "__main__":
    main()
