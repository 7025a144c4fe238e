-- SPDX-License-Identifier: Apache-2.0
-- A stock writer that overwrites a document changes the text of the source made for it (span_rewrite). That must not
-- come back to the spans: PostgreSQL refuses to change a row that is being changed by the statement at hand.
DROP TRIGGER source_spread ON {schema}.sources;
CREATE TRIGGER source_spread AFTER UPDATE ON {schema}.sources FOR EACH ROW
    WHEN (
        (OLD.searchable, OLD.groups, OLD.meta, OLD.title) IS DISTINCT FROM
        (NEW.searchable, NEW.groups, NEW.meta, NEW.title)
        OR (OLD.text_length > NEW.text_length
            AND NEW.media_type IS DISTINCT FROM 'application/x-haystack-document')
    )
    EXECUTE FUNCTION {schema}.source_spread();
