import { epochSeconds } from "../../../base/clock.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { requireUser, resolveUserId } from "../../people/accounts/index.ts";
import { balanceOf, sumEarningsOf } from "../../money/ledger/index.ts";
import { readFeeDue } from "../../money/payments/index.ts";
import { planDays } from "./rules/earnings.ts";
import { listReliability } from "./earnings/earnings-service.ts";
import { earningsRoutes } from "./earnings/earnings-routes.ts";
import { listingRoutes } from "./listing-routes.ts";
import { machineErrorRoutes } from "./machine-error-routes.ts";
import { maintenanceBatchRoutes } from "./maintenances/maintenance-routes.ts";
import { outlookRoutes } from "./outlook/outlook-routes.ts";
import { machinePageRoutes } from "./pages/machine-page-routes.ts";
import { callerMachineActions } from "./machine-actions.ts";
import { showMachines } from "./machine-service.ts";
import { readMachineIds, toMachineId } from "./own-machine.ts";
import { audited, requestOf, SUCCESS, TAGS } from "./route-ports.ts";
import {
  CancelResponse,
  CleanupResponse,
  Done,
  EarningsParams,
  EarningsQuery,
  EarningsResponse,
  IdParams,
  MachineResponse,
  MachinesQuery,
  MachinesResponse,
  MaintenanceBody,
  MaintenanceResponse,
  MaintenancesQuery,
  MaintenancesResponse,
  ReportBody,
  ReportsResponse,
} from "./schema.ts";
import {
  cancelMaintenance,
  cleanUp,
  deleteMachine,
  listMaintenancesFor,
  reportMachine,
  scheduleMaintenance,
  showReports,
} from "./upkeep-service.ts";
import { viewEarnings, viewMachine, viewMaintenance, viewReport } from "./views.ts";

/** Routes for hosts' machines, and for renters' maintenances and reports. */
export function hostingRoutes(scope: HttpScope, { encryption }: { readonly encryption: Encryption }): void {
  readingRoutes(scope, encryption);
  machineErrorRoutes(scope);
  outlookRoutes(scope);
  listingRoutes(scope, encryption);
  machinePageRoutes(scope, encryption);
  maintenanceRoutes(scope);
  maintenanceBatchRoutes(scope);
  upkeepRoutes(scope);
  reportRoutes(scope);
  earningsRoute(scope);
  earningsRoutes(scope);
}

function readingRoutes({ accessOf, app, database, clock }: HttpScope, encryption: Encryption): void {
  app.get(
    "/api/v0/machines/",
    {
      config: { access: { operation: "api.machine.list", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "Show own machines",
        querystring: MachinesQuery,
        response: { 200: MachinesResponse },
      },
    },
    async (request) => {
      const identity = identityOf(request);
      const hostId = await resolveUserId(database.kysely, identity, request.query.user_id ?? "me");
      const now = clock.now();
      const shown = await showMachines(database.kysely, hostId, { now, encryption });
      const forCaller = callerMachineActions(identity, accessOf);
      return { machines: shown.map((one) => forCaller(viewMachine(one, now))) };
    },
  );
  app.get(
    "/api/v0/machines/:id/",
    {
      config: { access: { operation: "api.machine.show", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "Show one own machine: a list of one, or of none",
        params: IdParams,
        response: { 200: MachineResponse },
      },
    },
    async (request) => {
      const only = toMachineId(request.params.id);
      if (only === undefined) return [];
      const now = clock.now();
      const identity = identityOf(request);
      const shown = await showMachines(database.kysely, identity.userId, { now, only, encryption });
      const forCaller = callerMachineActions(identity, accessOf);
      return shown.map((one) => forCaller(viewMachine(one, now)));
    },
  );
}

function maintenanceRoutes(scope: HttpScope): void {
  const { app, database, clock } = scope;
  const change = audited(scope);
  app.get(
    "/api/v0/machines/maintenances/",
    {
      config: { access: { operation: "api.machine.maintenances", permission: "instance_read" } },
      schema: {
        tags: TAGS,
        summary: "Show maintenances of machines that one hosts or rents on",
        querystring: MaintenancesQuery,
        response: { 200: MaintenancesResponse },
      },
    },
    async (request) => {
      const { machine_ids: text } = request.query;
      const machineIds = text === undefined ? undefined : readMachineIds(text);
      const { userId } = identityOf(request);
      const found = await listMaintenancesFor(database.kysely, userId, { machineIds, now: clock.now() });
      return found.map(viewMaintenance);
    },
  );
  app.put(
    "/api/v0/machines/:id/dnotify/",
    {
      config: { access: { operation: "api.machine.schedule_maintenance", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Announce a maintenance of an own machine",
        params: IdParams,
        body: MaintenanceBody,
        response: { 200: MaintenanceResponse },
      },
    },
    (request) =>
      change(request, { ...request.params, sdate: request.body.sdate }, async (tx) => {
        const { renterCount: count } = await scheduleMaintenance(tx, requestOf(request), request.body);
        const sent = `${count} ${count === 1 ? "notification" : "notifications"} sent`;
        return { ...SUCCESS, you_sent: sent, machine_id: request.params.id, notifications_sent: count };
      }),
  );
  app.put(
    "/api/v0/machines/:id/cancel_maint/",
    {
      config: { access: { operation: "api.machine.cancel_maintenance", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Cancel all maintenances of an own machine",
        params: IdParams,
        response: { 200: CancelResponse },
      },
    },
    (request) =>
      change(request, request.params, async (tx) => {
        const { machineId, cancelled } = await cancelMaintenance(tx, requestOf(request));
        const msg = `deleted ${cancelled} scheduled maintenance window(s) on machine ${machineId}`;
        return { ...SUCCESS, ctime: epochSeconds(tx.now), machine_id: machineId, msg };
      }),
  );
}

function upkeepRoutes(scope: HttpScope): void {
  const { app } = scope;
  const change = audited(scope);
  app.put(
    "/api/v0/machines/:id/cleanup/",
    {
      config: { access: { operation: "api.machine.cleanup", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Remove what expired rentals left on an own machine",
        params: IdParams,
        response: { 200: CleanupResponse },
      },
    },
    (request) =>
      change(request, request.params, async (tx) => {
        const { machineId, deleted } = await cleanUp(tx, requestOf(request));
        return {
          ...SUCCESS,
          ctime: epochSeconds(tx.now),
          machine_id: machineId,
          user_id: identityOf(request).userId,
          num_deleted: deleted,
          msg: `deleted ${deleted} expired contracts on machine ${machineId}`,
        };
      }),
  );
  app.post(
    "/api/v0/machines/:id/force_delete/",
    {
      config: { access: { operation: "api.machine.force_delete", permission: "machine_write" } },
      schema: { tags: TAGS, summary: "Delete an own machine", params: IdParams, response: { 200: Done } },
    },
    (request) =>
      change(request, request.params, async (tx) => {
        await deleteMachine(tx, requestOf(request));
        return { ...SUCCESS, msg: `Machine ${request.params.id} is deleted.` };
      }),
  );
}

function reportRoutes(scope: HttpScope): void {
  const { app, database } = scope;
  app.get(
    "/api/v0/machines/:id/reports/",
    {
      config: { access: { operation: "api.machine.reports", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "Show what renters reported of an own machine",
        params: IdParams,
        response: { 200: ReportsResponse },
      },
    },
    async (request) => (await showReports(database.kysely, requestOf(request))).map(viewReport),
  );
  app.put(
    "/api/v0/machines/:id/report/",
    {
      config: { access: { operation: "api.machine.report", permission: "instance_write" } },
      schema: {
        tags: TAGS,
        summary: "Report a problem of a machine on which one rents, or did",
        params: IdParams,
        body: ReportBody,
        response: { 200: Done },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { problem, message = "" } = request.body;
        await reportMachine(tx, identityOf(request).userId, { machineId: request.params.id, problem, message });
        return { ...SUCCESS, msg: "Thank you: its host sees the report." };
      }),
  );
}

function earningsRoute({ app, database, clock }: HttpScope): void {
  app.get(
    "/api/v0/users/:user_id/machine-earnings/",
    {
      config: { access: { operation: "api.machine.earnings", permission: "billing_read" } },
      schema: {
        tags: TAGS,
        summary: "Show what machines earned, by day and machine",
        params: EarningsParams,
        querystring: EarningsQuery,
        response: { 200: EarningsResponse },
      },
    },
    async (request) => {
      const db = database.kysely;
      const userId = await resolveUserId(db, identityOf(request), request.params.user_id);
      const { machid, ...query } = request.query;
      const days = planDays(query, clock.now());
      const machineId = machid === undefined ? undefined : toMachineId(machid);
      const [user, sums, reliability, earnings, credit, { fee }] = await Promise.all([
        requireUser(db, userId),
        sumEarningsOf(db, userId, { ...days, machineId }),
        listReliability(db, userId, machineId),
        balanceOf(db, userId, "earnings"),
        balanceOf(db, userId),
        readFeeDue(db, userId),
      ]);
      const current = { balance: earnings.balance, fee, credit: credit.available };
      return viewEarnings(user, { days, sums, reliability, current });
    },
  );
}
