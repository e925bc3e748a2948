// The sections of the sidebar, which the command palette searches as well.
import type { LinkProps } from "@tanstack/react-router";

export type Entry = {
  readonly label: string;
  readonly to: NonNullable<LinkProps["to"]>;
  /** Letter that leads here after `g`. */
  readonly key?: string;
  /** Further words under which the palette finds it. */
  readonly words?: string;
};
export type SectionName = "Rent" | "Serve" | "Money" | "Host" | "Account" | "Operate" | "Help";
export type NavSection = { readonly name: SectionName; readonly entries: readonly Entry[] };

const SECTIONS: readonly NavSection[] = [
  {
    name: "Rent",
    entries: [
      { label: "Market", to: "/market", key: "m", words: "offers gpu rent" },
      { label: "Instances", to: "/instances", key: "i", words: "rentals containers" },
      { label: "Queue", to: "/queue", key: "q", words: "standing requests waiting" },
      { label: "Templates", to: "/templates", key: "t", words: "images" },
      { label: "Volumes", to: "/volumes", key: "v", words: "disks storage clouds s3" },
    ],
  },
  {
    name: "Serve",
    entries: [
      { label: "Endpoints", to: "/endpoints", key: "e", words: "workers serverless autoscaling" },
      { label: "Deployments", to: "/deployments", key: "d", words: "files versions" },
    ],
  },
  {
    name: "Money",
    entries: [
      { label: "Overview", to: "/money", key: "b", words: "money balance credit spending" },
      { label: "Charges", to: "/money/charges", words: "costs" },
      { label: "Invoices", to: "/money/invoices", words: "documents receipts pdf" },
      { label: "Limits", to: "/money/limits", words: "caps budget" },
      { label: "Top-up", to: "/money/top-up", words: "add credit card pay" },
    ],
  },
  {
    name: "Host",
    entries: [
      { label: "Machines", to: "/host/machines", key: "h", words: "host list" },
      { label: "Earnings", to: "/host/earnings" },
      { label: "Payouts", to: "/host/payouts" },
      { label: "Join a machine", to: "/host/join", words: "host add" },
    ],
  },
  {
    name: "Account",
    entries: [
      { label: "Team", to: "/team", words: "members roles invite" },
      { label: "Profile", to: "/account", key: "a", words: "name address email password" },
      { label: "Keys", to: "/account/keys", words: "api" },
      { label: "SSH keys", to: "/account/ssh-keys" },
      { label: "Secrets", to: "/account/secrets", words: "environment variables" },
      { label: "Security", to: "/account/security", words: "second factor passkey totp password" },
      { label: "Sessions", to: "/account/sessions" },
      { label: "Notifications", to: "/account/notifications", key: "n", words: "webhooks mail" },
      { label: "Audit log", to: "/account/audit-log" },
      { label: "Schedules", to: "/account/schedules", words: "jobs cron" },
    ],
  },
  {
    name: "Operate",
    entries: [
      { label: "Market", to: "/operate", key: "o", words: "operator" },
      { label: "Search", to: "/operate/search", words: "find anything" },
      { label: "Users", to: "/operate/users", words: "people accounts freeze credit" },
      { label: "Invitations", to: "/operate/invitations", words: "sign up invite" },
      { label: "Machines", to: "/operate/machines", words: "hosts gpus" },
      { label: "Instances", to: "/operate/instances", words: "rentals renters" },
      { label: "Money", to: "/operate/money", words: "payouts holds disputes corrections" },
      { label: "Loops", to: "/operate/loops" },
      { label: "Reports", to: "/operate/reports", words: "flags reconciliation audit" },
      { label: "Announcements", to: "/operate/announcements" },
      { label: "Settings", to: "/operate/settings" },
    ],
  },
  { name: "Help", entries: [{ label: "Help", to: "/help", words: "documentation questions" }] },
];

export type Rights = { readonly isOperator: boolean; readonly isHostOnly: boolean };

/** The sections that a person can use. */
export function sectionsFor({ isOperator, isHostOnly }: Rights): readonly NavSection[] {
  return SECTIONS.filter(({ name }) => {
    if (name === "Operate") return isOperator;
    if (name === "Rent" || name === "Serve") return !isHostOnly;
    return true;
  });
}
