-- SPDX-License-Identifier: Apache-2.0
-- What a case is about: the mean of its vectors, and the words that it uses often and few other spans do. A word that
-- stands in none but the case's own spans leads nowhere.
WITH mine AS MATERIALIZED (
    SELECT s.tsv, CASE WHEN {comparable} THEN s.embedding END AS embedding
    FROM spans AS s
    WHERE true {filter}
),
telling AS (
    SELECT w.lexeme,
           sum(1 + ln(cardinality(w.positions))) * ln(1 + (max(c.spans) - max(l.df) + 0.5) / (max(l.df) + 0.5)) AS weight
    FROM mine CROSS JOIN LATERAL unnest(mine.tsv) AS w
    JOIN span_lexemes AS l USING (lexeme)
    CROSS JOIN corpus_stats AS c
    WHERE length(w.lexeme) >= 3
    GROUP BY w.lexeme
    HAVING max(l.df) > count(*)
    ORDER BY weight DESC, w.lexeme
    LIMIT %(words)s
)
SELECT (SELECT avg(embedding)::text FROM mine) AS embedding,
       (SELECT embedding_fingerprint FROM settings) AS fingerprint,
       (SELECT string_agg(lexeme, ' ' ORDER BY weight DESC, lexeme) FROM telling) AS words
