import { readFile } from "node:fs/promises";
import { ConfigError } from "./config-error.ts";
import { SETTINGS } from "./settings-table.ts";

type Environment = Record<string, string | undefined>;

/** Variables that name a file with a secret in it, such as `DATABASE_URL_FILE`, by the setting that the file gives. */
export function secretFileVariables(): ReadonlyMap<string, string> {
  return new Map(SETTINGS.filter(({ isSecret }) => isSecret).map(({ name }) => [`${name}_FILE`, name]));
}

/**
 * Puts secrets that are given by file into the environment of this process, where every setting is read. Files are what
 * systemd, Compose and Kubernetes give secrets in; variables show in the lists of processes of the machine.
 */
export async function readSecretFiles(environment: Environment): Promise<void> {
  for (const [variable, name] of secretFileVariables()) {
    const file = environment[variable] ?? "";
    if (file === "") continue;
    if ((environment[name] ?? "") !== "") throw new ConfigError(`Set ${name} or ${variable}, not both.`);
    environment[name] = await readSecret(variable, file);
  }
}

async function readSecret(variable: string, file: string): Promise<string> {
  const content = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`${variable} names ${file}, which cannot be read (${error.code ?? error.message}).`);
  });
  const secret = content.replace(/\r?\n$/, "");
  if (secret === "") throw new ConfigError(`${variable} names ${file}, which is empty.`);
  if (/[\r\n\0]/.test(secret)) throw new ConfigError(`${variable} names ${file}, which has more than one line.`);
  return secret;
}
