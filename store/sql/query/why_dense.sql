-- SPDX-License-Identifier: Apache-2.0
-- The true rank of some spans in the dense leg: every vector is compared, so no index decides what is seen.
WITH best AS (
    SELECT s.id, {vector} <=> %(embedding)s::vector AS distance
    FROM spans AS s
    WHERE s.id = ANY (%(ids)s) AND {comparable}
      {filter}
    ORDER BY distance, s.id
    LIMIT 1
)
SELECT b.id, 1 - b.distance AS score, 1 + (
    SELECT count(*)
    FROM spans AS s
    WHERE ({vector} <=> %(embedding)s::vector, s.id) < (b.distance, b.id)
      AND {comparable}
      {filter}
) AS rank
FROM best AS b
