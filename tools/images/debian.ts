// Debian's part of an image: the files of packages, taken from Debian's archive and checked by its signatures.
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { hashFile } from "./layer.ts";
import { folderFrom, text, type Entry } from "./tree.ts";

const RELEASE = "bookworm";
/** Places for people, for other languages, and for a system that is installed and not copied. */
const NOT_RUN =
  /^(?:boot|dev|home|media|mnt|opt|proc|run|srv|sys|tmp|var|usr\/local|usr\/share\/(?:bash-completion|bug|doc-base|gdb|info|lintian|locale|man|menu|misc|perl5|pixmaps|debconf|dict|common-licenses|zsh)|etc\/(?:default|cron\.\w+|init\.d|kernel|systemd|skel|profile\.d|update-motd\.d))(?:\/|$)/;
const DOCUMENTS = /^usr\/share\/doc\/[^/]+(?:\/copyright)?$/;

export type DebianPackage = { readonly name: string; readonly version: string; readonly sha256: string };

export type DebianRoot = {
  readonly packages: readonly DebianPackage[];
  readonly entries: readonly Entry[];
  remove(): void;
};

/**
 * The files of these packages and of those that they need. No script of a package runs, so the files are those of the
 * archive. `without` names packages that others ask for and nothing here runs.
 */
export async function debianRoot(names: readonly string[], without: RegExp): Promise<DebianRoot> {
  const top = mkdtempSync(path.join(tmpdir(), "berth-debian-"));
  const remove = () => rmSync(top, { recursive: true, force: true });
  try {
    const downloads = path.join(top, "downloads");
    const options = ["--quiet", "--variant=extract", "--skip=cleanup/apt/cache", `--include=${names.join(",")}`];
    // Without a mirror it takes Debian's own archive: the release, its updates and those of security.
    run("mmdebstrap", [...options, RELEASE, downloads]);
    const files = globSync("var/cache/apt/archives/*.deb", { cwd: downloads }).toSorted();
    const root = path.join(top, "root");
    const packages: DebianPackage[] = [];
    const entries: Entry[] = [];
    for (const file of files) {
      const archive = path.join(downloads, file);
      const control = run("dpkg-deb", ["--field", archive]);
      const name = fieldOf(control, "Package");
      if (without.test(name)) continue;
      packages.push({ name, version: fieldOf(control, "Version"), sha256: await hashFile(archive) });
      run("dpkg-deb", ["--extract", archive, root]);
      // The place where scanners of images look for packages when there is no database of dpkg.
      entries.push(text(`var/lib/dpkg/status.d/${name}`, `${control.trim()}\nStatus: install ok installed\n`));
    }
    if (packages.length === 0) throw new Error("mmdebstrap downloaded no package");
    const takes = (inner: string) =>
      !NOT_RUN.test(inner) && (!inner.startsWith("usr/share/doc/") || DOCUMENTS.test(inner));
    entries.push(...folderFrom("", root, takes), ...certificates(root));
    return { packages, entries, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The authorities in one file, as the script of Debian's package would have written it. */
function certificates(root: string): readonly Entry[] {
  const folder = path.join(root, "usr/share/ca-certificates/mozilla");
  if (!existsSync(folder)) return [];
  const files = globSync("*.crt", { cwd: folder }).toSorted();
  const all = files.map((file) => readFileSync(path.join(folder, file), "utf8").trim()).join("\n");
  return [text("etc/ssl/certs/ca-certificates.crt", `${all}\n`)];
}

function fieldOf(control: string, name: string): string {
  const value = new RegExp(`^${name}: (\\S+)$`, "m").exec(control)?.[1];
  if (value === undefined) throw new Error(`a package without the field ${name}`);
  return value;
}

function run(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, [...args], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new Error(
        `${program} is needed; on Debian or Ubuntu: apt install ${program === "mmdebstrap" ? program : "dpkg"}`,
      );
    }
    throw error;
  }
}
