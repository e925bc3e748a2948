import { given } from "../../given.ts";

/** Common options of `template create` and `template edit`. */
export type TemplateOptions = {
  readonly name?: string;
  readonly image?: string;
  readonly tag?: string;
  readonly env?: string;
  readonly onstart?: string;
  readonly runtype?: string;
  readonly args?: string;
  readonly disk?: number;
  readonly private?: boolean;
  readonly description?: string;
};

/** The given options under the names of the API. */
export function templateFields(options: TemplateOptions) {
  const { name, image, tag, env, onstart, runtype, args, disk, description, private: isPrivate } = options;
  const renamed = { args_str: args, desc: description, private: isPrivate, recommended_disk_space: disk };
  return given({ name, image, tag, env, onstart, runtype, ...renamed });
}
