-- What a user is told, once each, in the transaction that gives the reason. Channels deliver it afterwards.
create table notices (
  id bigint generated always as identity primary key,
  user_id integer not null references users (id),
  -- `client` or `host`, and what it is about: client:low_credit.
  kind text not null constraint notices_kind check (kind ~ '^(client|host):[a-z0-9_]{1,60}$'),
  subject text not null constraint notices_subject check (length(subject) between 1 and 200),
  message text not null constraint notices_message check (length(message) between 1 and 4000),
  -- Made from what it is about, so that a repetition tells nothing twice.
  key text not null constraint notices_key check (length(key) between 1 and 200),
  created_at timestamptz not null
);

create unique index notices_once on notices (user_id, key);
create index notices_user on notices (user_id, id);
