-- no-transaction
-- Whose connections end with a server.
drop index concurrently if exists machines_server;
create index concurrently machines_server on machines (server_id) where server_id is not null;
