import { invalid } from "../../../base/errors.ts";
import { splitShellWords } from "../../rental/templates/index.ts";

/** Members of the body of a creation, as `PUT /api/v0/asks/{id}/` takes them. */
export type LaunchMembers = Readonly<Record<string, string | number | boolean | readonly string[]>>;

const FIELD = "launch_args";
const LENGTH_MAX = 32_768;

type Kind = "text" | "number" | "flag";
type Option = { readonly kind: Kind; readonly member: string };

/** Options of the published command line that make an instance, by name without dashes. */
const OPTIONS: Readonly<Record<string, Option>> = {
  image: { kind: "text", member: "image" },
  env: { kind: "text", member: "env" },
  disk: { kind: "number", member: "disk" },
  login: { kind: "text", member: "image_login" },
  label: { kind: "text", member: "label" },
  user: { kind: "text", member: "user" },
  onstart: { kind: "text", member: "onstart" },
  "onstart-cmd": { kind: "text", member: "onstart" },
  entrypoint: { kind: "text", member: "onstart" },
  price: { kind: "number", member: "price" },
  "bid-price": { kind: "number", member: "price" },
  extra: { kind: "text", member: "extra" },
  "jupyter-dir": { kind: "text", member: "jupyter_dir" },
  "jupyter-lab": { kind: "flag", member: "use_jupyter_lab" },
  "lang-utf8": { kind: "flag", member: "lang_utf8" },
  "python-utf8": { kind: "flag", member: "python_utf8" },
  force: { kind: "flag", member: "force" },
  // Accepted and ignored: an instance that cannot run is never made for an endpoint.
  "cancel-unavail": { kind: "flag", member: "" },
  // These flags together give the runtype.
  ssh: { kind: "flag", member: "" },
  jupyter: { kind: "flag", member: "" },
  direct: { kind: "flag", member: "" },
};

const REFUSED: Readonly<Record<string, string>> = {
  "template-hash": "template_hash of the worker group names the template",
  "create-volume": "a volume is on one machine; workers come and go on many",
  "link-volume": "a volume is on one machine; workers come and go on many",
  "create-from": "workers are made from an image",
  vm: "workers are containers, and there are no virtual machines yet",
};

/**
 * Reads the options of a command line that makes an instance, `--image i --env '-e A=b' --disk 40 --args serve`, into
 * members of a creation's body. Everything after `--args` goes to the container. Unknown options are `invalid`:
 * ignoring one silently would run, and charge for, something else than was meant.
 */
export function readLaunchArgs(text: string): LaunchMembers {
  if (text.length > LENGTH_MAX) throw invalid(FIELD, `${FIELD} must have at most ${LENGTH_MAX} characters`);
  const words = [...splitShellWords(text, FIELD)];
  const members: Record<string, string | number | boolean | readonly string[]> = {};
  const flags = new Set<string>();
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const { name, attached } = splitOption(word);
    if (name === "args") {
      members["args"] = attached === undefined ? words.splice(0) : [attached, ...words.splice(0)];
      break;
    }
    const option = optionOf(name);
    if (option.kind === "flag") {
      if (attached !== undefined) throw invalid(FIELD, `${FIELD}: --${name} takes no value`);
      flags.add(name);
      if (option.member !== "") members[option.member] = true;
    } else {
      members[option.member] = readValue(name, option, attached ?? words.shift());
    }
  }
  const runtype = runtypeOf(flags);
  return runtype === undefined ? members : { ...members, runtype };
}

/** The published command line treats underscores and dashes within a name alike. */
function splitOption(word: string): { readonly name: string; readonly attached: string | undefined } {
  if (!/^--[a-zA-Z]/.test(word))
    throw invalid(FIELD, `${FIELD}: an option such as --image was expected at "${word.slice(0, 40)}"`);
  const equals = word.indexOf("=");
  const name = word
    .slice(2, equals === -1 ? undefined : equals)
    .replaceAll("_", "-")
    .toLowerCase();
  return { name, attached: equals === -1 ? undefined : word.slice(equals + 1) };
}

function optionOf(name: string): Option {
  const why = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
  if (why !== undefined) throw invalid(FIELD, `${FIELD}: --${name} cannot be used here: ${why}`);
  const option = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  if (option === undefined) throw invalid(FIELD, `${FIELD}: --${name} is not an option of an instance`);
  return option;
}

function readValue(name: string, { kind }: Option, value: string | undefined): string | number {
  if (value === undefined) throw invalid(FIELD, `${FIELD}: --${name} needs a value`);
  if (kind === "text") return value;
  const read = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isFinite(read)) throw invalid(FIELD, `${FIELD}: --${name} needs a number`);
  return read;
}

/** The runtype that the flags ask for; undefined leaves it to the template. */
function runtypeOf(flags: ReadonlySet<string>): string | undefined {
  const way = flags.has("direct") ? "direct" : "proxy";
  if (flags.has("jupyter")) return `jupyter_${way}`;
  return flags.has("ssh") ? `ssh_${way}` : undefined;
}
