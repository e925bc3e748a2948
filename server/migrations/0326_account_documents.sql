-- Receipts for payments, statements for hosts, and credit notes, frozen like invoices: each kind has numbers of its own.
create table account_documents (
  -- Prefix, year of issue, the letter of the kind and the sequence: 2026-R000042.
  number text primary key,
  kind text not null check (kind in ('receipt', 'statement', 'credit_note')),
  prefix text not null,
  year integer not null,
  sequence integer not null check (sequence > 0),
  user_id integer not null references users (id),
  -- The month (UTC) of a statement: its first instant, and that of the next.
  from_at timestamptz,
  until_at timestamptz,
  -- What a receipt or a credit note is about.
  transfer_id bigint,
  -- The receipt whose payment went back, or the invoice that is corrected.
  refers_to text,
  issued_at timestamptz not null,
  content jsonb not null,
  constraint account_documents_sequence unique (kind, prefix, year, sequence),
  constraint account_documents_subject check (
    case kind when 'statement' then until_at > from_at and issued_at >= until_at and transfer_id is null
    else transfer_id is not null and from_at is null and until_at is null end
  )
);
create unique index account_documents_month on account_documents (user_id, from_at) where kind = 'statement';
create unique index account_documents_transfer on account_documents (transfer_id) where transfer_id is not null;
create index account_documents_user on account_documents (user_id, issued_at, number);
create index account_documents_issued_at on account_documents (issued_at);
create index account_documents_refers_to on account_documents (refers_to) where refers_to is not null;

create trigger account_documents_append_only before update or delete on account_documents
  for each row execute function ledger_refuse_change();
create trigger account_documents_no_truncate before truncate on account_documents
  for each statement execute function ledger_refuse_change();

-- The last number given out of each kind. Its row is locked until the document is there, so that numbers have no gaps.
create table account_document_sequences (
  kind text not null,
  prefix text not null,
  year integer not null,
  last_sequence integer not null check (last_sequence > 0),
  primary key (kind, prefix, year)
);

-- How far documents of each kind have been issued. Whoever issues one holds the row until the commit.
create table account_document_clocks (
  kind text primary key,
  -- What was posted before this instant has its document; of statements, the first month that is not done.
  done_until_at timestamptz not null,
  -- Statements: the month is done for users up to this one.
  done_user_id integer not null default 0
);
insert into account_document_clocks (kind, done_until_at)
values ('receipt', '2000-01-01T00:00:00Z'), ('statement', '2000-01-01T00:00:00Z'), ('credit_note', '2000-01-01T00:00:00Z');
