import type { DropStmt, IndexStmt, Node } from "libpg-query";
import { judgeAlter } from "./alter-rules.ts";
import { kindOf, type Context, type Finding } from "./file.ts";

/** Statements on things that are new, or changes of the catalog alone. */
const BRIEF = [
  "CreateStmt",
  "CreateSeqStmt",
  "AlterSeqStmt",
  "ViewStmt",
  "CreateFunctionStmt",
  "CreateTrigStmt",
  "CreateEnumStmt",
  "AlterEnumStmt",
  "CreateDomainStmt",
  "CompositeTypeStmt",
  "CommentStmt",
  "GrantStmt",
  "AlterDefaultPrivilegesStmt",
  "SelectStmt",
];
/** Things that older servers may use. Indexes and triggers are none of them. */
const USED_OBJECTS = [
  "OBJECT_TABLE",
  "OBJECT_VIEW",
  "OBJECT_MATVIEW",
  "OBJECT_SEQUENCE",
  "OBJECT_FUNCTION",
  "OBJECT_TYPE",
];

/** Judges one statement of a migration. */
export function judgeStatement(node: Node, context: Context): readonly Finding[] {
  if (!context.isTransactional) return judgeAlone(node);
  if ("IndexStmt" in node) return judgeIndex(node.IndexStmt, context);
  if ("DropStmt" in node) return judgeDrop(node.DropStmt, context);
  if ("AlterTableStmt" in node) return judgeAlter(node.AlterTableStmt, context);
  if ("RenameStmt" in node) {
    const { renameType, relation } = node.RenameStmt;
    if (renameType === "OBJECT_INDEX" || renameType === "OBJECT_TABCONSTRAINT" || context.isContract) return [];
    const message = `older servers use the former name of ${relation?.relname ?? "this"}: add the new thing, and drop the former one in a later release`;
    return [{ rule: "rename", message }];
  }
  if ("UpdateStmt" in node) return judgeRows("UPDATE", node.UpdateStmt.relation?.relname, context);
  if ("DeleteStmt" in node) return judgeRows("DELETE", node.DeleteStmt.relation?.relname, context);
  if ("InsertStmt" in node) {
    const { selectStmt, relation } = node.InsertStmt;
    const reads = selectStmt !== undefined && "SelectStmt" in selectStmt ? selectStmt.SelectStmt.fromClause : undefined;
    const tables = (reads ?? []).flatMap((from) => ("RangeVar" in from ? [from.RangeVar.relname ?? ""] : [""]));
    const isLong = tables.some((table) => !context.isSmall(table));
    return isLong ? [rows(`filling ${relation?.relname ?? "a table"} from other tables`)] : [];
  }
  if ("VariableSetStmt" in node) {
    const name = node.VariableSetStmt.name ?? "";
    return [
      { rule: "timeout", message: `${name} is not for a migration to set: the runner bounds each wait for a lock` },
    ];
  }
  if (
    ["TruncateStmt", "LockStmt", "ClusterStmt", "VacuumStmt", "RefreshMatViewStmt", "ReindexStmt"].includes(
      kindOf(node),
    )
  ) {
    return [
      { rule: "lock", message: `${kindOf(node).replace("Stmt", "").toUpperCase()} keeps everybody from a table` },
    ];
  }
  if (BRIEF.includes(kindOf(node))) return [];
  return [{ rule: "unknown", message: `the lint does not know what ${kindOf(node)} locks` }];
}

function judgeIndex({ relation, concurrent = false, idxname = "" }: IndexStmt, context: Context): readonly Finding[] {
  const table = relation?.relname ?? "";
  if (concurrent) return [alone("CREATE INDEX CONCURRENTLY")];
  if (context.isSmall(table)) return [];
  const message = `the build of ${idxname} keeps everybody from writing ${table}: create it concurrently, in a "-- no-transaction" migration`;
  return [{ rule: "index", message }];
}

function judgeDrop({ removeType, concurrent = false }: DropStmt, context: Context): readonly Finding[] {
  if (concurrent) return [alone("DROP INDEX CONCURRENTLY")];
  if (removeType === undefined || !USED_OBJECTS.includes(removeType) || context.isContract) return [];
  const message = 'older servers use what this drops: drop it in a later release, in a "-- contract: NNNN" migration';
  return [{ rule: "drop", message }];
}

function judgeRows(verb: string, table = "", context: Context): readonly Finding[] {
  return context.isSmall(table) ? [] : [rows(`${verb} of ${table}`)];
}

function rows(work: string): Finding {
  return {
    rule: "rows",
    message: `${work} takes as long as there are rows, and keeps its locks: let a loop do it in parts`,
  };
}

function alone(statement: string): Finding {
  return {
    rule: "transaction",
    message: `${statement} runs in no transaction: put it into a "-- no-transaction" migration`,
  };
}

/** Statements outside of a transaction must let everybody else work, and be safe to repeat. */
function judgeAlone(node: Node): readonly Finding[] {
  if ("IndexStmt" in node && node.IndexStmt.concurrent === true) return [];
  if ("DropStmt" in node && node.DropStmt.concurrent === true && node.DropStmt.missing_ok === true) return [];
  if ("AlterTableStmt" in node) {
    const parts = node.AlterTableStmt.cmds ?? [];
    const isValidation = (part: Node) =>
      "AlterTableCmd" in part && part.AlterTableCmd.subtype === "AT_ValidateConstraint";
    if (parts.every(isValidation)) return [];
  }
  const message =
    'a "-- no-transaction" migration has only CREATE INDEX CONCURRENTLY, DROP INDEX CONCURRENTLY IF EXISTS and VALIDATE CONSTRAINT';
  return [{ rule: "transaction", message }];
}
