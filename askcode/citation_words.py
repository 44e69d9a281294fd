"""The words that models put around lines and excerpts, in the languages they answer in.

Each constant is a piece of a regular expression that ignores case.
"""

from __future__ import annotations

LINE_WORD = (
    r"(?:lines?|lns?\.?|ll\.|строк(?:а|и|у|е|ах|ам)?|стр\.|ряд(?:ок|ки|ку|ках)|zeilen?|lignes?"
    r"|l[ií]neas?|linhas?|righe|riga|regels?|wiersz(?:e|ach)?|linie|lini[aię]|řádk(?:y|u|ech)?"
    r"|satır(?:lar|ları)?|γραμμ(?:ή|ές|η|ες)|(?:ال)?(?:أسطر|اسطر|سطور|سطر)|שורות|שורה"
    r"|पंक्ति(?:याँ|यों)?|บรรทัด(?:ที่)?|baris|dòng|rader?|rivit?)"
)
RANGE_WORD = (
    r"(?:to|through|thru|until|till|bis|jusqu'à|à|al?|até|по|до|do|tot|ile|έως|ως|إلى|الى|עד|से"
    r"|到|至|から|부터|ถึง|đến)"
)
LIST_WORD = r"(?:and|&|und|et|y|e|и|та|i|oraz|en|ve|και|و|ו|和|及|與|与|と)"
OF_WORD = (
    r"(?:of|in|from|within|de|du|dans|del|di|do|da|em|en|von|aus|der|из|в|у|z|w|van|στο|του|من|في"
    r"|ב|में|の|ใน|trong)(?:\s(?:the\s)?(?:file|datei|fichier|archivo|файла|файле|ficheiro))?"
)
CJK_PARTICLE = r"の|的|中的|中|に|에서|의"
CJK_UNIT = r"(?:行目|行|번째\s?줄|번째\s?행|행|줄)"
EXCERPT_WORD = (
    r"(?:excerpts?|snippets?|отрыв(?:ок|ке|ка|ки)|фрагмент(?:а|е|ы|ах)?|ausz[uü]g(?:e|en)?"
    r"|extraits?|extractos?|fragmentos?|trechos?|estratt[oi]|απόσπασμα|αποσπάσματα"
    r"|(?:ال)?مقتطف(?:ات)?|קטע|摘录|摘錄|片段|抜粋|スニペット|발췌)"
)
