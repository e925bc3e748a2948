import { given } from "../../given.ts";

export type RecipeOptions = {
  readonly template?: string;
  readonly search?: string;
  readonly launchArgs?: string;
  readonly gpuRam?: number;
  readonly testWorkers?: number;
  readonly coldWorkers?: number;
  readonly maxWorkers?: number;
  readonly maxPrice?: number;
};

/** The body of a creation or change. Settings that are not given have the server's defaults, or stay. */
export function recipeOf(options: RecipeOptions) {
  return given({
    template_hash: options.template,
    search_params: options.search,
    launch_args: options.launchArgs,
    gpu_ram: options.gpuRam,
    test_workers: options.testWorkers,
    cold_workers: options.coldWorkers,
    max_workers: options.maxWorkers,
    max_dph: options.maxPrice,
  });
}
