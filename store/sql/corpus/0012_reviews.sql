-- SPDX-License-Identifier: Apache-2.0
-- A review by hand outlives the next ingestion: it stands with the source, under a hash of the rule's wording, and holds
-- until the sidecar itself changes its mind about that rule. Runs before span_fill (triggers go by name).
CREATE FUNCTION {schema}.rule_key(statement text, quote text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN md5(coalesce(statement, '') || E'\x1f' || coalesce(quote, ''));

CREATE FUNCTION {schema}.span_a_review() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    review jsonb := (
        SELECT meta -> '_reviews' -> {schema}.rule_key(NEW.statement, NEW.quote)
        FROM {schema}.sources WHERE source_id = NEW.source_id
    );
BEGIN
    IF review ->> 'over' = coalesce(NEW.review_status, 'pending') THEN
        NEW.review_status := review ->> 'status';
    END IF;
    RETURN NEW;
END
$body$;
CREATE TRIGGER span_a_review BEFORE INSERT ON {schema}.spans
    FOR EACH ROW WHEN (NEW.kind = 'rule' AND NEW.source_id IS NOT NULL) EXECUTE FUNCTION {schema}.span_a_review();
REVOKE EXECUTE ON FUNCTION {schema}.rule_key(text, text), {schema}.span_a_review() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {schema}.rule_key(text, text), {schema}.span_a_review() TO {writer};
