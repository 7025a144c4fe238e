-- SPDX-License-Identifier: Apache-2.0
-- The title leg without a named instrument: titles that resemble the whole question by trigrams, over PostgreSQL's own
-- threshold (0.3). A long question resembles no title, so the leg is mostly empty then, and takes no part in the fusion.
WITH named AS (
    SELECT d.source_id, similarity(d.plain_title, plain_of(%(query)s)) AS score
    FROM sources AS d
    WHERE d.plain_title %% plain_of(%(query)s) {filter}
    ORDER BY score DESC, d.source_id
    LIMIT %(limit)s
),
topic AS MATERIALIZED (
    SELECT ln(1 + (c.spans - l.df + 0.5) / (l.df + 0.5)) AS idf, quote_literal(l.lexeme)::tsquery AS word
    FROM unnest(tsvector_to_array(words_of(%(query)s))) AS w(lexeme)
    JOIN span_lexemes AS l USING (lexeme) CROSS JOIN corpus_stats AS c
    ORDER BY l.df, l.lexeme
    LIMIT %(topic_words)s
)
SELECT {columns}, h.score, NULL::float8 AS coverage
FROM named AS h
CROSS JOIN LATERAL (
    SELECT s.*
    FROM spans AS s
    WHERE s.source_id = h.source_id
    ORDER BY (SELECT coalesce(sum(t.idf * ts_rank(%(weights)s::real[], s.tsv, t.word)), 0) FROM topic AS t)
                 / (0.7::float8 + 0.3::float8 * s.length / (SELECT greatest(average_length, 1) FROM corpus_stats)) DESC, s.number, s.id
    LIMIT 1
) AS s
ORDER BY h.score DESC, h.source_id
