import { spawnSync } from "node:child_process";

/** Branches that a change is compared with, the first that exists: the one that is shared comes before one's own. */
const MAIN_BRANCHES = ["origin/HEAD", "origin/main", "main"];

export type Change = {
  /** The commit that the tree is compared with, in short. */
  readonly base: string;
  /** Files that differ from the branch or are new, from the root with slashes; deleted files are left out. */
  readonly files: readonly string[];
};

/**
 * Files that differ from the commit where this branch left the main one, or from where it left `since`, committed or not.
 * Undefined when `root` is no git checkout with a commit. Throws when there is no commit `since`.
 */
export function findChange(root: string, since?: string): Change | undefined {
  if (git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") === undefined) return undefined;
  const candidates = since === undefined ? [...MAIN_BRANCHES, "HEAD"] : [since];
  const base = candidates
    .map((branch) => git(root, "merge-base", "HEAD", branch)?.trim())
    .find((id) => id !== undefined);
  if (base === undefined) throw new Error(`there is no commit ${since} that this branch shares`);
  const changed = list(git(root, "diff", "--name-only", "--no-renames", "--diff-filter=d", "--relative", "-z", base));
  const added = list(git(root, "ls-files", "--others", "--exclude-standard", "-z"));
  return { base: base.slice(0, 8), files: [...new Set([...changed, ...added])].toSorted() };
}

function list(text: string | undefined): readonly string[] {
  if (text === undefined) throw new Error("git could not list what has changed");
  return text.split("\0").filter((file) => file !== "");
}

/** The output of git; undefined when it fails or is not installed. */
function git(root: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", ["-C", root, ...args], { encoding: "utf8", maxBuffer: 2 ** 26 });
  return status === 0 ? stdout : undefined;
}
