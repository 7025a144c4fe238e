-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL has no stemmer for Hebrew. What stands here instead goes by the letters of words, not by a dictionary, and
-- is the same for texts and for queries (docs/decisions/hebrew.md has the measurements). Nothing here reads a table, and
-- a role needs no right on this schema: the corpus calls by functions whose bodies were resolved when they were made.

-- Hebrew as it reads when habits of writing do not count: no points and accents, final letters as ordinary ones, no
-- marks inside abbreviations, hyphens as blanks; Latin letters small. Titles are likened in this form.
CREATE FUNCTION pincite.hebrew_plain(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
    singles CONSTANT text := U&'\05F3\2018\2019\201A\201B\2032\00B4\0060';  -- all that people type for a geresh
    doubles CONSTANT text := U&'\05F4\201C\201D\201E\201F\2033';  -- and for gershayim
    dashes CONSTANT text := U&'\05BE\05C0\05C3\2010\2011\2012\2013\2014';  -- maqaf, paseq, sof pasuq, others
    -- Points and accents, then direction marks, joiners and the soft hyphen.
    unread CONSTANT text :=
        U&'\0591\0592\0593\0594\0595\0596\0597\0598\0599\059A\059B\059C\059D\059E\059F\05A0\05A1\05A2\05A3\05A4\05A5'
        '\05A6\05A7\05A8\05A9\05AA\05AB\05AC\05AD\05AE\05AF\05B0\05B1\05B2\05B3\05B4\05B5\05B6\05B7\05B8\05B9\05BA\05BB'
        '\05BC\05BD\05BF\05C1\05C2\05C4\05C5\05C7\00AD\034F\200B\200C\200D\200E\200F\202A\202B\202C\202D\202E\2060\2066'
        '\2067\2068\2069\FEFF';
BEGIN
    IF body IS NOT NFKC NORMALIZED THEN
        body := normalize(body, NFKC);  -- letters that carry their points, as some fonts and PDFs have them
    END IF;
    body := lower(translate(body, singles || doubles || dashes || unread,
        repeat('''', length(singles)) || repeat('"', length(doubles)) || repeat(' ', length(dashes))));
    body := regexp_replace(body, '(?<=[א-ת])(?:''''|["''])(?=[א-ת])|(?<=[א-ת])''', '', 'g');
    body := regexp_replace(body, '(?<=[א-ת])[-./_:+~=@\\]+|[-./_:+~=@\\]+(?=[א-ת])', ' ', 'g');
    RETURN translate(body, 'ךםןףץ', 'כמנפצ');
END
$body$;

-- The words of a plain text in the form in which they are looked up, one blank between them, function words left out.
CREATE FUNCTION pincite.hebrew_bases(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
    -- Function and question words, in the form that the steps below leave.
    empty CONSTANT text[] := string_to_array(
        'של את על אל עמ כי אמ או גמ לא כל זה זו זאת הוא היא המ הנ מה מי איכ אינ יש אשר בינ לפי אצל רק מהו מהי האמ'
        ' כמה מתי היכנ איפה דוע למה איזה איזו אילו יצד אחר פני די אכ היה יתה ייתה היו'
        ' ושל שלא ולא ואת שאת ועל שעל ועמ וכי וגמ וכל הזה הזו וזה והוא והיא שהוא שהיא', ' ');
BEGIN
    -- Words that begin like a prefix and would turn into another party, or vanish: the lender (a borrower with "from"),
    -- the lessor, the committee in its two spellings and with "of". A sign before them ends the search for prefixes.
    body := regexp_replace(body, '(?<![א-ת])[והבלמשכ]*?מלוו?(?=(?:ה|ת|ימ|ות)(?![א-ת]))', U&'\E000מלוו', 'g');
    body := regexp_replace(body, '(?<![א-ת])[והבלמשכ]*?(?=משכיר(?:ה|ת|ימ|ות)?(?![א-ת]))', U&'\E000', 'g');
    body := regexp_replace(body, '(?<![א-ת])[והבלמשכ]*?וו?עד(?:ה|ת|ות)(?![א-ת])', U&'\E000ועדה', 'g');
    -- One-letter words in front (and, the, in, to, from, that, as), as many as leave three letters: longest first, so
    -- that a word comes out alike with any of them and with none. No word begins with a single vav behind a prefix, so
    -- that "table" and "lessee" keep their first letter. Before a number they go as well.
    body := regexp_replace(body,
        '(?<![א-ת\uE000])(?:(?:[והבלמשכ](?!ו))+(?=[א-ת]{{3}})|[והבלמשכ]{{1,2}}(?=[0-9]))', '', 'g');
    -- Nouns of two letters are too short for that. They are listed: "white" is no "to a son", "water" no "from the sea".
    body := regexp_replace(body,
        '(?<![א-ת])(?:[והב](?=בנ(?![א-ת]))|[והבל](?=(?:אב|אח|בת|גג|גז|גנ|דמ|דפ|הר|חג|חק|יד|ימ|מס|סכ|עצ|צו|קו|רב|שר|תא)'
        '(?![א-ת])))', '', 'g');
    -- Plurals.
    body := translate(regexp_replace(body, '(?<=[א-ת]{{3}})(?:ימ|ות)(?![א-ת])', '', 'g'), U&'\E000', '');
    RETURN coalesce((
        SELECT string_agg(word, ' ' ORDER BY place)
        FROM regexp_split_to_table(body, '\s+') WITH ORDINALITY AS w(word, place)
        WHERE word <> '' AND btrim(word, '.,;:?!()[]{{}}"''') <> ALL (empty)
    ), '');
END
$body$;

-- An abbreviation of two letters behind a prefix ("the MK") reads like one of three: it stands for both.
CREATE FUNCTION pincite.hebrew_forms(body text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN pincite.hebrew_bases(pincite.hebrew_plain(regexp_replace(body,
        '(?<![א-ת])([והבלמשכ]+)([א-ת](?:''''|["''\u05F3\u05F4\u2018\u2019\u201C\u201D\u2032\u2033])[א-ת])(?![א-ת])',
        '\1\2 \2', 'g')));

-- With points, letters may be left out that are written without: vav for a vowel, and the second of a vav or yod that
-- is a consonant. Here they are written: for qubuts anywhere; for holam unless it stands on a vav, or before a letter
-- that carries the vowel or is silent; a vav with a vowel of its own and a yod with a dagesh, inside a word, are doubled.
CREATE FUNCTION pincite.hebrew_full_spelling(body text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(
        regexp_replace(normalize(body, NFKC),
            '([א-ת][\u05B0-\u05BD\u05BF\u05C1\u05C2\u05C7]*\u05BB[\u05B0-\u05BD\u05BF\u05C1\u05C2\u05C7]*|[א-הז-ת][\u05B0-\u05BD\u05BF\u05C1\u05C2\u05C7]*[\u05B9\u05BA][\u05B0-\u05BD\u05BF\u05C1\u05C2\u05C7]*(?=[א-ת])(?![או]|ה(?![א-ת])))', '\1ו', 'g'),
        '([א-ת][\u05B0-\u05BD\u05BF\u05C1\u05C2\u05C7]*)(ו(?=[\u05B0-\u05B8])|י(?=[\u05B0-\u05BD\u05BF\u05C1\u05C2\u05C7]*\u05BC))', '\1\2\2', 'g');

-- The words of a text; of one with points, in both spellings.
CREATE FUNCTION pincite.hebrew_words(body text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN body ~ '[\u05B0-\u05BC\uFB1D-\uFB4E]'
        THEN to_tsvector('pg_catalog.simple'::regconfig, pincite.hebrew_forms(body)) || ts_delete(
            to_tsvector('pg_catalog.simple'::regconfig, pincite.hebrew_forms(pincite.hebrew_full_spelling(body))),
            tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, pincite.hebrew_forms(body))))
        ELSE to_tsvector('pg_catalog.simple'::regconfig, pincite.hebrew_forms(body)) END;

-- The same forms as a query: side by side, and all of them anywhere.
CREATE FUNCTION pincite.hebrew_phrase(body text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN phraseto_tsquery('pg_catalog.simple'::regconfig, pincite.hebrew_forms(body));

CREATE FUNCTION pincite.hebrew_all_words(body text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN plainto_tsquery('pg_catalog.simple'::regconfig, pincite.hebrew_forms(body));
