-- no-transaction
-- What is to be stopped is looked for among frozen accounts, which are few.
drop index concurrently if exists users_frozen;
create index concurrently users_frozen on users (freeze_id) where freeze_id is not null;
