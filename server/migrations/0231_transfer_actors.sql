-- A parent may move credit of its subaccounts: such a transfer stands in the audit log of who did it, and says whose credit
-- it was. `actor_id` of the cause names that user where it is not the sender.
create or replace function billing_audit_transfers() returns trigger language plpgsql as $$
begin
  insert into audit_events (user_id, api_key_id, ip_address, action, arguments, created_at)
  select coalesce((p.cause ->> 'actor_id')::integer, sender.user_id), (p.cause ->> 'api_key_id')::integer,
    coalesce(p.cause ->> 'ip_address', ''), 'api.billing.transfer_credit',
    jsonb_strip_nulls(jsonb_build_object(
      'transfer_id', p.id,
      'sender_id', case when p.cause ? 'actor_id' then sender.user_id end,
      'member_id', p.cause -> 'member_id',
      'recipient_id', recipient.user_id,
      'amount', trim_scale(p.amount_nanos / 1e9),
      'apikey_id', p.cause -> 'apikey_id'
    )),
    p.created_at
  from posted p
  join ledger_accounts sender on sender.id = p.debit_account_id
  join ledger_accounts recipient on recipient.id = p.credit_account_id
  where p.code = 'credit_transfer' and sender.user_id is not null
  order by p.id;
  return null;
end
$$;
