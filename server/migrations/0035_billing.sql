-- A credit transfer is audited by the statement that posts it, so that there is never one without the other and the hot
-- path stays one statement: the ledger itself knows neither callers nor audits.
create function billing_audit_transfers() returns trigger language plpgsql as $$
begin
  insert into audit_events (user_id, api_key_id, ip_address, action, arguments, created_at)
  select sender.user_id, (p.cause ->> 'api_key_id')::integer, coalesce(p.cause ->> 'ip_address', ''),
    'api.billing.transfer_credit',
    jsonb_strip_nulls(jsonb_build_object(
      'transfer_id', p.id, 'recipient_id', recipient.user_id, 'amount', trim_scale(p.amount_nanos / 1e9),
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

create trigger billing_audit_transfers after insert on ledger_transfers
  referencing new table as posted
  for each statement execute function billing_audit_transfers();
