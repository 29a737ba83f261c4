"""Text to learn from: sentences of a small grammar, of very different lengths, the same every time."""

import random

_SUBJECTS = ["the cat", "a dog", "my friend", "the old man", "she", "nobody here"]
_VERBS = ["sees", "follows", "likes", "does not know", "waits for"]
_OBJECTS = ["the river", "a red house", "the train to the sea", "it", "every book on the shelf"]
_LINKS = [" and ", ", while ", ", because ", "; "]

ALPHABET = "\0" + "abcdefghijklmnopqrstuvwxyz ,;."  # 0 pads


def sentences(count, seed):
    draws = random.Random(seed)
    return [_sentence(draws) for _ in range(count)]


def encode(text):
    return [ALPHABET.index(letter) for letter in text]


def _sentence(draws):
    # Most are short; one in ten is several times as long.
    clauses = draws.choice([1] * 9 + [4])
    parts = [f"{draws.choice(_SUBJECTS)} {draws.choice(_VERBS)} {draws.choice(_OBJECTS)}" for _ in range(clauses)]
    text = parts[0]
    for part in parts[1:]:
        text += draws.choice(_LINKS) + part
    return text + "."
