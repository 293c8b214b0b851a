# ruff: noqa: RUF001, SIM905
"""Compare the PTB tokenizer with CoreNLP 3.4.1's Java program, which pycocoevalcap ships, on texts and on drawn ones.

Run it where Java and pycocoevalcap are. ``captions FILE...`` compares the lines of text files. ``fuzz [--texts N]
[--seed N]`` draws texts from small alphabets and from pieces such as abbreviations, numbers, tags, addresses, quotes,
emoji and scripts. ``characters`` prints the classes of all characters for `vttdata/text/ptb_characters.py`. Texts are
separated by a word on a line of its own, so that no text depends on the next. Each difference is printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from vttdata.text.ptb_tokenizer import PUNCTUATION, tokenize_caption

SEPARATOR = "qzq"

# Characters and pieces from which texts are drawn; each line is an alphabet of its own.
ALPHABETS: list[list[str]] = [
    list("a1-/_"),
    list("aB1.-"),
    list("aos1'n "),
    list(":;=8>-'o()DPpdO\\[]{}|@/<^_*"),
    list("1.,:-+/$%"),
    ["d", "O", "n", "t", "'", "’", "qa", "e", "D", " ", "s", "é"],
    ["http://", "www.", "a", ".", "com", "/", "?", "b", "-", ":", "1", "@"],
    list("a.@1-,'<>b"),
    list("<>a/ ='\"!1"),
    ["$", "US", "€", "1", ".", "£", "-", "¢", "%", " "],
    ["&", "amp;", "A", "b", ";", "lt;", "#", "1"],
    list("aé1\u0301-.…—”"),
    list("a'’`”‘“\" 1."),
    list("aé1\u00ad-."),
    list("1234567890 -()+\xa0"),
    ["a", "1", "é", ".", "c", "txt", "h", "-", "_", "x", "'s", ",", " "],
    list("²³¹⁰⁴⁵ⁿ₂₃⁺a1"),
]
PIECES = """
a A the The cat U.S. Mr. Inc. no. No. 5 1/2 3 10,000 3.14 $ € £ % & &amp; 's n't can't don’t cannot gonna
' " `` '' “ ” ‘ ’ ` . .. ... … , : ; ! ? !! - -- --- – — / \\ ( ) [ ] { } < <b> </b> <br/> > @user #tag
a@b.com http://a.b/c www.x.com x.com/yz :) :-( ^_^ 😀 ❤️ é naïve e\u0301 中文 日本語 한국어 العربية हिन्दी ไทย
Ω ﬁ ½ ™ © ° ² ① _ __ * ** + = ~ ^ | &lt; &quot; &#39; &eacute; 1990s '90s rock'n'roll o'clock O'Neil
ma'am y'all t-shirt well-known and/or C++ C# AT&T e.g. i.e. a.m. p.m. etc. Ph.D. vs. J. St. Jan.
2012-12-25 12/25/2012 555-1234 (412) 412-555-1234 10:30 1st 5'10" x2 4K B2B
""".split()
PIECES += ["\u200d", "\u200b", "\ufeff", "\xa0", "\t", "\x07", "\xad", "\u2009", " ", " ", " ", " "]


def java_lines(texts: Sequence[str]) -> list[str]:
    """Return the line that the program prints for each text, which must not contain ends of lines."""
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("pycocoevalcap is not installed: pip install 'vttdata[java-metrics]'.")
    jar = Path(next(iter(spec.submodule_search_locations))) / "tokenizer/stanford-corenlp-3.4.1.jar"
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="") as file:
        file.write("".join(f"{text}\n{SEPARATOR}\n" for text in texts))
        file.flush()
        program = ["edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase", file.name]
        command = ["java", "-Dfile.encoding=UTF-8", "-cp", str(jar), *program]
        lines = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\n")
    if lines[1 : 2 * len(texts) : 2] != [SEPARATOR] * len(texts):
        raise SystemExit("The program did not print a line for each text.")
    return lines[: 2 * len(texts) : 2]


def compare(name: str, texts: Iterable[str]) -> int:
    """Print how many texts have other tokens, and each of them; return their number."""
    different = 0
    ends = str.maketrans(dict.fromkeys("\n\r\x0b\x0c\u2028\u2029", " "))
    unique = [text for text in dict.fromkeys(text.translate(ends) for text in texts) if SEPARATOR not in text]
    expected = [
        [token for token in line.split(" ") if token and token not in PUNCTUATION] for line in java_lines(unique)
    ]
    start = time.process_time()
    ours = [tokenize_caption(text) for text in unique]
    seconds = time.process_time() - start
    for text, theirs, tokens in zip(unique, expected, ours, strict=True):
        if theirs != tokens:
            different += 1
            print(f"  {text!a}: {theirs} there, {tokens} here")
    number = max(sum(map(len, ours)), 1)
    print(f"{name}: {different} of {len(unique)} texts differ; {seconds / number * 1e6:.2f} us a token", flush=True)
    return different


def drawn_texts(pieces: Sequence[str], longest: int, number: int, draw: random.Random) -> Iterator[str]:
    """Yield texts that are drawn from pieces, and are not white space alone."""
    for _ in range(number):
        text = "".join(draw.choices(pieces, k=draw.randint(1, longest)))
        if text.strip():
            yield text


def character_classes() -> None:
    """Print the ranges of code points that are letters, marks and symbols, as `ptb_characters` has them."""
    codes = [code for code in range(0x80, 0x10000) if not 0xD800 <= code < 0xE000 and code not in {0x2028, 0x2029}]
    between_letters, between_digits = (java_lines([f"{a}{chr(code)}{b}" for code in codes]) for a, b in ("ab", "12"))
    classes: dict[str, list[int]] = {"letters": [], "marks": [], "symbols": []}
    for code, letters, digits in zip(codes, between_letters, between_digits, strict=True):
        lower = chr(code).lower()
        if letters in {f"a{lower}b", "aςb"} and code not in {0x58A, 0x2010, 0x2011}:
            classes["letters" if digits == f"1{lower}2" or lower == "σ" else "marks"].append(code)
        elif letters == f"a {lower} b":
            classes["symbols"].append(code)
    for name, members in classes.items():
        ranges: list[list[int]] = []
        for code in members:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
        print(name, *(f"{low:x}" if low == high else f"{low:x}-{high:x}" for low, high in ranges))


def main() -> None:
    """Run what the command line names; end with code 1 if any tokens differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["captions", "fuzz", "characters"])
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--texts", type=int, default=20_000, help="to draw from each alphabet")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    different = 0
    if arguments.what == "characters":
        character_classes()
    for file in arguments.files:
        different += compare(file.name, file.read_text(encoding="utf-8").split("\n"))
    if arguments.what == "fuzz":
        draw = random.Random(arguments.seed)
        for alphabet in ALPHABETS:
            different += compare("".join(alphabet)[:30], drawn_texts(alphabet, 6, arguments.texts, draw))
        different += compare("pieces", drawn_texts(PIECES, 9, arguments.texts, draw))
    raise SystemExit(different > 0)


if __name__ == "__main__":
    main()
