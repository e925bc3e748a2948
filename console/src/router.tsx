// The whole tree of addresses. A page is loaded when somebody goes there; its search parameters are typed here.
import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "./code.ts";
import { beginWithInstances } from "./frame/require-person.ts";
import { helpPageOf } from "./help-page.ts";
import { searches } from "./pages/operate/searches.ts";
import { beginSearch, marketSearch } from "./pages/market/first-search.ts";
import { SHOWN } from "./pages/templates/shown.ts";
import { frame, root } from "./roots.ts";
import { oneOf, searchOf, text, whole } from "./search.ts";
import { serveRoutes } from "./serve-routes.ts";

/** Pages before somebody is signed in. */
const outer = createRoute({
  getParentRoute: () => root,
  id: "outer",
  component: lazyPage(() => import("./pages/sign-in/Outer.tsx"), "Outer"),
});
const signIn = createRoute({
  getParentRoute: () => outer,
  path: "sign-in",
  validateSearch: searchOf({ next: text, error: text }),
  component: lazyPage(() => import("./pages/sign-in/SignIn.tsx"), "SignIn"),
});

const signUp = createRoute({
  getParentRoute: () => outer,
  path: "sign-up",
  component: lazyPage(() => import("./pages/sign-in/SignUp.tsx"), "SignUp"),
});
const reset = createRoute({
  getParentRoute: () => outer,
  path: "reset-password",
  component: lazyPage(() => import("./pages/sign-in/Reset.tsx"), "Reset"),
});

const home = createRoute({
  getParentRoute: () => frame,
  path: "/",
  beforeLoad: beginWithInstances,
});

// Rent
const market = createRoute({
  getParentRoute: () => frame,
  path: "market",
  validateSearch: marketSearch,
  // The search begins while the frame and the page are drawn; later ones are the page's own.
  loader: ({ location }) => beginSearch(location.search),
  staleTime: Number.POSITIVE_INFINITY,
  component: lazyPage(() => import("./pages/market/Market.tsx"), "Market"),
});
const instances = createRoute({
  getParentRoute: () => frame,
  path: "instances",
  component: lazyPage(() => import("./pages/instances/Instances.tsx"), "Instances"),
});
const queue = createRoute({
  getParentRoute: () => frame,
  path: "queue",
  validateSearch: searchOf({ q: text, isNew: text, request: whole }),
  component: lazyPage(() => import("./pages/queue/Queue.tsx"), "Queue"),
});
const templates = createRoute({
  getParentRoute: () => frame,
  path: "templates",
  validateSearch: searchOf({ q: text, show: oneOf(...SHOWN), form: oneOf("new") }),
  component: lazyPage(() => import("./pages/templates/Templates.tsx"), "Templates"),
});
const template = createRoute({
  getParentRoute: () => frame,
  path: "templates/$id",
  validateSearch: searchOf({ form: oneOf("edit", "copy") }),
  component: lazyPage(() => import("./pages/templates/Template.tsx"), "Template"),
});
const volumes = createRoute({
  getParentRoute: () => frame,
  path: "volumes",
  validateSearch: searchOf({ clone: whole, space: oneOf("network") }),
  component: lazyPage(() => import("./pages/volumes/Volumes.tsx"), "Volumes"),
});
const instance = createRoute({
  getParentRoute: () => frame,
  path: "instances/$id",
  component: lazyPage(() => import("./pages/instances/Instance.tsx"), "Instance"),
});
const instanceOverview = createRoute({
  getParentRoute: () => instance,
  path: "/",
  validateSearch: searchOf({ hours: whole }),
  component: lazyPage(() => import("./pages/instances/InstanceOverview.tsx"), "InstanceOverview"),
});
const instanceTerminal = createRoute({
  getParentRoute: () => instance,
  path: "terminal",
  component: lazyPage(() => import("./pages/instances/InstanceTerminal.tsx"), "InstanceTerminal"),
});
const instanceFiles = createRoute({
  getParentRoute: () => instance,
  path: "files",
  validateSearch: searchOf({ path: text }),
  component: lazyPage(() => import("./pages/instances/InstanceFiles.tsx"), "InstanceFiles"),
});
const instanceLogs = createRoute({
  getParentRoute: () => instance,
  path: "logs",
  validateSearch: searchOf({ q: text }),
  component: lazyPage(() => import("./pages/instances/InstanceLogs.tsx"), "InstanceLogs"),
});
const instanceEvents = createRoute({
  getParentRoute: () => instance,
  path: "events",
  component: lazyPage(() => import("./pages/instances/InstanceEvents.tsx"), "InstanceEvents"),
});
const instanceCharges = createRoute({
  getParentRoute: () => instance,
  path: "charges",
  component: lazyPage(() => import("./pages/instances/InstanceCharges.tsx"), "InstanceCharges"),
});
const instanceSettings = createRoute({
  getParentRoute: () => instance,
  path: "settings",
  component: lazyPage(() => import("./pages/instances/InstanceSettings.tsx"), "InstanceSettings"),
});

// Money
const money = createRoute({
  getParentRoute: () => frame,
  path: "money",
  validateSearch: searchOf({ by: text, days: whole }),
  component: lazyPage(() => import("./pages/money/Overview.tsx"), "Overview"),
});
const charges = createRoute({
  getParentRoute: () => frame,
  path: "money/charges",
  validateSearch: searchOf({
    ...{ from: text, to: text, kind: text, view: text, instance: whole, after: text },
  }),
  component: lazyPage(() => import("./pages/money/Charges.tsx"), "Charges"),
});
const invoices = createRoute({
  getParentRoute: () => frame,
  path: "money/invoices",
  validateSearch: searchOf({ document: text, after: text }),
  component: lazyPage(() => import("./pages/money/Invoices.tsx"), "Invoices"),
});
const limits = createRoute({
  getParentRoute: () => frame,
  path: "money/limits",
  component: lazyPage(() => import("./pages/money/Limits.tsx"), "Limits"),
});
const topUp = createRoute({
  getParentRoute: () => frame,
  path: "money/top-up",
  component: lazyPage(() => import("./pages/money/TopUp.tsx"), "TopUp"),
});

// Host
const hostMachines = createRoute({
  getParentRoute: () => frame,
  path: "host/machines",
  component: lazyPage(() => import("./pages/host/Machines.tsx"), "Machines"),
});
const hostMachine = createRoute({
  getParentRoute: () => frame,
  path: "host/machines/$id",
  validateSearch: searchOf({ hours: whole }),
  component: lazyPage(() => import("./pages/host/Machine.tsx"), "Machine"),
});
const earnings = createRoute({
  getParentRoute: () => frame,
  path: "host/earnings",
  validateSearch: searchOf({ days: whole }),
  component: lazyPage(() => import("./pages/host/Earnings.tsx"), "Earnings"),
});
const payouts = createRoute({
  getParentRoute: () => frame,
  path: "host/payouts",
  component: lazyPage(() => import("./pages/host/Payouts.tsx"), "Payouts"),
});
const join = createRoute({
  getParentRoute: () => frame,
  path: "host/join",
  validateSearch: searchOf({ token: whole }),
  component: lazyPage(() => import("./pages/host/Join.tsx"), "Join"),
});

// Account
const team = createRoute({
  getParentRoute: () => frame,
  path: "team",
  component: lazyPage(() => import("./pages/team/Team.tsx"), "Team"),
});
const profile = createRoute({
  getParentRoute: () => frame,
  path: "account",
  component: lazyPage(() => import("./pages/account/Profile.tsx"), "Profile"),
});
const keys = createRoute({
  getParentRoute: () => frame,
  path: "account/keys",
  component: lazyPage(() => import("./pages/account/Keys.tsx"), "Keys"),
});
const sshKeys = createRoute({
  getParentRoute: () => frame,
  path: "account/ssh-keys",
  component: lazyPage(() => import("./pages/account/SshKeys.tsx"), "SshKeys"),
});
const secrets = createRoute({
  getParentRoute: () => frame,
  path: "account/secrets",
  component: lazyPage(() => import("./pages/account/Secrets.tsx"), "Secrets"),
});
const security = createRoute({
  getParentRoute: () => frame,
  path: "account/security",
  component: lazyPage(() => import("./pages/account/Security.tsx"), "Security"),
});
const sessions = createRoute({
  getParentRoute: () => frame,
  path: "account/sessions",
  component: lazyPage(() => import("./pages/account/Sessions.tsx"), "Sessions"),
});
const notifications = createRoute({
  getParentRoute: () => frame,
  path: "account/notifications",
  component: lazyPage(() => import("./pages/account/Notifications.tsx"), "Notifications"),
});
const preferences = createRoute({
  getParentRoute: () => frame,
  path: "account/notifications/preferences",
  component: lazyPage(() => import("./pages/account/Preferences.tsx"), "Preferences"),
});
const webhooks = createRoute({
  getParentRoute: () => frame,
  path: "account/notifications/webhooks",
  component: lazyPage(() => import("./pages/account/Webhooks.tsx"), "Webhooks"),
});
const auditLog = createRoute({
  getParentRoute: () => frame,
  path: "account/audit-log",
  validateSearch: searchOf({ action: text, address: text, person: whole, after: text }),
  component: lazyPage(() => import("./pages/account/AuditLog.tsx"), "AuditLog"),
});
const schedules = createRoute({
  getParentRoute: () => frame,
  path: "account/schedules",
  component: lazyPage(() => import("./pages/account/Schedules.tsx"), "Schedules"),
});

// Operate
const operate = createRoute({
  getParentRoute: () => frame,
  path: "operate",
  component: lazyPage(() => import("./pages/operate/Market.tsx"), "Market"),
});
const operateSearch = createRoute({
  getParentRoute: () => frame,
  path: "operate/search",
  validateSearch: searches.search,
  component: lazyPage(() => import("./pages/operate/Search.tsx"), "Search"),
});
const users = createRoute({
  getParentRoute: () => frame,
  path: "operate/users",
  validateSearch: searches.users,
  component: lazyPage(() => import("./pages/operate/Users.tsx"), "Users"),
});
const user = createRoute({
  getParentRoute: () => frame,
  path: "operate/users/$id",
  component: lazyPage(() => import("./pages/operate/User.tsx"), "User"),
});
const machines = createRoute({
  getParentRoute: () => frame,
  path: "operate/machines",
  validateSearch: searches.machines,
  component: lazyPage(() => import("./pages/operate/Machines.tsx"), "Machines"),
});
const operateInvitations = createRoute({
  getParentRoute: () => frame,
  path: "operate/invitations",
  component: lazyPage(() => import("./pages/operate/Invitations.tsx"), "Invitations"),
});
const operateInstances = createRoute({
  getParentRoute: () => frame,
  path: "operate/instances",
  validateSearch: searches.instances,
  component: lazyPage(() => import("./pages/operate/Instances.tsx"), "Instances"),
});
const operateMoney = createRoute({
  getParentRoute: () => frame,
  path: "operate/money",
  component: lazyPage(() => import("./pages/operate/Money.tsx"), "Money"),
});
const loops = createRoute({
  getParentRoute: () => frame,
  path: "operate/loops",
  component: lazyPage(() => import("./pages/operate/Loops.tsx"), "Loops"),
});
const reports = createRoute({
  getParentRoute: () => frame,
  path: "operate/reports",
  validateSearch: searches.reports,
  component: lazyPage(() => import("./pages/operate/Reports.tsx"), "Reports"),
});
const announcements = createRoute({
  getParentRoute: () => frame,
  path: "operate/announcements",
  validateSearch: searches.announcements,
  component: lazyPage(() => import("./pages/operate/Announcements.tsx"), "Announcements"),
});
const settings = createRoute({
  getParentRoute: () => frame,
  path: "operate/settings",
  validateSearch: searches.settings,
  component: lazyPage(() => import("./pages/operate/Settings.tsx"), "Settings"),
});

// Help
const help = createRoute({
  getParentRoute: () => frame,
  path: "help",
  validateSearch: searchOf({ q: text }),
  component: lazyPage(() => import("./pages/help/Help.tsx"), "Help"),
});
const helpPage = createRoute({
  getParentRoute: () => frame,
  path: "help/$page",
  loader: ({ params }) => helpPageOf(params.page),
  component: lazyPage(() => import("./pages/help/Page.tsx"), "Page"),
});
const helpReference = createRoute({
  getParentRoute: () => frame,
  path: "help/reference",
  validateSearch: searchOf({ q: text, operation: text }),
  component: lazyPage(() => import("./pages/help/Reference.tsx"), "Reference"),
});

const operatePages = [
  operate,
  operateSearch,
  users,
  user,
  machines,
  operateInvitations,
  operateInstances,
  operateMoney,
  loops,
  reports,
  announcements,
  settings,
] as const;
const accountPages = [
  profile,
  keys,
  sshKeys,
  secrets,
  security,
  sessions,
  notifications,
  preferences,
  webhooks,
  auditLog,
  schedules,
] as const;
const rentPages = [home, market, instances, queue, templates, template, volumes] as const;
const helpPages = [help, helpPage, helpReference] as const;
const hostPages = [hostMachines, hostMachine, earnings, payouts, join] as const;
const moneyPages = [money, charges, invoices, limits, topUp] as const;
/** The tree; start-router.ts makes the router of it. */
export const tree = root.addChildren([
  outer.addChildren([signIn, signUp, reset]),
  frame.addChildren([
    ...rentPages,
    instance.addChildren([
      instanceOverview,
      instanceTerminal,
      instanceFiles,
      instanceLogs,
      instanceEvents,
      instanceCharges,
      instanceSettings,
    ]),
    ...serveRoutes,
    ...moneyPages,
    ...hostPages,
    team,
    ...accountPages,
    ...operatePages,
    ...helpPages,
  ]),
]);
