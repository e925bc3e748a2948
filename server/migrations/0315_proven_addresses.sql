-- The public address that a machine answered at when the server called it back: for hosts whose connection comes from
-- another address. It counts for the connection on which it was proven; each new one proves it again.
alter table machines add column proven_address text;
-- Calls to the address that a machine names, in the hour that began then: a host cannot make the server call others often.
alter table machines add column address_calls_since_at timestamptz;
alter table machines add column address_call_count integer not null default 0 check (address_call_count >= 0);
