-- From whom a returned card payment was taken back, so that a dispute that is won later gives each of them its part again.
create table payment_takings (
  id integer generated always as identity primary key,
  return_key text not null references payment_returns (key),
  account_kind text not null check (account_kind in ('credit', 'earnings')),
  user_id integer not null references users (id),
  amount_nanos bigint not null check (amount_nanos > 0),
  taken_at timestamptz not null,
  given_back_at timestamptz
);
create index payment_takings_return_key on payment_takings (return_key);
insert into payment_takings (return_key, account_kind, user_id, amount_nanos, taken_at)
select r.key, a.kind, a.user_id, t.amount_nanos, t.created_at
from ledger_transfers t
join payment_returns r on r.key = t.cause ->> 'return'
join ledger_accounts a on a.id = t.debit_account_id
where t.code = 'taken_back'
order by t.id;
