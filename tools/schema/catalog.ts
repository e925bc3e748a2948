import type pg from "pg";

export type Column = {
  readonly name: string;
  /** The type as PostgreSQL writes it, such as `timestamp with time zone`. */
  readonly type: string;
  readonly is_nullable: boolean;
  /** The expression of the default or of a generated column. */
  readonly default_expression: string | null;
  readonly identity: "" | "always" | "by default";
  readonly is_computed: boolean;
};

type Constraint = {
  readonly name: string;
  readonly kind: "check" | "foreign key" | "primary key" | "unique" | "exclusion";
  readonly definition: string;
  readonly columns: readonly string[];
  readonly target_table: string | null;
  readonly target_columns: readonly string[] | null;
};

export type Table = {
  readonly name: string;
  /** Storage settings such as `fillfactor=50`. */
  readonly options: readonly string[];
  readonly columns: readonly Column[];
  readonly constraints: readonly Constraint[];
  readonly indexes: readonly string[];
  readonly triggers: readonly string[];
};

export type View = { readonly name: string; readonly definition: string };

export type Catalog = {
  readonly tables: readonly Table[];
  readonly views: readonly View[];
  readonly functions: readonly string[];
};

/** Reads the schema `public` in an order that depends on names alone. Kinds of objects it does not know are an error. */
export async function readCatalog(client: pg.Client): Promise<Catalog> {
  await refuseUnknownObjects(client);
  const rows = async <T extends pg.QueryResultRow>(sql: string) => (await client.query<T & InTable>(sql)).rows;
  const columns = await rows<Column>(COLUMNS);
  const constraints = await rows<Constraint>(CONSTRAINTS);
  const indexes = await rows<{ definition: string }>(INDEXES);
  const triggers = await rows<{ definition: string }>(TRIGGERS);
  const tables = await rows<{ options: readonly string[] }>(TABLES);
  const views = await rows<{ definition: string }>(VIEWS);
  const functions = await rows<{ definition: string }>(FUNCTIONS);
  return {
    tables: tables.map(({ table_name, options }) => ({
      name: table_name,
      options,
      columns: columns.filter((row) => row.table_name === table_name),
      constraints: constraints.filter((row) => row.table_name === table_name),
      indexes: indexes.filter((row) => row.table_name === table_name).map(({ definition }) => definition),
      triggers: triggers.filter((row) => row.table_name === table_name).map(({ definition }) => definition),
    })),
    views: views.map(({ table_name: name, definition }) => ({ name, definition })),
    functions: functions.map(({ definition }) => definition),
  };
}

type InTable = { readonly table_name: string };

/** A condition that leaves out objects of extensions. */
const NOT_OF_EXTENSION = (catalog: string, oid: string) => `
  not exists (
    select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e'
  )`;

/** Names sort by bytes, independent of the collation of the database. */
const TABLES = `
  select c.relname as table_name, coalesce(c.reloptions, '{}') as options
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and ${NOT_OF_EXTENSION("pg_class", "c.oid")}
  order by c.relname collate "C"`;

const COLUMNS = `
  select c.relname as table_name, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
    not a.attnotnull as is_nullable, pg_get_expr(d.adbin, d.adrelid) as default_expression,
    case a.attidentity when 'a' then 'always' when 'd' then 'by default' else '' end as identity,
    a.attgenerated <> '' as is_computed
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
  order by c.relname collate "C", a.attnum`;

/** Not-null constraints have rows of their own from PostgreSQL 18 on; the columns say it already. */
const CONSTRAINTS = `
  select c.relname as table_name, k.conname as name, pg_get_constraintdef(k.oid) as definition,
    case k.contype
      when 'c' then 'check' when 'f' then 'foreign key' when 'p' then 'primary key'
      when 'u' then 'unique' when 'x' then 'exclusion'
    end as kind,
    t.relname as target_table,
    array(
      select a.attname::text from unnest(k.conkey) with ordinality as key (number, position)
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = key.number order by key.position
    ) as columns,
    case when k.contype = 'f' then array(
      select a.attname::text from unnest(k.confkey) with ordinality as key (number, position)
      join pg_attribute a on a.attrelid = k.confrelid and a.attnum = key.number order by key.position
    ) end as target_columns
  from pg_constraint k
  join pg_class c on c.oid = k.conrelid
  left join pg_class t on t.oid = k.confrelid and k.contype = 'f'
  where c.relnamespace = 'public'::regnamespace and k.contype in ('c', 'f', 'p', 'u', 'x')
  order by c.relname collate "C", array_position('{p,u,x,c,f}', k.contype::text), k.conname collate "C"`;

const INDEXES = `
  select c.relname as table_name, pg_get_indexdef(i.indexrelid) as definition
  from pg_index i
  join pg_class c on c.oid = i.indrelid
  join pg_class n on n.oid = i.indexrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
  order by c.relname collate "C", n.relname collate "C"`;

const TRIGGERS = `
  select c.relname as table_name, pg_get_triggerdef(t.oid) as definition
  from pg_trigger t
  join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'public'::regnamespace and not t.tgisinternal
  order by c.relname collate "C", t.tgname collate "C"`;

const VIEWS = `
  select c.relname as table_name, pg_get_viewdef(c.oid, true) as definition
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' and ${NOT_OF_EXTENSION("pg_class", "c.oid")}
  order by c.relname collate "C"`;

const FUNCTIONS = `
  select '' as table_name, pg_get_functiondef(p.oid) as definition
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and ${NOT_OF_EXTENSION("pg_proc", "p.oid")}
  order by p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"`;

const UNKNOWN_OBJECTS = `
  select 'relation ' || c.relname as name
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and ${NOT_OF_EXTENSION("pg_class", "c.oid")}
    and c.relkind in ('m', 'p', 'f', 'S')
    and not exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'i'
    )
  union all
  select 'type ' || t.typname from pg_type t
  where t.typnamespace = 'public'::regnamespace and t.typtype in ('e', 'd', 'r')
    and ${NOT_OF_EXTENSION("pg_type", "t.oid")}
  union all
  select 'extension ' || e.extname from pg_extension e where e.extname <> 'plpgsql'
  order by 1`;

async function refuseUnknownObjects(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(UNKNOWN_OBJECTS);
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name).join(", ");
  throw new Error(`the dump of the schema does not know these kinds of objects yet: ${names}`);
}
