-- SPDX-License-Identifier: Apache-2.0
-- Why a source or a span is not searchable (S1). Runs as the owner of the tables, whom no policy restrains: only for a
-- principal who sees all.
SELECT d.source_id, d.title, d.status, d.searchable, c.minimum_characters, c.source_kind,
       d.meta ->> 'source_kind' AS own_kind,
       ARRAY (
           SELECT key FROM unnest(c.required_meta) AS key WHERE coalesce(d.meta ->> key, '') IN ('', '[]', '{{}}')
       ) AS missing,
       f.spans, f.searchable AS searchable_spans, f.no_embedding, f.no_locator, f.not_approved, f.no_quote,
       f.wrong_kind, f.short
FROM sources AS d
CROSS JOIN settings AS c
CROSS JOIN LATERAL (
    SELECT count(*) AS spans,
           count(*) FILTER (WHERE s.searchable) AS searchable,
           count(*) FILTER (WHERE s.embedding IS NULL AND s.embedding_beside IS NULL) AS no_embedding,
           count(*) FILTER (
               WHERE NOT coalesce(
                   s.start_offset >= 0 AND s.start_offset < s.end_offset AND s.end_offset <= d.text_length, false
               )
           ) AS no_locator,
           count(*) FILTER (WHERE s.kind = 'rule' AND s.review_status <> 'approved') AS not_approved,
           count(*) FILTER (WHERE s.kind = 'rule' AND coalesce(s.quote, '') = '') AS no_quote,
           count(*) FILTER (WHERE NOT s.kind = ANY (c.span_kinds)) AS wrong_kind,
           count(*) FILTER (
               WHERE s.kind <> 'page_image'
                 AND char_length(btrim(coalesce(s.content, ''), E' \t\r\n\f'))
                     < CASE s.kind WHEN 'rule' THEN c.minimum_rule_characters ELSE c.minimum_characters END
           ) AS short
    FROM spans AS s
    WHERE s.source_id = d.source_id AND (%(span)s::text IS NULL OR s.id = %(span)s)
) AS f
WHERE d.source_id = %(source)s
