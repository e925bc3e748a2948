import type { Database } from "../../../server/src/db/connect.ts";

/** The database, with a count of the statements that went through its query builder. */
export function countedDatabase(database: Database): { readonly database: Database; readonly count: () => number } {
  let count = 0;
  const kysely = database.kysely.withPlugin({
    transformQuery: ({ node }) => {
      count += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return { database: { ...database, kysely }, count: () => count };
}
