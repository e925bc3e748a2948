-- Money that comes by card: what was asked of whom, what came of it, and the cards that may be charged again.

-- The same for all servers of this database. Written at every start, from the settings, but for the installation.
create table payment_rules (
  is_only boolean primary key default true check (is_only),
  -- What the house keeps of a host's earnings, in millionths.
  fee_ppm integer not null default 0 check (fee_ppm between 0 and 500000),
  -- Names this database to a provider: ids begin anew in another one, and neither may be taken for the other.
  installation uuid not null default gen_random_uuid()
);

insert into payment_rules default values;

-- What a user is at the provider, and how its card is charged by itself.
create table payment_accounts (
  user_id integer primary key references users (id),
  customer_id text unique check (length(customer_id) between 1 and 255),
  -- What is charged each time; null for the default.
  autobill_cents bigint check (autobill_cents > 0),
  autobill_attempt_count integer not null default 0 check (autobill_attempt_count >= 0),
  -- Since the last success.
  autobill_failure_count integer not null default 0 check (autobill_failure_count >= 0),
  autobill_not_before_at timestamptz,
  -- The provider may know other cards than payment_cards does.
  has_stale_cards boolean not null default false,
  created_at timestamptz not null
);

create index payment_accounts_stale on payment_accounts (user_id) where has_stale_cards;

create table payment_cards (
  id integer generated always as identity primary key,
  user_id integer not null references payment_accounts (user_id),
  -- Its name at the provider. A card that was removed never comes back under the same name.
  method_id text not null unique check (length(method_id) between 1 and 255),
  brand text not null check (length(brand) between 1 and 50),
  last4 text not null check (last4 ~ '^[0-9]{4}$'),
  expiry_month integer not null check (expiry_month between 1 and 12),
  expiry_year integer not null check (expiry_year between 2000 and 9999),
  is_default boolean not null default false,
  created_at timestamptz not null,
  removed_at timestamptz,
  -- When the provider was told so, too.
  detached_at timestamptz,
  constraint payment_cards_removed check (removed_at is null or not is_default),
  constraint payment_cards_detached check (detached_at is null or removed_at is not null)
);

create unique index payment_cards_default on payment_cards (user_id) where is_default;
create index payment_cards_user on payment_cards (user_id, id) where removed_at is null;
create index payment_cards_to_detach on payment_cards (id) where removed_at is not null and detached_at is null;

create table payments (
  id integer generated always as identity primary key,
  user_id integer not null references users (id),
  -- `checkout` and `setup` are pages of the provider that the user visits; `autobill` charges a saved card.
  kind text not null check (kind in ('checkout', 'setup', 'autobill')),
  state text not null default 'pending' check (state in ('pending', 'paid', 'failed', 'expired', 'mismatched')),
  -- What was asked for; a setup asks for nothing.
  amount_cents bigint check (amount_cents > 0),
  saves_card boolean not null default false,
  -- Which of the user's automatic charges this is, and of which card.
  attempt_number integer check (attempt_number > 0),
  card_id integer references payment_cards (id),
  -- Digests of the Idempotency-Key with its caller, and of the request: who asks again gets the same page.
  request_key bytea unique,
  request_sha256 bytea,
  session_id text unique,
  url text,
  -- The provider's name of the movement of money.
  intent_id text unique,
  failure text check (length(failure) between 1 and 500),
  -- Until then nobody else asks the provider about it.
  lease_until timestamptz,
  created_at timestamptz not null,
  settled_at timestamptz,
  constraint payments_amount check ((amount_cents is null) = (kind = 'setup')),
  constraint payments_attempt check ((attempt_number is not null) = (kind = 'autobill')),
  constraint payments_card check ((card_id is not null) = (kind = 'autobill')),
  constraint payments_request check ((request_key is null) = (request_sha256 is null)),
  constraint payments_settled check ((settled_at is not null) = (state <> 'pending')),
  constraint payments_paid check (state <> 'paid' or kind = 'setup' or intent_id is not null)
);

create unique index payments_attempts on payments (user_id, attempt_number) where kind = 'autobill';
-- Of a user's automatic charges at most one is under way.
create unique index payments_autobill_in_flight on payments (user_id) where kind = 'autobill' and state = 'pending';
create index payments_user on payments (user_id, id);

-- Events that were dealt with: each is delivered at least once, and not in their order.
create table payment_events (
  event_id text primary key check (length(event_id) between 1 and 255),
  type text not null,
  received_at timestamptz not null
);

-- Money that went back: a refund (its sum so far) or a dispute. It may be told of before the payment itself is.
create table payment_returns (
  -- Such as `refund:ch_1` and `dispute:dp_1`.
  key text primary key check (length(key) between 1 and 150),
  intent_id text not null,
  returned_cents bigint not null check (returned_cents >= 0),
  -- A dispute that was won after all.
  is_reversed boolean not null default false,
  -- What was booked for it: out of the user's credit, and of the house where that did not suffice.
  taken_nanos bigint not null default 0 check (taken_nanos >= 0),
  lost_nanos bigint not null default 0 check (lost_nanos >= 0),
  booked_count integer not null default 0 check (booked_count >= 0),
  created_at timestamptz not null
);

create index payment_returns_intent on payment_returns (intent_id);

-- Payments that an administrator wants to give back. An event says when the money went, and only then it is booked.
create table payment_refunds (
  id integer generated always as identity primary key,
  payment_id integer not null references payments (id),
  amount_cents bigint not null check (amount_cents > 0),
  state text not null default 'wanted' check (state in ('wanted', 'asked', 'refused')),
  -- When the provider was first asked, whatever came of it.
  first_asked_at timestamptz,
  failure text check (length(failure) between 1 and 500),
  created_at timestamptz not null
);

create index payment_refunds_payment on payment_refunds (payment_id);
create index payment_refunds_wanted on payment_refunds (id) where state = 'wanted';
