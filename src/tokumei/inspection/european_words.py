# ruff: noqa: SIM905 - many words are read more easily in one text than in a list.
"""The words of other European languages: in headers, and in columns of few known values. Written without accents.

German, French, Spanish, Italian, Portuguese and Dutch. What reads the same in English is not repeated, and what means
something else there (data, genre, estado as a status) is left out; in French `nombre de` counts something.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

# For each kind of column, the words of a header that say it; see `kinds` for their order and what they mean.
HEADERS: Mapping[str, str] = {
    "email": r"courriel|correo( electronico)?|posta elettronica",
    "thing": r"artikel\w*|articles?|articulos?|articol[oi]|artigos?|produkte?|produits?|productos?|prodott[oi]"
    r"|produtos?|waren?(gruppe)?|marke|marque|marca",
    "phone": r"telefon\w*|telephone|handy(nummer)?|mobil(nummer|telefon)?|rufnummer|cellulare|celular|movil",
    "insurance": r"\w*versicherungs?(nummer|nr)|krankenkassen\w*|numero de securite sociale|nir|codice fiscale|bsn|cpf",
    "account": r"konto(nummer|nr)?|compte( bancaire)?|cuenta|rekeningnummer",
    "postal-code": r"plz|postleitzahl|code postal|codigo postal|cep",
    "region": r"(wohn|geburts|arbeits)?ort|stadt|gemeinde|(bundes)?land(kreis)?|kreis|bezirk|kanton|ville|commune"
    r"|departement|ciudad|municipio|provincia|comune|citta|regione|cidade|gemeente|woonplaats|lieu|lugar",
    "address": r"\w*(adresse|anschrift|strasse)|hausnummer|rue|domicile|direccion|calle|domicilio|indirizzo|endereco"
    r"|adres|straat",
    "country": r"nationalitat|staatsangehorigkeit|herkunftsland|pays|nationalite|pais|nacionalidad|paese|nazionalita"
    r"|nationaliteit",
    "birth-date": r"geburts(datum|tag|jahr)|geb ?datum|(date|annee) de naissance|naissance|(fecha|ano) de nacimiento"
    r"|nacimiento|(data|anno) di nascita|nascita|data de nascimento|nascimento|geboorte(datum|jaar)",
    "date": r"\w*datum|zeitpunkt|jahr|monat|fecha|annee|mois|ano|mes|anno|mese|jaar|maand",
    "age": r"alter|edad|idade|leeftijd",
    "sex": r"geschlecht|sexe|sexo|genero|sesso|geslacht",
    "marital": r"familienstand|zivilstand|etat civil|situation (familiale|matrimoniale)|estado civil|stato civile"
    r"|burgerlijke staat",
    "household": r"haushalts?(grosse)?|kinder(zahl)?|menage|enfants|hogar|hijos|famiglia|figli|filhos|kinderen",
    "education": r"bildung\w*|schulabschluss|ausbildung|etudes|diplome|niveau d etudes|educacion|estudios|istruzione"
    r"|titolo di studio|escolaridade|opleiding",
    "illness": r"\w*diagnosen?|krankheit(en)?|erkrankung(en)?|befund|maladies?|diagnostic|pathologie|enfermedad(es)?"
    r"|diagnostico|malattia|diagnosi|doenca|ziekte",
    "treatment": r"medikamente?|behandlung|therapie|traitement|medicaments?|tratamiento|medicamentos?|terapia"
    r"|farmac[oi]|behandeling",
    "income": r"\w*(einkommen|gehalt|lohn)|vermogen|schulden|revenus?|salaire|ingresos?|salario|sueldo|reddito"
    r"|stipendio|renda|inkomen|loon",
    "religion": r"konfession|glaube|religione?|religiao|croyance|godsdienst",
    "occupation": r"beruf|tatigkeit|metier|profession|emploi|profesion|ocupacion|professione|lavoro|profissao|beroep",
    "employer": r"arbeitgeber|firma|abteilung|klinik|krankenhaus|employeur|entreprise|hopital|empresa|azienda|ospedale"
    r"|werkgever|ziekenhuis",
    "body": r"(korper)?grosse|(korper)?gewicht|taille|poids|altura|estatura|altezza",
    "free-text": r"bemerkung(en)?|kommentar|anmerkung(en)?|notiz(en)?|remarques?|commentaires?|observaciones"
    r"|comentarios?|osservazioni|opmerking(en)?",
    "person-name": r"(familien|ruf|geburts|kunden|patienten)?name|nom de famille|prenom|nombre(?! de? )|apellidos?"
    r"|cognome|nome|sobrenome|voornaam|achternaam",
    "code": r"\w*(nummer|kennung|kennzeichen)|\w*nr|numero|identifiant|matricule|codigo|codice|klantnummer",
}
SEX = frozenset(
    "w d mannlich weiblich divers mann frau h homme femme masculin feminin hombre mujer masculino femenino v uomo "
    "donna maschio femmina homem mulher feminino vrouw".split()
)
MARITAL = frozenset(
    "ledig verheiratet geschieden verwitwet getrennt verpartnert celibataire marie mariee divorce divorcee veuf veuve "
    "pacse pacsee soltero soltera casado casada divorciado divorciada viudo viuda celibe nubile sposato sposata "
    "divorziato divorziata vedovo vedova solteiro solteira gehuwd ongehuwd gescheiden weduwe weduwnaar".split()
)
COUNTRIES = frozenset(
    "deutschland frankreich italien spanien osterreich schweiz polen turkei niederlande belgien russland ukraine "
    "rumanien syrien "
    "allemagne espagne italie suisse belgique maroc algerie tunisie alemania francia espana colombia marruecos "
    "germania spagna svizzera italia brasil duitsland nederland belgie".split()
)


def without_accents(text: str) -> str:
    """Remove the accents of Latin letters; all else, such as kana, stays as it is.

    >>> without_accents("Größe in Genève, パリ")
    'Grosse in Geneve, パリ'
    """
    if text.isascii():
        return text
    out = []
    for letter in text.replace("ß", "ss"):
        plain = unicodedata.normalize("NFD", letter)[0]
        out.append(plain if plain.isascii() else letter)
    return "".join(out)


def says(kind: str, words: str) -> bool:
    """Whether the words of a header say a kind of column in one of these languages."""
    pattern = HEADERS.get(kind)
    return pattern is not None and re.search(rf"\b({pattern})\b", without_accents(words)) is not None
