-- Monthly invoices, frozen: whatever changes later, a document says what it said.
create table invoice_documents (
  id integer generated always as identity primary key,
  -- Prefix, year of issue and sequence: 2026-000042.
  number text not null unique,
  prefix text not null,
  year integer not null,
  sequence integer not null check (sequence > 0),
  user_id integer not null references users (id),
  -- The month (UTC): its first instant, and that of the next.
  from_at timestamptz not null,
  until_at timestamptz not null check (until_at > from_at),
  issued_at timestamptz not null check (issued_at >= until_at),
  content jsonb not null,
  constraint invoice_documents_sequence unique (prefix, year, sequence),
  constraint invoice_documents_month unique (user_id, from_at)
);

create trigger invoice_documents_append_only before update or delete on invoice_documents
  for each row execute function ledger_refuse_change();
create trigger invoice_documents_no_truncate before truncate on invoice_documents
  for each statement execute function ledger_refuse_change();

-- The last number given out. Its row is locked until the document is there, so that numbers have no gaps.
create table invoice_sequences (
  prefix text not null,
  year integer not null,
  last_sequence integer not null check (last_sequence > 0),
  primary key (prefix, year)
);

-- How far documents have been issued: the first month that is not done, and up to which user it is done.
create table invoice_document_clock (
  is_only boolean primary key default true check (is_only),
  -- The first instant of the month; null before the first movement of money.
  next_from_at timestamptz,
  done_user_id integer not null default 0
);
-- What was charged before there were lines is on no document: they begin with the next month.
insert into invoice_document_clock (next_from_at)
select case when exists (select from ledger_transfers) then
  (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC'
end;
