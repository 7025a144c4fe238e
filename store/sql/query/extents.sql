-- SPDX-License-Identifier: Apache-2.0
-- Best extents: inside each of a few sources, the spans that answer the topic best, ranked by words and by vectors
-- within that source and fused by reciprocal rank. One statement for all sources: a ranking over all of them together
-- would let the wordiest source push the others out.
WITH terms AS MATERIALIZED (
    SELECT ln(1 + (c.spans - l.df + 0.5) / (l.df + 0.5)) AS idf, quote_literal(l.lexeme)::tsquery AS word
    FROM unnest(tsvector_to_array(words_of(%(query)s))) AS w(lexeme)
    JOIN span_lexemes AS l USING (lexeme)
    CROSS JOIN corpus_stats AS c
    ORDER BY l.df, l.lexeme
    LIMIT %(words)s
),
scored AS (
    SELECT s.id, s.source_id, s.number,
           (SELECT coalesce(sum(t.idf * ts_rank(%(weights)s::real[], s.tsv, t.word)), 0) FROM terms AS t)
               / (0.7::float8 + 0.3::float8 * s.length / (SELECT greatest(average_length, 1) FROM corpus_stats)) AS words,
           CASE WHEN {comparable} THEN s.embedding <=> %(embedding)s::vector
                WHEN s.beside_fingerprint = %(fingerprint)s THEN s.embedding_beside <=> %(embedding)s::vector
           END AS distance
    FROM spans AS s
    WHERE s.source_id = ANY (%(sources)s)
),
ranked AS (
    SELECT id, source_id, number, words, distance,
           row_number() OVER (PARTITION BY source_id ORDER BY words DESC, number, id) AS word_rank,
           row_number() OVER (PARTITION BY source_id ORDER BY distance NULLS LAST, number, id) AS vector_rank
    FROM scored
),
fused AS (
    SELECT id, source_id, number,
           CASE WHEN words > 0 THEN %(lexical_weight)s / (%(k)s + word_rank) ELSE 0 END
               + CASE WHEN distance IS NOT NULL THEN %(dense_weight)s / (%(k)s + vector_rank) ELSE 0 END AS score
    FROM ranked
),
best AS (
    SELECT id, row_number() OVER (PARTITION BY source_id ORDER BY score DESC, number, id) AS extent_rank
    FROM fused WHERE score > 0
)
SELECT {columns}, b.extent_rank
FROM best AS b
JOIN spans AS s USING (id)
WHERE b.extent_rank <= %(limit)s
ORDER BY array_position(%(sources)s, s.source_id), b.extent_rank
