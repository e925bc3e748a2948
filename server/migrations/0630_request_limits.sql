-- What callers have used of their limits of requests, for all servers together. The rows are worth nothing after a crash, so
-- they are not journaled.
create unlogged table request_limits (
  bucket bytea primary key,
  empty_at timestamptz not null
);
