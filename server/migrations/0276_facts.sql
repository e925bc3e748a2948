-- Who moved money, when, why and by which request: one fact for each movement that is no charge of usage, and for what
-- decides about money (caps, payouts, holds on them, freezes, invoices, the audit log). The facts of a transaction are one
-- link of a chain: its hash goes over them and over the hash of the link before, and the server signs it.
create table fact_links (
  number bigint primary key check (number > 0),
  made_at timestamptz not null,
  fact_count integer not null check (fact_count > 0),
  sha256 text not null check (length(sha256) = 64),
  -- Ed25519, by a key that follows from the server's secret.
  signature text not null check (length(signature) between 80 and 100)
);
create index fact_links_made_at on fact_links (made_at);

create table facts (
  -- No foreign key: it would cost more than the row. The audit looks for facts without a link.
  link_number bigint not null,
  position integer not null check (position > 0),
  kind text not null check (kind ~ '^[a-z_]{1,40}$'),
  -- The id of the row that the fact is about.
  subject text not null check (length(subject) between 1 and 200),
  -- One line of JSON, exactly as it was hashed.
  text text not null,
  primary key (link_number, position)
);
-- What holds now is what the last fact of a subject says. Transfers and audit events have one fact each, and are many.
create index facts_subject on facts (kind, subject, link_number)
  where kind not in ('transfer', 'audit_event');

create trigger fact_links_append_only before update or delete on fact_links
  for each row execute function ledger_refuse_change();
create trigger fact_links_no_truncate before truncate on fact_links
  for each statement execute function ledger_refuse_change();
create trigger facts_append_only before update or delete on facts
  for each row execute function ledger_refuse_change();
create trigger facts_no_truncate before truncate on facts
  for each statement execute function ledger_refuse_change();

-- The last link. Whoever appends one holds this row until the commit.
create table fact_head (
  is_only boolean primary key default true check (is_only),
  number bigint not null,
  sha256 text not null,
  -- What was there before there were facts has none: the first ids that must have one. The first link repeats it.
  origin jsonb not null
);

insert into fact_head (number, sha256, origin)
select 0, '', jsonb_build_object(
  'next_transfer_id', (select coalesce(max(id), 0) + 1 from ledger_transfers)::text,
  'next_cap_id', (select coalesce(max(id), 0) + 1 from ledger_caps),
  'next_payout_id', (select coalesce(max(id), 0) + 1 from payouts),
  'next_payout_hold_id', (select coalesce(max(id), 0) + 1 from payout_holds),
  'next_audit_event_id', (select coalesce(max(id), 0) + 1 from audit_events)::text,
  'invoice_count', (select count(*) from invoice_documents)::text,
  'sealed_until', (select max(until_at) from audit_seals)
);

-- A seal says where the chain stood, so that an audit reads the links from there on.
alter table audit_seals
  add column next_fact_link bigint not null default 1 check (next_fact_link > 0),
  add column facts_sha256 text not null default '' check (length(facts_sha256) in (0, 64)),
  add column next_audit_event_id bigint not null default 1 check (next_audit_event_id > 0);
