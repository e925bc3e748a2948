// Permissions of a key in words of people, and the document that says them to the server.

export type Purpose = {
  readonly key: string;
  readonly label: string;
  readonly note: string;
  /** Categories that the key gets whole; all that the person may do without them. */
  readonly categories?: readonly string[];
};

export const PURPOSES: readonly Purpose[] = [
  { key: "all", label: "Everything that I may do", note: "Also makes and deletes keys, and spends credit." },
  {
    key: "rent",
    label: "Rent and use instances",
    note: "Rents, stops and destroys instances, volumes and endpoints.",
    categories: ["instance_read", "instance_write", "user_read", "misc"],
  },
  {
    key: "look",
    label: "Look, and change nothing",
    note: "For dashboards: instances, machines, charges and the account.",
    categories: ["instance_read", "machine_read", "billing_read", "user_read", "team_read"],
  },
  {
    key: "host",
    label: "Run my machines",
    note: "Lists machines, sets prices and announces maintenance.",
    categories: ["machine_read", "machine_write", "user_read"],
  },
  {
    key: "books",
    label: "Read the money",
    note: "Charges, invoices and earnings.",
    categories: ["billing_read", "user_read"],
  },
];

export const CATEGORIES: readonly { readonly key: string; readonly label: string }[] = [
  { key: "instance_read", label: "See instances" },
  { key: "instance_write", label: "Change instances" },
  { key: "user_read", label: "See the account" },
  { key: "user_write", label: "Change the account" },
  { key: "billing_read", label: "See the money" },
  { key: "billing_write", label: "Move the money" },
  { key: "machine_read", label: "See machines" },
  { key: "machine_write", label: "Change machines" },
  { key: "team_read", label: "See the team" },
  { key: "team_write", label: "Change the team" },
  { key: "misc", label: "Market and endpoints" },
];

type Grant = { readonly constraints?: { readonly id: { readonly eq: number } } };
export type PermissionDocument = { readonly api: Readonly<Record<string, Readonly<Record<string, Grant>>>> };

/** Uses of one instance that a key may have, and the operations that each takes. */
export const INSTANCE_USES = [
  {
    key: "see",
    label: "See it, its graphs and its logs",
    operations: { instance_read: ["show", "events", "measurements", "request_logs"] },
  },
  { key: "run", label: "Start, stop and rename it", operations: { instance_write: ["update"] } },
  { key: "reboot", label: "Reboot it", operations: { instance_write: ["reboot"] } },
  { key: "terminal", label: "Open its terminal", operations: { instance_write: ["terminal"] } },
  {
    key: "files",
    label: "Read and write its files",
    operations: { instance_write: ["list_files", "download_file", "upload_file", "make_folder", "delete_file"] },
  },
  { key: "bid", label: "Change its bid", operations: { instance_write: ["change_bid"] } },
  { key: "destroy", label: "Destroy it", operations: { instance_write: ["destroy"] } },
] as const;

/** The document that grants these uses of one instance, and of no other. */
export function instanceDocument(instance: number, uses: readonly string[]): PermissionDocument {
  const api: Record<string, Record<string, Grant>> = {};
  for (const { key, operations } of INSTANCE_USES) {
    if (!uses.includes(key)) continue;
    for (const [category, names] of Object.entries(operations)) {
      for (const name of names) {
        (api[category] ??= {})[`api.instance.${name}`] = { constraints: { id: { eq: instance } } };
      }
    }
  }
  return { api };
}

/** The document that grants these categories whole. */
export function documentOf(categories: readonly string[]): PermissionDocument {
  return { api: Object.fromEntries(categories.map((category) => [category, {}])) };
}

/** The rights that a document grants, in a line. */
export function scopesText(permissions: false | Readonly<Record<string, unknown>>): string {
  if (permissions === false) return "everything";
  const { api } = permissions;
  if (typeof api !== "object" || api === null) return "nothing";
  const names = Object.entries(api).map(([category, within]) => {
    const label = CATEGORIES.find(({ key }) => key === category)?.label ?? category;
    const isWhole = typeof within === "object" && within !== null && Object.keys(within).length === 0;
    return isWhole ? label : `${label} (in part)`;
  });
  const instance = instanceOf(api);
  if (instance !== undefined) return `Use instance ${instance}`;
  return names.length === 0 ? "nothing" : names.join(", ");
}

const ONE_INSTANCE = /^\{"constraints":\{"id":\{"eq":(\d+)\}\}\}$/;

/** The one instance to which each grant of a document is limited, as instanceDocument() writes it. */
function instanceOf(api: object): string | undefined {
  const ids = Object.values(api).flatMap((within: unknown) => {
    const grants = typeof within === "object" && within !== null ? Object.entries(within) : [];
    if (grants.length === 0) return [undefined];
    return grants.map(([operation, grant]) =>
      operation.startsWith("api.instance.") ? ONE_INSTANCE.exec(JSON.stringify(grant))?.[1] : undefined,
    );
  });
  return ids.every((id) => id === ids[0]) ? ids[0] : undefined;
}
