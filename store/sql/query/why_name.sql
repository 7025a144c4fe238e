-- SPDX-License-Identifier: Apache-2.0
-- The words of a name, and where a source has them: in its title, its opening, or only further inside.
SELECT w.word, w.naming,
       bool_and(d.identity_tsv @@ (quote_literal(l.lexeme) || ':A')::tsquery) AS in_title,
       bool_and(d.identity_tsv @@ quote_literal(l.lexeme)::tsquery) AS in_opening,
       bool_and(EXISTS (
           SELECT FROM spans AS s WHERE s.source_id = d.source_id AND s.tsv @@ quote_literal(l.lexeme)::tsquery
       )) AS inside
FROM unnest(%(words)s::text[], %(naming)s::boolean[]) WITH ORDINALITY AS w(word, naming, place)
CROSS JOIN LATERAL unnest(tsvector_to_array(words_of(w.word))) AS l(lexeme)
CROSS JOIN sources AS d
WHERE d.source_id = %(source)s
GROUP BY w.place, w.word, w.naming
ORDER BY w.place
