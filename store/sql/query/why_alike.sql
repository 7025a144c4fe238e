-- SPDX-License-Identifier: Apache-2.0
-- Sources that this principal sees and whose ids resemble one that is not there.
SELECT d.source_id FROM sources AS d
WHERE similarity(d.source_id, %(source)s) >= 0.3
ORDER BY similarity(d.source_id, %(source)s) DESC, d.source_id
LIMIT 3
