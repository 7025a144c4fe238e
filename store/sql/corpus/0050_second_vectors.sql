-- SPDX-License-Identifier: Apache-2.0
-- A second set of vectors beside the one that the corpus is for, while its embedder changes (S3): first the new ones,
-- filled while searches go on; after the switch, when the two pairs of columns have changed names, the old ones.
-- `embedding` and `embedding_fingerprint` are always those of the embedder that the corpus is for.
-- `beside_fingerprint` stands only at a fresh vector; one whose text or embedded metadata changed has none.
ALTER TABLE {schema}.spans
    ADD COLUMN embedding_beside {vector_schema}.vector({dimension}),
    ADD COLUMN beside_fingerprint text;

-- The embedder of the second set, the metadata that it embeds, and whether it is the one from before a switch.
ALTER TABLE {schema}.settings
    ADD COLUMN beside_fingerprint text,
    ADD COLUMN beside_meta text[] NOT NULL DEFAULT '{{}}',
    ADD COLUMN beside_old boolean NOT NULL DEFAULT false;

-- As before, but a vector of either set makes a span searchable: what is written while the embedder changes has one.
CREATE OR REPLACE FUNCTION {schema}.span_fill() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    source record;
    stands boolean := true;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.source_id IS NULL THEN
            NEW := {schema}.span_adopt(NEW);
            IF NEW.kind = 'rule' THEN
                NEW.statement := coalesce(NEW.statement, NEW.meta ->> 'statement');
                NEW.quote := coalesce(NEW.quote, NEW.content);
            END IF;
        END IF;
        NEW.content_hash := CASE WHEN NEW.embedding IS NOT NULL
                                 THEN md5({schema}.embedded_text(NEW.statement, NEW.content)) END;
    ELSE
        IF (NEW.embedding IS NULL) <> (OLD.embedding IS NULL)
           OR NEW.embedding OPERATOR({vector_schema}.<>) OLD.embedding
           OR NEW.embedding_fingerprint IS DISTINCT FROM OLD.embedding_fingerprint THEN
            NEW.content_hash := CASE WHEN NEW.embedding IS NOT NULL
                                     THEN md5({schema}.embedded_text(NEW.statement, NEW.content)) END;
        END IF;
        IF NEW.content IS DISTINCT FROM OLD.content AND NEW.start_offset IS NOT DISTINCT FROM OLD.start_offset THEN
            NEW := {schema}.span_rewrite(NEW, OLD.content);
        END IF;
        -- What was approved is this wording; another one waits for its own review.
        IF (NEW.statement, NEW.content) IS DISTINCT FROM (OLD.statement, OLD.content)
           AND NEW.review_status IS NOT DISTINCT FROM OLD.review_status THEN
            NEW.review_status := NULL;
        END IF;
    END IF;
    NEW.review_status := CASE WHEN NEW.kind = 'rule' THEN coalesce(NEW.review_status, 'pending') END;
    SELECT s.visible_to, s.searchable, s.text_length, c.span_kinds,
           CASE NEW.kind WHEN 'rule' THEN c.minimum_rule_characters ELSE c.minimum_characters END AS minimum_characters
    INTO source
    FROM {schema}.sources AS s CROSS JOIN {schema}.settings AS c WHERE s.source_id = NEW.source_id;
    IF NEW.kind = 'rule' THEN
        SELECT NEW.quote = NEW.content AND btrim(NEW.statement) <> ''
               AND substr(text, NEW.start_offset + 1, NEW.end_offset - NEW.start_offset) = NEW.content
        INTO stands FROM {schema}.sources
        WHERE source_id = NEW.source_id AND NEW.start_offset >= 0 AND NEW.end_offset >= NEW.start_offset;
    END IF;
    NEW.visible_to := coalesce(source.visible_to, '{{}}');
    NEW.searchable := coalesce(
        source.searchable
        AND NEW.kind = ANY (source.span_kinds)
        AND (NEW.embedding IS NOT NULL OR NEW.embedding_beside IS NOT NULL)
        AND NEW.start_offset >= 0 AND NEW.start_offset < NEW.end_offset AND NEW.end_offset <= source.text_length
        AND (NEW.kind <> 'rule' OR (NEW.review_status = 'approved' AND stands))
        AND (NEW.kind = 'page_image' OR char_length(btrim(NEW.content, E' \t\r\n\f')) >= source.minimum_characters),
        false
    );
    RETURN NEW;
END
$body$;

-- What makes a vector beside stale: as span_stale, with the metadata of its own embedder. A vector that this very
-- statement brings is fresh. Runs before span_fill and span_stale (triggers go by name). Without a WHEN, which would
-- hold on to a column whatever its name.
CREATE FUNCTION {schema}.span_beside() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF NEW.beside_fingerprint IS NOT NULL AND NEW.beside_fingerprint IS NOT DISTINCT FROM OLD.beside_fingerprint
       AND coalesce(NEW.embedding_beside OPERATOR({vector_schema}.=) OLD.embedding_beside, false)
       AND (
           (NEW.statement, NEW.content) IS DISTINCT FROM (OLD.statement, OLD.content)
           OR EXISTS (
               SELECT FROM {schema}.settings AS c CROSS JOIN unnest(c.beside_meta) AS key
               WHERE NEW.meta -> key IS DISTINCT FROM OLD.meta -> key
                  OR (key = 'section' AND NEW.section IS DISTINCT FROM OLD.section)
           )
       ) THEN
        NEW.beside_fingerprint := NULL;
    END IF;
    RETURN NEW;
END
$body$;
CREATE TRIGGER span_beside BEFORE UPDATE ON {schema}.spans
    FOR EACH ROW EXECUTE FUNCTION {schema}.span_beside();

-- What stock Haystack components read. A vector shows only where it may be compared with that of a query: fresh, and of
-- the embedder that the corpus is for. An expression cannot be looked up in the vector index, so the stock embedding
-- retriever reads `fresh_documents`. The switch calls this again: a view holds on to a column, whatever its name. The
-- type of a vector is left open, since a view may not change that of a column.
CREATE FUNCTION {schema}.make_views() RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
    CREATE OR REPLACE VIEW {schema}.documents WITH (security_invoker = true) AS
        SELECT id,
            (CASE WHEN NOT stale AND embedding_fingerprint IS NOT DISTINCT FROM
                (SELECT c.embedding_fingerprint FROM {schema}.settings AS c) THEN embedding END)::{vector_schema}.vector
            AS embedding,
            content, blob_data, blob_meta, blob_mime_type, meta
        FROM {schema}.spans;
    CREATE OR REPLACE VIEW {schema}.fresh_documents WITH (security_invoker = true) AS
        SELECT id, embedding::{vector_schema}.vector AS embedding, content, blob_data, blob_meta, blob_mime_type, meta
        FROM {schema}.spans
        WHERE NOT stale AND embedding_fingerprint IS NOT DISTINCT FROM
            (SELECT c.embedding_fingerprint FROM {schema}.settings AS c);
END
$body$;
DROP VIEW {schema}.documents;
SELECT {schema}.make_views();
GRANT SELECT ON {schema}.documents, {schema}.fresh_documents TO {reader};
ALTER VIEW {schema}.documents OWNER TO {writer};
ALTER VIEW {schema}.fresh_documents OWNER TO {writer};

REVOKE EXECUTE ON FUNCTION {schema}.span_beside(), {schema}.make_views() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {schema}.span_beside(), {schema}.make_views() TO {writer};
