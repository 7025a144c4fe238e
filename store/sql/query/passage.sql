-- SPDX-License-Identifier: Apache-2.0
-- A span with what its source says at its locator, and what stands around it: up to the ends of its parent, or so many
-- characters of the source on each side.
SELECT {columns}, substr(d.text, a.first + 1, s.start_offset - a.first) AS before,
       substr(d.text, s.start_offset + 1, s.end_offset - s.start_offset) AS there,
       substr(d.text, s.end_offset + 1, a.last - s.end_offset) AS after
FROM (SELECT * FROM spans WHERE id = %(id)s {filter}) AS s
JOIN sources AS d USING (source_id)
CROSS JOIN LATERAL (
    SELECT least(coalesce(s.parent_start, greatest(s.start_offset - %(margin)s, 0)), s.start_offset) AS first,
           greatest(coalesce(s.parent_end, s.end_offset + %(margin)s), s.end_offset) AS last
) AS a
