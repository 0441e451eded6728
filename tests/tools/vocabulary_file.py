"""Writes GGUF files that hold keys only."""
import struct

U8, I32, F32, BOOL, TEXT, ARRAY, U32 = 0, 5, 6, 7, 8, 9, 4


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def encoded(value):
    if isinstance(value, bool): return struct.pack("<I?", BOOL, value)
    if isinstance(value, int): return struct.pack("<II", U32, value)
    if isinstance(value, str): return struct.pack("<I", TEXT) + text(value)
    if isinstance(value, bytes): return struct.pack("<IIQ", ARRAY, U8, len(value)) + value
    first = value[0]
    if isinstance(first, bytes): return struct.pack("<IIQ", ARRAY, TEXT, len(value)) + b"".join(map(text, value))
    kind, code = (F32, "f") if isinstance(first, float) else (I32, "i")
    return struct.pack("<IIQ", ARRAY, kind, len(value)) + struct.pack(f"<{len(value)}{code}", *value)


def write_vocabulary(path, keys):
    keys = {"general.architecture": "llama"} | keys
    with open(path, "wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)))
        for key, value in keys.items():
            out.write(text(key) + encoded(value))
