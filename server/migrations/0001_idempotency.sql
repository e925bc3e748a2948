-- The answer to a request that carried an Idempotency-Key, committed together with its effect.
-- `response` is sealed with a key derived from the caller's own secret, because answers may hold secrets.
create table idempotency_keys (
  api_key_id integer not null,
  key text not null check (length(key) between 1 and 255),
  request_sha256 bytea not null,
  response bytea,
  created_at timestamptz not null,
  primary key (api_key_id, key)
);

create index idempotency_keys_created_at on idempotency_keys (created_at);
