-- no-transaction
-- The open sessions that a key opened: the end of each key asks.
drop index concurrently if exists api_keys_opened_by_key_id;
create index concurrently api_keys_opened_by_key_id on api_keys (opened_by_key_id)
  where opened_by_key_id is not null and deleted_at is null;
