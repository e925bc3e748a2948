import { invalid } from "../../../../base/errors.ts";
import type { TemplateContent } from "./content.ts";

/** How an instance is launched and reached (docs/contract-rules.md#launch-modes). */
export type Runtype = {
  readonly mode: "ssh" | "jupyter" | "args";
  /** True when port 22 is mapped on the host; otherwise SSH goes through the proxy. */
  readonly is_ssh_direct: boolean;
  /** True when port 8080 is mapped on the host; otherwise Jupyter goes through the proxy. */
  readonly is_jupyter_direct: boolean;
};

type Directness = Pick<TemplateContent, "ssh_direct" | "jup_direct">;

const TOKENS: ReadonlySet<string> = new Set([
  "args",
  "ssh",
  "ssh_proxy",
  "ssh_direct",
  "jupyter",
  "jupyter_proxy",
  "jupyter_direct",
]);

/**
 * Reads the blank-separated words of a request, such as `jupyter_direc ssh_direc ssh_proxy`; `_direc` is `_direct`. A
 * bare `ssh` or `jupyter` does not choose between direct and proxy, so the template's choice stands.
 */
export function parseRuntype(text: string, field: string, template: Directness | undefined): Runtype {
  const tokens = new Set(
    text
      .split(/[\s,]+/)
      .filter((token) => token !== "")
      .map((token) => token.replace(/_direc$/, "_direct")),
  );
  for (const token of tokens) {
    if (!TOKENS.has(token)) throw invalid(field, `${field} must be made of ${[...TOKENS].join(", ")}`);
  }
  if (tokens.size === 0) throw invalid(field, `${field} is empty`);
  if (tokens.has("args")) {
    if (tokens.size > 1) throw invalid(field, `${field}: args does not go together with other modes`);
    return { mode: "args", is_ssh_direct: false, is_jupyter_direct: false };
  }
  const isJupyter = [...tokens].some((token) => token.startsWith("jupyter"));
  const saysSsh = tokens.has("ssh_direct") || tokens.has("ssh_proxy") || tokens.has("jupyter_proxy");
  const saysJupyter = tokens.has("jupyter_direct") || tokens.has("jupyter_proxy");
  const isJupyterDirect =
    isJupyter && (tokens.has("jupyter_direct") || (!saysJupyter && template?.jup_direct === true));
  const isSshDirect = tokens.has("ssh_direct") || isJupyterDirect || (!saysSsh && template?.ssh_direct === true);
  return { mode: isJupyter ? "jupyter" : "ssh", is_ssh_direct: isSshDirect, is_jupyter_direct: isJupyterDirect };
}

/** The mode of a template when the request names none. */
export function deriveRuntype(template: TemplateContent): Runtype {
  const { runtype, use_ssh: usesSsh, ssh_direct: isSshDirect, jup_direct: isJupyterDirect } = template;
  if (runtype === "args" && !usesSsh) return { mode: "args", is_ssh_direct: false, is_jupyter_direct: false };
  if (runtype === "jupyter") {
    return { mode: "jupyter", is_ssh_direct: isSshDirect || isJupyterDirect, is_jupyter_direct: isJupyterDirect };
  }
  return { mode: "ssh", is_ssh_direct: isSshDirect, is_jupyter_direct: false };
}

/**
 * The text of `image_runtype` on records. It holds the word `jupyter` in Jupyter modes only, because clients look for
 * it.
 */
export function renderRuntype(runtype: Runtype): string {
  if (runtype.mode === "args") return "args";
  const words: string[] = [runtype.mode];
  if (runtype.mode === "jupyter") words.push(runtype.is_jupyter_direct ? "jupyter_direc" : "jupyter_proxy");
  if (runtype.is_ssh_direct) words.push("ssh_direc");
  return [...words, "ssh_proxy"].join(" ");
}
