-- The last use of each session, as its person sees it in the list. Browser and system are words of ours, not the header.
create table session_uses (
  session_id integer primary key references api_keys (id),
  ip_address text not null,
  browser text,
  system text,
  last_used_at timestamptz not null
);
