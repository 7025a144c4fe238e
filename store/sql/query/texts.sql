-- SPDX-License-Identifier: Apache-2.0
-- The stretch of each source that holds its spans among :ids, and their offsets in the source (S2).
SELECT w.ids, w.starts, w.ends, w.first, substr(d.text, w.first + 1, w.last - w.first) AS text
FROM (
    SELECT s.source_id, array_agg(s.id) AS ids, array_agg(s.start_offset) AS starts, array_agg(s.end_offset) AS ends,
           min(s.start_offset) AS first, max(s.end_offset) AS last
    FROM spans AS s
    WHERE s.id = ANY (%(ids)s) AND s.start_offset IS NOT NULL AND s.end_offset IS NOT NULL
    GROUP BY s.source_id
) AS w
JOIN sources AS d USING (source_id)
