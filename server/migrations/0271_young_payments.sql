-- Card payments that may still be disputed are looked for whenever hosts are paid.
create index payments_paid_at on payments (settled_at) where state = 'paid' and amount_cents is not null;
