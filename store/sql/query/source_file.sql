-- SPDX-License-Identifier: Apache-2.0
-- The file that a span's source was read from: where it was then, and the hash of its bytes.
SELECT d.source_id, d.title, d.media_type, d.meta ->> '_path' AS path, d.meta ->> '_sha256' AS sha256, s.page, s.content
FROM (SELECT * FROM spans WHERE id = %(id)s {filter}) AS s
JOIN sources AS d USING (source_id)
