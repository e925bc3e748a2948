import { Popover, UnstyledButton } from "@mantine/core";
import { CopyButton } from "../ui/CopyButton.tsx";
import classes from "./as-command.module.css";

type Props = {
  /** Arguments of `./berth`, such as `["stop", "7"]`; undefined where no command does it. */
  readonly command?: readonly string[] | undefined;
  /** The request of the same action. */
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown };
};

/** Two links that show an action as a command and as a request, each to be copied. */
export function AsCommand({ command, request }: Props) {
  return (
    <span className={classes["links"]}>
      {command !== undefined && (
        <>
          <Shown name="as command" text={["./berth", ...command.map(quote)].join(" ")} />
          <span aria-hidden="true">·</span>
        </>
      )}
      <Shown name="as curl" text={curlOf(request)} />
    </span>
  );
}

function Shown({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <Popover width={480} position="bottom-end" shadow="md" trapFocus>
      <Popover.Target>
        <UnstyledButton className={classes["link"]}>{name}</UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={name}>
        <div className={classes["shown"]}>
          <pre>{text}</pre>
          <CopyButton text={text} what={name === "as curl" ? "the request" : "the command"} />
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

/** A word as a shell reads it back. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function curlOf({ method, path, body }: Props["request"]): string {
  const target = quote(`${globalThis.location.origin}${path}`);
  const parts = [`curl -X ${method} ${target}`, `  -H "Authorization: Bearer $BERTH_API_KEY"`];
  if (body !== undefined) parts.push(`  -H 'Content-Type: application/json'`, `  -d ${quote(JSON.stringify(body))}`);
  return parts.join(" \\\n");
}
