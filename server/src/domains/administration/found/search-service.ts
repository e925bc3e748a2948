import { formatDollars } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { searchDocuments } from "../../money/invoices/for-administration.ts";
import { searchPayouts } from "../../money/payments/for-administration.ts";
import { searchUsers } from "../../people/accounts/for-administration.ts";
import { searchInstances } from "../../rental/instances/for-administration.ts";
import { searchMachines } from "../../supply/hosts/for-administration.ts";
import { searchVolumes } from "../../supply/volumes/for-administration.ts";
import type { SearchHit } from "./schema.ts";

/** Things of one kind in one answer. */
const HITS_MAX = 10;
const BYTES_PER_GB = 1e9;

/** Everything whose id, name, address, label or number matches; exact matches come first. */
export async function searchEverything(
  db: Reader,
  text: string,
): Promise<{ readonly hits: readonly SearchHit[]; readonly isCut: boolean }> {
  const limit = HITS_MAX + 1;
  const kinds: readonly (readonly SearchHit[])[] = [
    await findAccounts(db, text, { isTeam: false, limit }),
    await findAccounts(db, text, { isTeam: true, limit }),
    (await searchMachines(db, { text, limit })).map(({ id, hostId, hostname, gpuName, gpuCount }) => ({
      kind: "machine" as const,
      ...{ id: String(id), title: hostname || `Machine ${id}`, user_id: hostId },
      detail: gpuName === "" ? "no GPUs" : `${gpuCount}× ${gpuName}`,
    })),
    (await searchInstances(db, { text, limit })).map(({ id, userId, label, image, phase }) => ({
      kind: "instance" as const,
      ...{ id: String(id), title: label ?? `Instance ${id}`, user_id: userId, detail: `${phase}, ${image}` },
    })),
    (await searchVolumes(db, text, limit)).map(({ id, userId, name, sizeBytes }) => ({
      kind: "volume" as const,
      ...{ id: String(id), title: name || `Volume ${id}`, user_id: userId },
      detail: `${Number(sizeBytes) / BYTES_PER_GB} GB`,
    })),
    (await searchDocuments(db, text, limit)).map(({ number, kind, userId, issuedAt }) => ({
      kind: "document" as const,
      ...{ id: number, title: number, user_id: userId },
      detail: `${kind.replaceAll("_", " ")} of ${issuedAt.toISOString().slice(0, 10)}`,
    })),
    (await searchPayouts(db, text, limit)).map(({ id, userId, amount, state, reference }) => ({
      kind: "payout" as const,
      ...{ id: String(id), title: reference ?? `Payout ${id}`, user_id: userId },
      detail: `$${formatDollars(amount)}, ${state}`,
    })),
  ];
  const hits = kinds.flatMap((found) => found.slice(0, HITS_MAX));
  const isExact = ({ id, title }: SearchHit) => id === text || title.toLowerCase() === text.toLowerCase();
  return {
    hits: [...hits.filter(isExact), ...hits.filter((hit) => !isExact(hit))],
    isCut: kinds.some((found) => found.length > HITS_MAX),
  };
}

async function findAccounts(
  db: Reader,
  text: string,
  { isTeam, limit }: { readonly isTeam: boolean; readonly limit: number },
): Promise<readonly SearchHit[]> {
  const users = await searchUsers(db, { text, isTeam, limit });
  return users.map(({ id, email, fullname, username }) => ({
    kind: isTeam ? ("team" as const) : ("person" as const),
    ...{ id: String(id), title: isTeam ? username : email, detail: fullname || username, user_id: id },
  }));
}
