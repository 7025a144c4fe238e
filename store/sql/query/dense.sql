-- SPDX-License-Identifier: Apache-2.0
-- The dense leg: nearest spans by cosine distance. The index orders by distance alone, so ties are broken outside.
SELECT {columns}, 1 - h.distance AS score
FROM (
    SELECT s.id, {vector} <=> %(embedding)s::vector AS distance
    FROM spans AS s
    WHERE {comparable}
      {filter}
    ORDER BY {vector} <=> %(embedding)s::vector
    LIMIT %(limit)s
) AS h
JOIN spans AS s USING (id)
ORDER BY h.distance, s.id
