import type { AlterTableCmd, AlterTableStmt, ColumnDef, Constraint, Node } from "libpg-query";
import { kindOf, type Context, type Finding, type Rule } from "./file.ts";

/** Functions whose value is one for all rows of the statement, so that PostgreSQL keeps it once. */
const STABLE_FUNCTIONS = ["now", "transaction_timestamp", "statement_timestamp"];
/** Changes of the catalog alone. */
const BRIEF = [
  "AT_ColumnDefault",
  "AT_DropNotNull",
  "AT_DropConstraint",
  "AT_SetStatistics",
  "AT_SetOptions",
  "AT_SetStorage",
  "AT_SetCompression",
  "AT_SetRelOptions",
  "AT_ResetRelOptions",
  "AT_ChangeOwner",
  "AT_EnableTrig",
  "AT_DisableTrig",
  "AT_DropIdentity",
  "AT_DropExpression",
];
const SERIAL_TYPES = ["smallserial", "serial", "bigserial", "serial2", "serial4", "serial8"];

/** Judges the parts of one ALTER TABLE. */
export function judgeAlter({ relation, cmds = [] }: AlterTableStmt, context: Context): readonly Finding[] {
  const table = relation?.relname ?? "";
  return cmds.flatMap((node) => ("AlterTableCmd" in node ? judgePart(table, node.AlterTableCmd, context) : []));
}

function judgePart(table: string, command: AlterTableCmd, context: Context): readonly Finding[] {
  const { subtype = "", name = "", def } = command;
  const small = context.isSmall(table);
  const slow = (rule: Rule, message: string) => (small ? [] : [{ rule, message }]);
  switch (subtype) {
    case "AT_AddColumn":
      return def !== undefined && "ColumnDef" in def ? judgeColumn(table, def.ColumnDef, small) : [];
    case "AT_AddConstraint":
      return def !== undefined && "Constraint" in def ? judgeConstraint(table, def.Constraint, small) : [];
    case "AT_ValidateConstraint":
      return context.isTransactional
        ? slow("scan", `validating ${name} reads all of ${table}: do it in a "-- no-transaction" migration of its own`)
        : [];
    case "AT_SetNotNull":
      return context.checkedColumns.has(`${table}.${name}`)
        ? []
        : slow(
            "not-null",
            `SET NOT NULL reads all of ${table} under its lock: first add check (${name} is not null) not valid, and ` +
              "validate it in an earlier migration",
          );
    case "AT_AlterColumnType":
      return slow("rewrite", `a new type of ${table}.${name} rewrites the table: add a column instead`);
    case "AT_DropColumn":
      return context.isContract
        ? []
        : [
            {
              rule: "drop",
              message: `older servers use ${table}.${name}: drop it in a later release, in a "-- contract: NNNN" migration`,
            },
          ];
    default:
      if (BRIEF.includes(subtype)) return [];
      return [{ rule: "unknown", message: `the lint does not know what ${subtype} locks on ${table}` }];
  }
}

function judgeColumn(table: string, column: ColumnDef, small: boolean): readonly Finding[] {
  const { colname = "" } = column;
  const constraints = (column.constraints ?? []).flatMap((node) => ("Constraint" in node ? [node.Constraint] : []));
  const given = constraints.find(({ contype }) => contype === "CONSTR_DEFAULT")?.raw_expr;
  const isRequired = constraints.some(({ contype }) => contype === "CONSTR_NOTNULL");
  const place = `${table}.${colname}`;
  const findings: Finding[] = [];
  const isRewrite =
    constraints.some(({ contype }) => contype === "CONSTR_IDENTITY" || contype === "CONSTR_GENERATED") ||
    SERIAL_TYPES.includes(lastName(column.typeName?.names)) ||
    (given !== undefined && !isStable(given));
  if (isRewrite && !small) {
    findings.push({
      rule: "rewrite",
      message: `${place} gets a value of its own in each row, which rewrites the table: add it without one, and fill it by a loop`,
    });
  }
  if (isRequired && given === undefined && !isRewrite) {
    findings.push({
      rule: "not-null",
      message: `${place} is not null and has no default: rows that are there, and inserts of older servers, would fail`,
    });
  }
  for (const constraint of constraints) {
    const isNewReference = constraint.contype === "CONSTR_FOREIGN" && given === undefined;
    if (!isNewReference) findings.push(...judgeConstraint(table, constraint, small));
  }
  return findings;
}

function judgeConstraint(table: string, constraint: Constraint, small: boolean): readonly Finding[] {
  const { contype, conname = "a constraint", skip_validation: isUnchecked = false, indexname } = constraint;
  if (small) return [];
  switch (contype) {
    case "CONSTR_CHECK":
    case "CONSTR_FOREIGN":
      return isUnchecked
        ? []
        : [
            {
              rule: "scan",
              message: `${conname} reads all of ${table} under its lock: add it "not valid", and validate it in a "-- no-transaction" migration`,
            },
          ];
    case "CONSTR_UNIQUE":
    case "CONSTR_PRIMARY":
      return indexname === undefined
        ? [
            {
              rule: "index",
              message: `${conname} builds an index under the lock of ${table}: create the index concurrently before, and add the constraint "using index"`,
            },
          ]
        : [];
    case "CONSTR_EXCLUSION":
      return [
        { rule: "index", message: `${conname} builds an index under the lock of ${table}, and cannot do otherwise` },
      ];
    default:
      return [];
  }
}

/** True when the expression has one value for all rows. */
function isStable(node: Node): boolean {
  if ("A_Const" in node || "SQLValueFunction" in node) return true;
  if ("TypeCast" in node) return node.TypeCast.arg !== undefined && isStable(node.TypeCast.arg);
  if ("A_ArrayExpr" in node) return (node.A_ArrayExpr.elements ?? []).every(isStable);
  if ("FuncCall" in node) return STABLE_FUNCTIONS.includes(lastName(node.FuncCall.funcname));
  return kindOf(node) === "";
}

function lastName(names: readonly Node[] = []): string {
  const last = names.at(-1);
  return last !== undefined && "String" in last ? (last.String.sval ?? "") : "";
}

/** Columns, as `table.column`, that a check of this statement says are not null, by the name of the check. */
export function notNullChecks({ relation, cmds = [] }: AlterTableStmt): readonly (readonly [string, string])[] {
  const table = relation?.relname ?? "";
  return cmds.flatMap((node) => {
    const def = "AlterTableCmd" in node ? node.AlterTableCmd.def : undefined;
    if (def === undefined || !("Constraint" in def)) return [];
    const { conname = "", raw_expr: expression } = def.Constraint;
    if (expression === undefined || !("NullTest" in expression)) return [];
    const { arg, nulltesttype } = expression.NullTest;
    if (nulltesttype !== "IS_NOT_NULL" || arg === undefined || !("ColumnRef" in arg)) return [];
    return [[`${table}.${conname}`, `${table}.${lastName(arg.ColumnRef.fields)}`] as const];
  });
}

/** Names, as `table.constraint`, of the constraints that this statement validates. */
export function validatedBy({ relation, cmds = [] }: AlterTableStmt): readonly string[] {
  const table = relation?.relname ?? "";
  return cmds.flatMap((node) =>
    "AlterTableCmd" in node && node.AlterTableCmd.subtype === "AT_ValidateConstraint"
      ? [`${table}.${node.AlterTableCmd.name ?? ""}`]
      : [],
  );
}
