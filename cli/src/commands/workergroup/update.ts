import { workergroupUpdate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { recipeOf, type RecipeOptions } from "./recipe.ts";

export async function updateWorkerGroup(
  id: number,
  options: ConnectionOptions & RecipeOptions & { readonly json?: boolean },
): Promise<void> {
  const answer = await workergroupUpdate(connect(options), { id, body: recipeOf(options) });
  printAnswer(answer, options, () => `Worker group ${id} is changed.`);
}
