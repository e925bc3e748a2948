import { spawn } from "node:child_process";

/** This process, and the ways in which it may become root; a test answers in place of the system. */
export type Footing = {
  readonly isRoot: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Program and arguments of this process. */
  readonly argv: readonly string[];
  /** Runs a program to its end, silently; its exit code. */
  readonly run: (program: string, args: readonly string[]) => Promise<number>;
};

export type Ascent =
  | { readonly kind: "root" }
  /** The command that goes on as root in place of this process. */
  | { readonly kind: "through"; readonly program: string; readonly args: readonly string[] }
  | { readonly kind: "impossible"; readonly problem: string };

/**
 * A real host mounts disks, makes network namespaces and writes firewall rules: that takes root. A user who may become
 * root without a password does so with exactly this command and exactly the variables that are meant for it.
 */
export async function becomeRoot({ isRoot, env, argv, run }: Footing): Promise<Ascent> {
  if (isRoot) return { kind: "root" };
  const kept = Object.keys(env).filter((name) => /^BERTH_[A-Z0-9_]+$/.test(name));
  const flags = ["-n", ...(kept.length === 0 ? [] : [`--preserve-env=${kept.toSorted().join(",")}`]), "--"];
  if ((await run("sudo", [...flags, "true"])) === 0)
    return { kind: "through", program: "sudo", args: [...flags, ...argv] };
  return {
    kind: "impossible",
    problem:
      "a real host needs root for its disks, networks and firewall, and this user is neither root nor has sudo " +
      "without a password: start the agent as root",
  };
}

export function runSilently(program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, [...args], { stdio: "ignore" });
    child.once("error", () => resolve(127));
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
