import { readFile, stat } from "node:fs/promises";
import { ServedCertificate } from "./served-certificate.ts";

/** A certificate that the operator keeps in files: the chain and its key, both in PEM. */
export type CertificateFiles = { readonly certificate: string; readonly key: string };

type Known = { readonly changed: string; readonly certificate: ServedCertificate };

/** Certificates from the operator's files, which are read again when they change. */
export class FileCertificates {
  readonly #files: readonly CertificateFiles[];
  readonly #known = new Map<string, Known>();
  #problems: readonly string[] = [];

  constructor(files: readonly CertificateFiles[]) {
    this.#files = files;
  }

  get all(): readonly ServedCertificate[] {
    return [...this.#known.values()].map(({ certificate }) => certificate);
  }

  /** One sentence for each pair of files that cannot be used as they are; what was read from them before stays in use. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Reads what has changed. Returns true when there is a new certificate. */
  async reload(): Promise<boolean> {
    const problems: string[] = [];
    let hasNews = false;
    for (const files of this.#files) {
      try {
        hasNews = (await this.#read(files)) || hasNews;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        problems.push(`the certificate in ${files.certificate} cannot be used: ${reason}`);
      }
    }
    this.#problems = problems;
    return hasNews;
  }

  async #read({ certificate, key }: CertificateFiles): Promise<boolean> {
    const changed = [await stat(certificate), await stat(key)].map(({ mtimeMs, ino }) => `${mtimeMs} ${ino}`).join(" ");
    if (this.#known.get(certificate)?.changed === changed) return false;
    // Between two writes the files do not match: that throws here, and the next look finds both.
    const made = new ServedCertificate({
      chainPem: await readFile(certificate, "utf8"),
      keyPem: await readFile(key, "utf8"),
    });
    this.#known.set(certificate, { changed, certificate: made });
    return true;
  }
}
