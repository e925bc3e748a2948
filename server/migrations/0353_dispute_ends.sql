-- When the payment provider told that a dispute is decided; null while it is open, and for refunds. One that is decided and
-- not reversed is lost.
alter table payment_returns add column closed_at timestamptz;
