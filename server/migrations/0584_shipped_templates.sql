-- Templates that come with the server: what it last wrote into each, so that a later version updates only those which
-- nobody has edited. A deleted one keeps its row and does not come back.
create table shipped_templates (
  key text primary key check (length(key) between 1 and 64),
  template_id integer not null unique references templates (id),
  hash_id text not null check (hash_id ~ '^[0-9a-f]{32}$'),
  -- Servers of an older version leave a newer content alone.
  revision integer not null check (revision > 0)
);
