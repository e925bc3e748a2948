-- An audit reads the days since the last seal, of everybody: without these it reads the days of all years.
create index charge_days_day on charge_days (day);
create index ledger_earned_days_day on ledger_earned_days (day);
