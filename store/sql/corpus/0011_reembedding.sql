-- SPDX-License-Identifier: Apache-2.0
-- How far a re-embedding of every span has come: the id of the last one done, so that a run that was killed goes on.
ALTER TABLE {schema}.settings ADD COLUMN reembedded_up_to text;
