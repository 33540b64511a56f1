"""Numbers whose last digits follow from the others: by them a number is told from digits at random."""

from __future__ import annotations


def is_card(digits: str) -> bool:
    """Whether the Luhn sum of 13 to 19 digits is a multiple of ten, and the first is one that cards have.

    >>> is_card("4111111111111111"), is_card("4111111111111112")
    (True, False)
    """
    if not (digits.isdecimal() and 13 <= len(digits) <= 19 and digits[0] in "23456"):
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def is_my_number(digits: str) -> bool:
    """Whether the twelfth digit of an individual number is right (2014 ordinance 85 of the ministry, article 5).

    >>> is_my_number("123456789018"), is_my_number("123456789012")
    (True, False)
    """
    if not (digits.isdecimal() and len(digits) == 12):
        return False
    # From the right, without the check digit: weights 2 to 7, then 2 to 6.
    weights = (2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6)
    rest = sum(int(digit) * weight for digit, weight in zip(reversed(digits[:11]), weights, strict=True)) % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest)


def is_japanese_licence(digits: str) -> bool:
    """Whether the eleventh of the twelve digits of a Japanese driver's license is right.

    >>> is_japanese_licence("305012345600")
    False
    """
    if not (digits.isdecimal() and len(digits) == 12):
        return False
    weights = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
    rest = sum(int(digit) * weight for digit, weight in zip(digits[:10], weights, strict=True)) % 11
    return int(digits[10]) == (0 if rest <= 1 else 11 - rest)


def is_iban(text: str) -> bool:
    """Whether an international bank account number leaves 1 when divided by 97 (ISO 7064).

    >>> is_iban("GB82WEST12345698765432"), is_iban("GB82WEST12345698765433")
    (True, False)
    """
    if not (15 <= len(text) <= 34 and text.isascii() and text.isalnum() and text[:2].isalpha()):
        return False
    moved = text[4:] + text[:4]
    return text[2:4].isdecimal() and int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1
