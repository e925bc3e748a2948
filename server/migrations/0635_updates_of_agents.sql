-- How the last attempt of a machine's agent to update itself ended; null where there was none.
alter table machines add column agent_update jsonb;
