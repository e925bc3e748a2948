import type { TestDatabase } from "./postgres.ts";

const REFUSAL = `
  create table stubborn_instances (id bigint primary key);
  create function refuse_destruction() returns trigger language plpgsql as $$
  begin
    if new.desired = 'destroyed' and new.id in (select id from stubborn_instances) then perform 1 / 0; end if;
    return new;
  end $$;
  create trigger refuse_destruction before update on instances for each row execute function refuse_destruction();
`;

/** Lets a test's database refuse, with an error in the middle of the transaction, to destroy the instances it chooses. */
export async function stubbornInstances({ pool }: TestDatabase): Promise<{
  refuse(...ids: readonly number[]): Promise<void>;
  allow(...ids: readonly number[]): Promise<void>;
}> {
  await pool.query(REFUSAL);
  return {
    async refuse(...ids) {
      await pool.query("insert into stubborn_instances select unnest($1::bigint[])", [ids]);
    },
    async allow(...ids) {
      await pool.query("delete from stubborn_instances where id = any($1::bigint[])", [ids]);
    },
  };
}
