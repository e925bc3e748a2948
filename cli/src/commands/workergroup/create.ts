import { workergroupCreate } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";
import { recipeOf, type RecipeOptions } from "./recipe.ts";

type Options = ConnectionOptions & RecipeOptions & { readonly endpoint: number; readonly json?: boolean };

export async function createWorkerGroup(options: Options): Promise<void> {
  const body = { endpoint_id: options.endpoint, ...recipeOf(options) };
  const answer = await workergroupCreate(connect(options), { body });
  printAnswer(
    answer,
    options,
    ({ id }) =>
      `Worker group ${id} is created. Workers come as they are needed: berth endpoint explain ${options.endpoint}`,
  );
}
