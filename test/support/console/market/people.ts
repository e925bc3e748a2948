// People of the seeded market, and what they keep beside their machines and rentals.
import { aTeam, done } from "../../teams.ts";
import { aCaller, inTransaction, type TestCaller } from "../../fixtures.ts";
import { giveCredit, type TestApp } from "../../app.ts";
import type { UserInsert } from "../../../../server/src/domains/people/accounts/users/store.ts";

const SECOND = 1_000;

export type People = Readonly<Record<"mira" | "jonas" | "priya" | "operator", TestCaller>>;

async function person(
  app: TestApp,
  name: string,
  dollars: number,
  more: Partial<UserInsert> = {},
): Promise<TestCaller> {
  const made = await aCaller(app.env.database, { username: name, email: `${name}@example.com`, ...more });
  if (dollars > 0) await giveCredit(app, made, dollars);
  return made;
}

export async function people(app: TestApp): Promise<People> {
  return {
    mira: await person(app, "mira.okafor", 2_100),
    jonas: await person(app, "jonas.lindqvist", 1_900),
    priya: await person(app, "priya.raman", 400),
    operator: await person(app, "operations", 0, { isAdmin: true }),
  };
}

/** Hosts by the names of the list of machines. */
export async function owners(app: TestApp, names: readonly string[]): Promise<ReadonlyMap<string, TestCaller>> {
  const made = new Map<string, TestCaller>();
  for (const name of new Set(names)) made.set(name, await person(app, name, 0));
  return made;
}

/** A team of Mira's with its members and roles. */
export async function aStaffedTeam(app: TestApp, { mira, jonas, priya }: People): Promise<void> {
  const team = await aTeam(app, mira, { name: "Northlight Labs", credit: 180 });
  const roles = [
    ["trainer", { api: { misc: {}, user_read: {}, instance_read: {}, instance_write: {} } }],
    ["bookkeeper", { api: { misc: {}, user_read: {}, billing_read: {} } }],
  ] as const;
  for (const [name, permissions] of roles) await done(app, team.secret, "POST", "/team/roles/", { name, permissions });
  for (const [who, role] of [
    [jonas, "trainer"],
    [priya, "bookkeeper"],
  ] as const) {
    const { token } = await done(app, team.secret, "POST", "/team/invite/", { email: who.email, role });
    await done(app, who.secret, "GET", `/team/invite/${token}/`);
  }
  await done(app, team.secret, "POST", "/team/invite/", { email: "sofia.marin@example.com", role: "trainer" });
}

const SSH_KEYS = [
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4pJzq0kq7bqk9Yv7m3oXQYJt0b2l6vS5sV1u8Zr3aB mira@thinkpad",
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK9dQm2wL4eT8xZr5nU1yHc7vB3jF6gP0oS2iAq4WtEX mira@studio",
];

/** Keys, secrets and settings of an account. */
export async function belongings(app: TestApp, { secret }: TestCaller, trainer: number): Promise<void> {
  const wanted = [
    ...SSH_KEYS.map((key) => ["POST", "/ssh/", { ssh_key: key }] as const),
    ["POST", "/secrets/", { key: "HF_TOKEN", value: "hf_example" }],
    ["POST", "/secrets/", { key: "WANDB_API_KEY", value: "wandb_example" }],
    ["POST", "/auth/apikeys/", { name: "nightly evaluation", permissions: { api: { misc: {}, instance_read: {} } } }],
    ["POST", "/auth/apikeys/", { name: "laptop" }],
    ["PUT", "/caps/", { scope: "account", period: "month", limit: 2_000 }],
    ["PUT", "/caps/", { scope: "account", period: "day", limit: 80 }],
    ["POST", "/users/saved-searches/", { name: "cheap 4090s", query: "gpu_name=RTX_4090 num_gpus>=2" }],
    [
      "POST",
      "/webhooks/",
      {
        ...{ name: "chat", webhook_url: "https://hooks.example.com/berth", event_types: ["client:low_credit"] },
      },
    ],
    [
      "POST",
      "/standing_requests/",
      {
        ...{ q: { gpu_name: { eq: "B200" }, num_gpus: { eq: 8 } }, max_dph: 24, image: "pytorch/pytorch", disk: 200 },
        ...{ label: "pretraining", expires_in_hours: 72 },
      },
    ],
    [
      "POST",
      "/commands/schedule_job/",
      {
        ...{ api_endpoint: `/api/v0/instances/reboot/${trainer}/`, request_method: "PUT", request_body: {} },
        ...{ frequency: "DAILY", hour_of_the_day: 3, instance_id: trainer },
      },
    ],
    [
      "POST",
      "/template/",
      {
        ...{ name: "Northlight trainer", image: "pytorch/pytorch", tag: "2.9.0-cuda12.8-cudnn9-runtime" },
        ...{ env: "-p 6006:6006 -e WANDB_PROJECT=chat-8b", runtype: "jupyter", recommended_disk_space: 120 },
        ...{ desc: "PyTorch with our data loaders", onstart: "pip install -r /workspace/requirements.txt" },
      },
    ],
  ] as const;
  for (const [method, path, body] of wanted) await done(app, secret, method, path, body);
}

const NEWS = [
  ["client:instance_outbid", "Instance “sweep 14” was outbid", "Somebody offers $0.92/h for its machine.", 0.2],
  ["client:low_credit", "Your credit lasts 3 days", "At $1.93/h your $139.40 last 3 d 0 h.", 9],
  ["client:invoice_issued", "Your invoice of last month is there", "$412.80 for GPUs, disks and traffic.", 190],
] as const;

/** Notifications of the last days. */
export async function news(app: TestApp, { id }: TestCaller): Promise<void> {
  await inTransaction(app.env.database, async ({ db }) => {
    for (const [kind, subject, message, hours] of NEWS) {
      const created_at = new Date(app.clock.now().getTime() - hours * 3_600 * SECOND);
      const read_at = hours > 100 ? created_at : null;
      await db
        .insertInto("notices")
        .values({ user_id: id, kind, subject, message, key: kind, created_at, read_at })
        .execute();
    }
  });
}
