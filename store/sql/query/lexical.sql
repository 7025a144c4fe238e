-- SPDX-License-Identifier: Apache-2.0
-- The lexical leg. PostgreSQL has no inverse document frequency, so frequencies are kept in span_lexemes. Rows are
-- fetched for the rarest words of the query until their frequencies add up to :rows; all words then score each row:
-- sum(idf * ts_rank) damped by length, close to BM25 (Robertson and Zaragoza, 2009) at a tenth of its cost in SQL.
WITH terms AS MATERIALIZED (
    SELECT l.lexeme, l.df,
           ln(1 + (c.spans - l.df + 0.5) / (l.df + 0.5)) AS idf,
           quote_literal(l.lexeme)::tsquery AS word,
           sum(l.df) OVER rarest AS cumulated,
           row_number() OVER rarest AS place
    FROM unnest(tsvector_to_array(words_of(%(query)s))) AS w(lexeme)
    JOIN span_lexemes AS l USING (lexeme)
    CROSS JOIN corpus_stats AS c
    WINDOW rarest AS (ORDER BY l.df, l.lexeme)
),
probe AS (
    SELECT string_agg(word::text, '|')::tsquery AS words
    FROM terms WHERE (cumulated <= %(rows)s OR place = 1) AND place <= %(words)s
),
scored AS (
    SELECT s.id,
           (SELECT sum(t.idf * ts_rank(%(weights)s::real[], s.tsv, t.word)) FROM terms AS t WHERE t.place <= %(words)s)
               / (0.7::float8 + 0.3::float8 * s.length / (SELECT greatest(average_length, 1) FROM corpus_stats)) AS score
    FROM probe CROSS JOIN spans AS s
    WHERE s.tsv @@ probe.words {filter}
    ORDER BY score DESC, s.id
    LIMIT %(limit)s
)
SELECT {columns}, h.score
FROM scored AS h
JOIN spans AS s USING (id)
ORDER BY h.score DESC, s.id
