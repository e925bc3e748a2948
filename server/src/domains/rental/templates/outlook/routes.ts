import { parseId, type TemplateId } from "../../../../base/ids.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { conditionsOf, countByCondition, queryOf, refusalSentence, type Wish } from "../rules/outlook.ts";
import { resolveTemplateById } from "../service.ts";
import { Outlook, OutlookPath, OutlookQuery } from "./schema.ts";

type Query = Readonly<Record<string, unknown>>;

/** An offer as the outlook shows it. */
type FoundOffer = {
  readonly id: number;
  readonly machine_id: number;
  readonly gpu_name: string;
  readonly num_gpus: number;
  readonly dph_total: number;
  readonly disk_space: number;
  readonly geolocation: string | null;
};

export type OutlookPorts = {
  readonly encryption: Encryption;
  readonly countOffers: (query: Query) => number;
  readonly search: (query: Query) => readonly FoundOffer[];
};

const SHOWN = 5;

/** Says whether a template would start now, where and at what price. */
export function templateOutlookRoutes({ app, database }: HttpScope, { encryption, countOffers, search }: OutlookPorts) {
  app.get(
    "/api/v0/template/:id/outlook/",
    {
      config: { access: { operation: "api.template.outlook", permission: "user_read" } },
      schema: {
        summary: "Say whether a template would start now, where and at what price",
        tags: ["Templates"],
        params: OutlookPath,
        querystring: OutlookQuery,
        response: { 200: Outlook },
      },
    },
    async (request) => {
      const { type = "ondemand", num_gpus: gpuCount, gpu_name: gpuName, disk } = request.query;
      const wish: Wish = { type, gpuCount, gpuName, diskGb: disk };
      const id = parseId<TemplateId>(request.params.id);
      const template = await resolveTemplateById(database.kysely, identityOf(request).userId, id ?? 0, encryption);
      const diskGb = disk ?? template.content.recommended_disk_space;
      const conditions = conditionsOf(template.content, wish);
      const { offers, matching, refusals } = countByCondition(conditions, type, countOffers);
      const order = [["dph_total", "asc"]];
      const found = search({ ...queryOf(conditions, type), allocated_storage: diskGb, order, limit: SHOWN });
      return {
        success: true as const,
        template_id: template.id,
        hash_id: template.hashId,
        disk: diskGb,
        would_start: matching > 0,
        offers,
        matching,
        cheapest: found.map((offer) => ({
          ask_id: offer.id,
          machine_id: offer.machine_id,
          gpu_name: offer.gpu_name,
          num_gpus: offer.num_gpus,
          dph_total: offer.dph_total,
          disk_space: offer.disk_space,
          geolocation: offer.geolocation,
        })),
        refused: refusals.map((one) => ({ ...one, wanted: { ...one.wanted }, msg: refusalSentence(one, offers) })),
      };
    },
  );
}
