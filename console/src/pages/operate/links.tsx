import { Link } from "@tanstack/react-router";
import { HostileText } from "../../ui/HostileText.tsx";
import classes from "./operate.module.css";

/** An account by its address or name, as a link to its record. */
export function AccountLink({ id, name }: { readonly id: number; readonly name?: string | undefined }) {
  return (
    <Link to="/operate/users/$id" params={{ id: String(id) }} className={classes["name"] ?? ""}>
      {name === undefined || name === "" ? `Account ${id}` : <HostileText text={name} />}
    </Link>
  );
}

export function MachineLink({ id }: { readonly id: number }) {
  return (
    <Link to="/operate/machines" search={{ q: String(id), open: id }}>
      Machine {id}
    </Link>
  );
}

/** A code of the API as words: `credit_granted` as "credit granted". */
export function words(code: string): string {
  return code.replaceAll("_", " ");
}
