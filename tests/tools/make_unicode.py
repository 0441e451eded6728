"""Writes the tables of src/text/unicode_tables.hpp from Python's own copy of the Unicode Character Database."""
import sys
import unicodedata

HANGUL = range(0xAC00, 0xD7A4)
COMPATIBILITY = [(0xF900, 0xFA6D), (0xFA70, 0xFAD9), (0x2F800, 0x2FA1D)]


def rows(texts, separator="", width=96):
    """C++ string literals of about `width` characters each."""
    line = ""
    for text in texts:
        if len(line) + len(text) > width:
            yield f'    "{line}"'
            line = ""
        line += text + separator
    yield f'    "{line}"'


def without_marks(code):
    return "".join(c for c in unicodedata.normalize("NFD", chr(code)) if unicodedata.category(c) != "Mn")


def bases():
    groups = {}
    for code in range(0x110000):
        skipped = code in HANGUL or any(a <= code <= b for a, b in COMPATIBILITY) or 0xD800 <= code < 0xE000
        if skipped or unicodedata.category(chr(code)) == "Mn":
            continue
        base = without_marks(code)
        if base != chr(code):
            groups.setdefault(base, []).append(chr(code))
    return [base.replace("\\", "\\\\").replace('"', '\\"') + "=" + "".join(found) for base, found in groups.items()]


def lower_runs():
    """(first, last, step, distance) of capitals that become small by the same distance."""
    runs = []
    for code in range(0x110000):
        small = chr(code).lower()
        if 0xD800 <= code < 0xE000 or small == chr(code):
            continue
        distance = ord(small[0]) - code
        if runs and runs[-1][3] == distance and code - runs[-1][1] <= 2:
            first, last, step, _ = runs[-1]
            if first == last or code - last == step:
                runs[-1] = (first, code, code - last, distance)
                continue
        runs.append((code, code, 1, distance))
    return runs


def main(path):
    out = open(path, "w", encoding="utf-8")
    out.write("// Unicode's small letters and the base letters of accented ones; written by tests/tools/make_unicode.py.\n")
    out.write("// clang-format off\n")
    out.write("#pragma once\n\n#include <cstdint>\n#include <string_view>\n\nnamespace inlay::text {\n\n")
    out.write("// Every `step`th code from first to last is a capital; its small letter is `distance` further.\n")
    out.write("struct Capitals {\n  char32_t first, last;\n  std::int32_t step, distance;\n};\n\n")
    out.write("inline constexpr Capitals capitals[] = {\n")
    line = "   "
    for first, last, step, distance in lower_runs():
        item = f" {{0x{first:X}, 0x{last:X}, {step}, {distance}}},"
        if len(line) + len(item) > 118:
            out.write(line + "\n")
            line = "   "
        line += item
    out.write(line + "\n};\n\n")
    out.write("// Each word is a text without nonspacing marks, =, and the characters that decompose to it.\n")
    out.write("inline constexpr std::string_view unaccented =\n" + "\n".join(rows(bases(), " ")) + ";\n\n")
    out.write("// What the compatibility ideographs of three blocks decompose to, in order; a space where there is none.\n")
    out.write("struct Ideographs {\n  char32_t first;\n  std::string_view decomposed;\n};\n\n")
    out.write("inline constexpr Ideographs ideographs[] = {\n")
    for first, last in COMPATIBILITY:
        texts = [c if (c := without_marks(code)) != chr(code) else " " for code in range(first, last + 1)]
        out.write(f"    {{0x{first:X},\n" + "\n".join(" " + row for row in rows(texts, width=58)) + "},\n")
    out.write("};\n\n}  // namespace inlay::text\n")


if __name__ == "__main__":
    main(sys.argv[1])
