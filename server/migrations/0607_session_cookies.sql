-- Values of the cookies of sessions. The browser keeps a first part for good; a second part follows from it and a salt, and
-- changes. A session without a row has its first value, which is the first part alone.
create table session_cookies (
  session_id integer primary key references api_keys (id),
  -- The salt of the present value and of the one before; null for the first value.
  salt bytea,
  previous_salt bytea,
  renewed_at timestamptz not null,
  -- The time at which the browser first sent the present value; until then the one before counts, too.
  confirmed_at timestamptz,
  -- True when the session has gained rights since, so that its next request gets another value.
  is_due boolean not null default false
);

create function notify_session_cookie_due() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_keys_changed', 'key:' || new.session_id);
  return null;
end
$$;

create trigger session_cookie_due after insert or update of is_due on session_cookies
  for each row when (new.is_due) execute function notify_session_cookie_due();
