-- SPDX-License-Identifier: Apache-2.0
-- The words of the title by themselves: the title leg asks them of some hundred sources a search, and `identity_tsv`
-- holds those of a whole opening besides.
ALTER TABLE {schema}.sources ADD COLUMN title_tsv tsvector
    GENERATED ALWAYS AS ({schema}.words_of(left(title, 2000))) STORED;
