-- SPDX-License-Identifier: Apache-2.0
-- The title leg for a named instrument: which sources carry the name. Words of the name weigh by inverse document
-- frequency among titles and openings. A word in the title counts in full, one that stands only in the opening or the
-- file name counts :opening, one found only further inside counts :body for each span, up to :body_most: a party is
-- spoken of again and again. A word that no source has is looked up by trigrams (a typing error). The best forty are then told apart by phrases and by what else their titles say.
-- Each source that carries the name comes with its best span for the topic, chosen in this statement.
WITH total AS MATERIALIZED (
    SELECT greatest(sources, 1)::float8 AS n FROM corpus_stats
),
words AS MATERIALIZED (
    SELECT w.place, w.naming, l.lexeme, i.df
    FROM unnest(%(words)s::text[], %(naming)s::boolean[]) WITH ORDINALITY AS w(word, naming, place)
    CROSS JOIN LATERAL unnest(tsvector_to_array(words_of(w.word))) AS l(lexeme)
    LEFT JOIN identity_lexemes AS i USING (lexeme)
    LIMIT %(most_words)s  -- also tells the planner that these lists are short: it would expect millions of rows
),
variants AS MATERIALIZED (
    SELECT place, naming, lexeme AS variant, 1.0::float8 AS likeness, df FROM words WHERE df IS NOT NULL
    UNION ALL
    SELECT w.place, w.naming, v.lexeme, v.likeness, v.df
    FROM words AS w
    CROSS JOIN LATERAL (
        SELECT near.lexeme, max(near.likeness) AS likeness, near.df
        FROM (
            SELECT i.lexeme, similarity(i.lexeme, w.lexeme)::float8 AS likeness, i.df
            FROM identity_lexemes AS i
            WHERE i.lexeme %% w.lexeme AND similarity(i.lexeme, w.lexeme) >= %(likeness)s
            UNION ALL
            -- Trigrams miss a slip in a short word ("pifzer"): two words are one slip apart (a letter more, less or
            -- other, or two swapped) when leaving out one letter of each, near the same place, makes them equal.
            SELECT i.lexeme, %(slip)s::float8, i.df
            FROM identity_lexemes AS i
            WHERE length(w.lexeme) < 9 AND i.lexeme >= left(w.lexeme, 1) AND i.lexeme < left(w.lexeme, 1) || chr(1114111)
              AND length(i.lexeme) BETWEEN length(w.lexeme) - 1 AND length(w.lexeme) + 1
              -- One slip leaves the beginning or the end as it is: cheap, and rules out nearly all.
              AND (left(i.lexeme, (length(w.lexeme) - 2) / 2) = left(w.lexeme, (length(w.lexeme) - 2) / 2)
                   OR right(i.lexeme, (length(w.lexeme) - 2) / 2) = right(w.lexeme, (length(w.lexeme) - 2) / 2))
              AND EXISTS (
                  SELECT FROM generate_series(1, length(w.lexeme) + 1) AS p(place)
                  CROSS JOIN LATERAL generate_series(p.place - 1, p.place + 1) AS q(place)
                  WHERE overlay(w.lexeme PLACING '' FROM p.place FOR 1)
                        = overlay(i.lexeme PLACING '' FROM greatest(q.place, 1) FOR 1)
              )
        ) AS near
        GROUP BY near.lexeme, near.df
        ORDER BY 2 DESC, 1
        LIMIT 3
    ) AS v
    WHERE w.df IS NULL AND length(w.lexeme) >= 4
),
weighted AS MATERIALIZED (
    SELECT v.place, v.naming, v.variant, v.likeness, v.likeness * ln(1 + (n - df + 0.5) / (df + 0.5)) AS weight,
           quote_literal(variant)::tsquery AS word,
           sum(df) OVER rarest AS cumulated, row_number() OVER rarest AS rarity
    FROM variants AS v CROSS JOIN total
    WINDOW rarest AS (PARTITION BY naming ORDER BY df, variant)
),
-- A word of the name that nothing resembles keeps the weight of a word unheard of, and one that is only resembled its
-- full weight: they leave the name less covered.
mass AS MATERIALIZED (
    SELECT coalesce(sum(weight) FILTER (WHERE naming), 0) AS naming
    FROM (
        SELECT w.naming, coalesce(max(v.weight / v.likeness), ln(1 + (max(n) + 0.5) / 0.5)) AS weight
        FROM words AS w CROSS JOIN total LEFT JOIN weighted AS v USING (place)
        GROUP BY w.place, w.naming
    ) AS each_word
),
-- Only words that identify bring sources in: those of the type would bring in nearly all.
probe AS (
    SELECT string_agg(word::text, '|')::tsquery AS words
    FROM weighted WHERE naming AND (cumulated <= %(rows)s OR rarity = 1)
),
hits AS (
    SELECT d.source_id, w.place, w.naming, w.weight AS carried,
           w.weight * CASE WHEN d.title_tsv @@ w.word THEN 1.0 ELSE %(opening)s END AS score
    FROM probe
    CROSS JOIN LATERAL (
        SELECT source_id, title_tsv, identity_tsv FROM sources AS d WHERE d.identity_tsv @@ probe.words {filter}
    ) AS d
    JOIN weighted AS w ON d.identity_tsv @@ w.word
    UNION ALL
    SELECT s.source_id, w.place, w.naming, s.share * w.unheard, s.share * w.unheard
    FROM (SELECT w.place, w.naming, w.lexeme, ln(1 + (n + 0.5) / 0.5) AS unheard FROM words AS w CROSS JOIN total) AS w
    JOIN span_lexemes AS l USING (lexeme)
    CROSS JOIN LATERAL (
        SELECT s.source_id, least(%(body_most)s, %(body)s * count(*)) AS share
        FROM spans AS s
        WHERE s.tsv @@ quote_literal(l.lexeme)::tsquery {filter}
        GROUP BY s.source_id
    ) AS s
    WHERE w.naming AND l.df <= %(body_rows)s
),
each_word AS (
    SELECT source_id, place, naming, max(score) AS score, max(carried) AS carried
    FROM hits GROUP BY source_id, place, naming
),
ranked AS (
    SELECT w.source_id, sum(w.score) AS score,
           CASE WHEN m.naming > 0
                THEN least(1, coalesce(sum(w.carried) FILTER (WHERE w.naming), 0) / m.naming) END AS coverage,
           m.naming
    FROM each_word AS w CROSS JOIN mass AS m
    GROUP BY w.source_id, m.naming
    ORDER BY score DESC, w.source_id
    LIMIT 40
),
kinds AS MATERIALIZED (
    SELECT string_agg('(' || words || ')', '|')::tsquery AS words, string_agg('(' || anyhow || ')', '|')::tsquery AS anyhow
    FROM (
        SELECT DISTINCT phrase_of(alias)::text AS words, all_of(alias)::text AS anyhow
        FROM unnest(%(aliases)s::text[]) AS a(alias)
        OFFSET 0  -- each alias is read once
    ) AS read
    WHERE words <> ''
),
titled AS (
    SELECT r.source_id, r.score, r.coverage, r.naming, d.identity_tsv, d.title_tsv
    FROM ranked AS r JOIN sources AS d USING (source_id)
),
named AS (
    -- A source whose title and opening speak of no such instrument is not the one named, whatever else it shares.
    SELECT t.source_id, t.coverage,
           t.identity_tsv @@ all_of(%(phrase)s)
               OR t.identity_tsv @@ (SELECT anyhow FROM kinds) AS typed,
           t.score
           + CASE WHEN t.title_tsv @@ phrase_of(%(phrase)s) THEN %(phrase_bonus)s
                  WHEN t.title_tsv @@ (SELECT words FROM kinds) THEN %(alias_bonus)s ELSE 0 END
           + %(pair_bonus)s * t.naming * coalesce((
                 SELECT avg((t.identity_tsv @@ phrase_of(p.pair))::int)
                 FROM unnest(%(pairs)s::text[]) AS p(pair)), 0)
           - %(excess)s * least(t.score, coalesce((
                 SELECT sum(ln(1 + (n - i.df + 0.5) / (i.df + 0.5)))
                 FROM unnest(tsvector_to_array(t.title_tsv)) AS x(lexeme) JOIN identity_lexemes AS i USING (lexeme)
                 CROSS JOIN total
                 WHERE x.lexeme <> ALL (ARRAY(SELECT variant FROM weighted))), 0)) AS score
    FROM titled AS t
    ORDER BY score DESC, t.source_id
    LIMIT %(limit)s
),
-- Who carries the name: the best source of the type that holds enough of it, and those that come near.
judged AS (
    SELECT n.*, n.able AND n.score >= max(n.score) FILTER (WHERE n.able) OVER () * (1 - %(margin)s::float8) AS carries
    FROM (SELECT n.*, n.typed AND coalesce(n.coverage, 0) >= %(min_coverage)s AS able FROM named AS n) AS n
),
topic AS MATERIALIZED (
    SELECT ln(1 + (c.spans - l.df + 0.5) / (l.df + 0.5)) AS idf, quote_literal(l.lexeme)::tsquery AS word
    FROM unnest(tsvector_to_array(words_of(%(topic)s))) AS w(lexeme)
    JOIN span_lexemes AS l USING (lexeme) CROSS JOIN corpus_stats AS c
    ORDER BY l.df, l.lexeme
    LIMIT %(topic_words)s
)
SELECT {columns}, h.source_id AS source, h.score, h.coverage, h.typed, h.carries
FROM judged AS h
LEFT JOIN LATERAL (
    SELECT s.*
    FROM spans AS s
    WHERE h.carries AND s.source_id = h.source_id
    ORDER BY (SELECT coalesce(sum(t.idf * ts_rank(%(weights)s::real[], s.tsv, t.word)), 0) FROM topic AS t)
                 / (0.7::float8 + 0.3::float8 * s.length / (SELECT greatest(average_length, 1) FROM corpus_stats)) DESC, s.number, s.id
    LIMIT 1
) AS s ON true
ORDER BY h.score DESC, h.source_id
