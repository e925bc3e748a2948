import { Type, type Static } from "typebox";
import { MAX_ID } from "../../../base/ids.ts";
import { model } from "../../../http/model.ts";

const START = 1_767_225_600;
const Success = Type.Literal(true);
const SECONDS_MAX = 253_402_300_799;

const LEVEL = Type.Union([Type.Literal("info"), Type.Literal("warning")], {
  description: "`info`, or `warning` for what people should not overlook",
  examples: ["info"],
});
const AUDIENCE = Type.Union([Type.Literal("everyone"), Type.Literal("hosts"), Type.Literal("renters")], {
  description: "People who see it: `everyone`, `hosts` or `renters`; only `everyone` is shown without a key",
  examples: ["everyone"],
});
const title = { minLength: 1, maxLength: 120, description: "Title as plain text", examples: ["Maintenance on Sunday"] };
const message = {
  minLength: 1,
  maxLength: 2000,
  description: "Message as plain text",
  examples: ["The console is away for ten minutes from 02:00 UTC. Instances run on."],
};
const seconds = (description: string, example: number | null) => ({
  minimum: 0,
  maximum: SECONDS_MAX,
  description,
  examples: [example],
});

export const AnnouncementParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: MAX_ID }) });

export const CreateBody = Type.Object({
  title: Type.String(title),
  message: Type.String(message),
  level: Type.Optional(LEVEL),
  audience: Type.Optional(AUDIENCE),
  from: Type.Optional(
    Type.Number(seconds("Time from which it is shown, in seconds since the epoch; now by default", START)),
  ),
  until: Type.Optional(
    Type.Number(seconds("Time at which it ends, in seconds since the epoch; no end by default", START + 86_400)),
  ),
});
export const UpdateBody = Type.Partial(CreateBody);
export type UpdateBody = Static<typeof UpdateBody>;

const SHOWN = {
  id: Type.Integer({ description: "Id of the announcement", examples: [3] }),
  title: Type.String(title),
  message: Type.String(message),
  level: LEVEL,
  from: Type.Number(seconds("Time from which it is shown, in seconds since the epoch", START)),
  until: Type.Union([Type.Number(), Type.Null()], {
    description: "Time at which it ends, in seconds since the epoch; null without an end",
    examples: [START + 86_400],
  }),
};

export const ShownResponse = Type.Object({
  success: Success,
  announcements: Type.Array(model("Announcement", SHOWN), {
    description: "Announcements whose time it is, warnings first, then the newest; 20 at most",
  }),
});

export const ListResponse = Type.Object({
  success: Success,
  announcements: Type.Array(
    model("AdminAnnouncement", {
      ...SHOWN,
      audience: AUDIENCE,
      is_shown: Type.Boolean({ description: "True while it is shown", examples: [true] }),
      created_by: Type.Integer({ description: "Id of the administrator who wrote it", examples: [1] }),
      created_at: Type.Number(),
      updated_at: Type.Number(),
    }),
    { description: "Announcements of all times, the newest first; 200 at most" },
  ),
});

export const AnnouncedResponse = Type.Object({
  success: Success,
  id: Type.Integer({ description: "Id of the announcement", examples: [3] }),
});
