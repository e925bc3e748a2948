-- no-transaction
-- Accounts whose password hash is of the version before: each sign-in asks whether there are some.
drop index concurrently if exists users_old_password_hash;
create index concurrently users_old_password_hash on users (id) where password_hash like 'scrypt$%';
