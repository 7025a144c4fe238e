-- SPDX-License-Identifier: Apache-2.0
-- A source as this principal sees it: its title, its spans, and how many of them a filter lets pass.
SELECT d.source_id, d.title, similarity(d.plain_title, plain_of(%(query)s)) AS likeness,
       ARRAY (SELECT s.id FROM spans AS s WHERE s.source_id = d.source_id ORDER BY s.kind, s.number) AS ids,
       (SELECT count(*) FROM spans AS s WHERE s.source_id = %(source)s {filter}) AS passing,
       (SELECT count(*) FROM spans) AS everything
FROM sources AS d
WHERE d.source_id = %(source)s
