-- Messages of administrators that the console shows to everybody, or to hosts or renters, for a while.
create table announcements (
  id integer generated always as identity primary key,
  title text not null check (length(title) between 1 and 120),
  message text not null check (length(message) between 1 and 2000),
  level text not null check (level in ('info', 'warning')),
  audience text not null check (audience in ('everyone', 'hosts', 'renters')),
  from_at timestamptz not null,
  -- Null while it has no end.
  until_at timestamptz,
  created_by integer not null references users (id),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint announcements_span check (until_at is null or until_at > from_at)
);
create index announcements_shown on announcements (from_at);
