-- SPDX-License-Identifier: Apache-2.0
-- Staleness (S3): which embedder the corpus is for, which metadata it embeds, and what makes a vector stale.
ALTER TABLE {schema}.settings
    ADD COLUMN embedding_fingerprint text,
    ADD COLUMN embedded_meta text[] NOT NULL DEFAULT '{{}}';

-- Changes of a source reach its spans, except what only the program writes down for itself (keys that begin with '_')
-- and what a span says of its own place.
CREATE OR REPLACE FUNCTION {schema}.source_spread() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    own CONSTANT text[] := '{{source_id,kind,start,end,page,page_end,section,quote,statement}}';
BEGIN
    UPDATE {schema}.spans AS span
    SET meta = (coalesce(span.meta, '{{}}') - ARRAY(
                    SELECT key FROM jsonb_object_keys(OLD.meta) AS key WHERE NOT key = ANY (own)))
               || (SELECT coalesce(jsonb_object_agg(key, value), '{{}}') FROM jsonb_each(NEW.meta)
                   WHERE NOT starts_with(key, '_') AND NOT key = ANY (own))
               || jsonb_build_object('title', NEW.title)
    WHERE span.source_id = NEW.source_id;
    RETURN NULL;
END
$body$;
-- What earlier changes of sources brought there.
UPDATE {schema}.spans AS span
SET meta = meta - ARRAY(SELECT key FROM jsonb_object_keys(meta) AS key WHERE starts_with(key, '_'))
WHERE EXISTS (SELECT FROM jsonb_object_keys(meta) AS key WHERE starts_with(key, '_'));

-- A vector that was made with other metadata is stale like one of other content; `stale` compares `content_hash`, which
-- no content has when it is null. A stock writer says by a key in the metadata which embedder it used. Runs after
-- span_fill (triggers go by name).
CREATE FUNCTION {schema}.span_stale() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    same boolean;
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.embedding IS NOT NULL THEN
            NEW.embedding_fingerprint := coalesce(NEW.embedding_fingerprint, NEW.meta ->> 'embedding_fingerprint');
        END IF;
        RETURN NEW;
    END IF;
    same := (NEW.embedding IS NULL) = (OLD.embedding IS NULL)
        AND coalesce(NEW.embedding OPERATOR({vector_schema}.=) OLD.embedding, true)
        AND NEW.embedding_fingerprint IS NOT DISTINCT FROM OLD.embedding_fingerprint;
    IF same AND NEW.content_hash IS NOT DISTINCT FROM OLD.content_hash AND EXISTS (
        SELECT FROM {schema}.settings AS c CROSS JOIN unnest(c.embedded_meta) AS key
        WHERE NEW.meta -> key IS DISTINCT FROM OLD.meta -> key
           OR (key = 'section' AND NEW.section IS DISTINCT FROM OLD.section)
    ) THEN
        NEW.content_hash := NULL;
    ELSIF NOT same AND NEW.embedding_fingerprint IS NOT DISTINCT FROM OLD.embedding_fingerprint THEN
        NEW.embedding_fingerprint := coalesce(NEW.meta ->> 'embedding_fingerprint', NEW.embedding_fingerprint);
    END IF;
    RETURN NEW;
END
$body$;
CREATE TRIGGER span_stale BEFORE INSERT OR UPDATE ON {schema}.spans
    FOR EACH ROW EXECUTE FUNCTION {schema}.span_stale();
REVOKE EXECUTE ON FUNCTION {schema}.span_stale() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {schema}.span_stale() TO {writer};

-- The dense leg asks for one fingerprint: without statistics the planner takes it for a rare one, and sorts.
ANALYZE {schema}.spans (embedding_fingerprint);
