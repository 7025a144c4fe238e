-- SPDX-License-Identifier: Apache-2.0
-- The words of a query, rarest first as the lexical leg takes them, and which of them stand in some spans. `df` is
-- empty for a word that stands nowhere in the corpus; `cumulated` is how many rows the leg looks at to reach a word.
WITH terms AS (
    SELECT w.lexeme, l.df,
           sum(l.df) OVER (ORDER BY l.df, w.lexeme) AS cumulated,
           row_number() OVER (ORDER BY l.df, w.lexeme) AS place
    FROM unnest(tsvector_to_array(words_of(%(query)s))) AS w(lexeme)
    LEFT JOIN span_lexemes AS l USING (lexeme)
)
SELECT t.lexeme, t.df, t.cumulated::bigint AS cumulated, t.place,
       EXISTS (
           SELECT FROM spans AS s WHERE s.id = ANY (%(ids)s) AND s.tsv @@ quote_literal(t.lexeme)::tsquery
       ) AS held
FROM terms AS t
ORDER BY t.place
