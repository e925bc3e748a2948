-- Searches for offers that people keep. In a team each member has their own: member_id is theirs, and 0 stands for the
-- account's own person.
create table saved_searches (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  member_id integer not null default 0,
  name text not null check (name <> ''),
  query text not null,
  columns text[] not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (user_id, member_id, name)
);
