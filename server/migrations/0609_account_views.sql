-- Looks of administrators at the console as another account. The session of the administrator's browser reads as that account
-- until the browser leaves the view; `ended_at` is the time from which it shows nothing any more.
create table account_views (
  id integer generated always as identity primary key,
  session_id integer not null references api_keys (id),
  admin_id integer not null references users (id),
  user_id integer not null references users (id),
  reason text not null check (length(reason) between 1 and 500),
  ip_address text not null,
  began_at timestamptz not null,
  ends_at timestamptz not null,
  ended_at timestamptz,
  left_at timestamptz,
  constraint account_views_others check (admin_id <> user_id),
  constraint account_views_span check (ends_at > began_at)
);

-- One view at a time.
create unique index account_views_session_id on account_views (session_id) where left_at is null;
-- Views that the loop ends.
create index account_views_open on account_views (ends_at) where ended_at is null;

create function notify_account_view_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_keys_changed', 'key:' || new.session_id);
  return null;
end
$$;

create trigger account_view_changed after insert or update of left_at on account_views
  for each row execute function notify_account_view_changed();
