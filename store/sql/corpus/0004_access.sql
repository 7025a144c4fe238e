-- SPDX-License-Identifier: Apache-2.0
-- Who sees what (C3). The reader sees what is searchable and shared with one of the groups of the principal; without
-- `pincite.groups` the query fails. The setting is compared directly, not by a sub-select: only so does the planner
-- know how many rows to expect, and choose the vector index for those who see all.
ALTER TABLE {schema}.sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE {schema}.spans ENABLE ROW LEVEL SECURITY;

CREATE POLICY reader ON {schema}.sources FOR SELECT TO {reader}
    USING (searchable AND visible_to && current_setting('pincite.groups')::text[]);
CREATE POLICY reader ON {schema}.spans FOR SELECT TO {reader}
    USING (searchable AND visible_to && current_setting('pincite.groups')::text[]);

-- The seven columns that stock Haystack components read and write.
CREATE VIEW {schema}.documents WITH (security_invoker = true) AS
    SELECT id, embedding, content, blob_data, blob_meta, blob_mime_type, meta FROM {schema}.spans;

GRANT SELECT ON {schema}.sources, {schema}.spans, {schema}.documents, {schema}.span_lexemes,
    {schema}.identity_lexemes, {schema}.corpus_stats, {schema}.settings TO {reader};
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {writer};

-- The writer owns its tables: so it may COPY (refused below a policy, from which an owner is exempt), build indexes and
-- gather statistics, and ingestion never needs the rights of an administrator.
GRANT CREATE ON SCHEMA {schema} TO {writer};
ALTER TABLE {schema}.sources OWNER TO {writer};
ALTER TABLE {schema}.spans OWNER TO {writer};
ALTER TABLE {schema}.span_lexemes OWNER TO {writer};
ALTER TABLE {schema}.identity_lexemes OWNER TO {writer};
ALTER TABLE {schema}.corpus_stats OWNER TO {writer};
ALTER TABLE {schema}.settings OWNER TO {writer};
ALTER VIEW {schema}.documents OWNER TO {writer};
