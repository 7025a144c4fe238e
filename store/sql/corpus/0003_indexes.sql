-- SPDX-License-Identifier: Apache-2.0
-- The two expensive indexes (spans_embedding, spans_tsv) are defined in source_writer.py, which drops them before a bulk
-- load and builds them again; `init` and `ingest` make whichever is missing.
CREATE INDEX spans_source ON {schema}.spans (source_id, kind, number);
CREATE INDEX spans_visible_to ON {schema}.spans USING gin (visible_to);
CREATE INDEX sources_visible_to ON {schema}.sources USING gin (visible_to);
CREATE INDEX sources_identity ON {schema}.sources USING gin (identity_tsv);
CREATE INDEX sources_title_trigram ON {schema}.sources USING gin (title {trigram_schema}.gin_trgm_ops);
