import { UserError } from "../../failure.ts";
import { EXPORT_ADVICE, readExport } from "./export-file.ts";

export async function verifyExport(file: string, options: { readonly publicKey?: string }): Promise<void> {
  const { number, sha256, publicKey, factCount } = await readExport(file);
  if (options.publicKey !== undefined && options.publicKey !== publicKey) {
    throw new UserError(`${file} was signed by key ${publicKey}, not by ${options.publicKey}.`, EXPORT_ADVICE);
  }
  process.stdout.write(
    [
      `${file} is whole: ${factCount} facts, up to link ${number}.`,
      `hash        ${sha256}`,
      `public key  ${publicKey}`,
      "",
    ].join("\n"),
  );
}
