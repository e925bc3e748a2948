import { Type, type Static } from "typebox";
import { model } from "../../../http/model.ts";

const UNTIL = 1_767_225_600;
const SECONDS_MAX = 253_402_300_799;

const message = {
  minLength: 1,
  maxLength: 500,
  description: "Sentence that says why, which everybody reads",
  examples: ["We move to a larger database."],
};
const until = {
  minimum: 0,
  maximum: SECONDS_MAX,
  description: "Time at which the pause ends by itself, in seconds since the epoch; at most seven days after it begins",
  examples: [UNTIL],
};

export const PauseBody = Type.Object({
  message: Type.String(message),
  from: Type.Optional(
    Type.Number({
      ...until,
      description: "Time at which the pause begins, in seconds since the epoch; now by default",
      examples: [UNTIL - 1800],
    }),
  ),
  until: Type.Number(until),
});
export type PauseBody = Static<typeof PauseBody>;

const Pause = model("ServicePause", {
  id: Type.Integer({ description: "Id of the pause", examples: [2] }),
  message: Type.String(message),
  from: Type.Number({ description: "Time at which it begins, in seconds since the epoch", examples: [UNTIL - 1800] }),
  until: Type.Number(until),
  ended_at: Type.Union([Type.Number(), Type.Null()], {
    description: "Time at which an administrator ended it early, in seconds since the epoch; null when none did",
    examples: [null],
  }),
  started_by: Type.Integer({ description: "Id of the administrator who began it", examples: [1] }),
});

export const PausesResponse = Type.Object({
  success: Type.Literal(true),
  is_paused: Type.Boolean({ description: "True while the service is paused", examples: [false] }),
  pauses: Type.Array(Pause, { description: "Pauses of all times, the newest first; 50 at most" }),
});

export const PausedResponse = Type.Object({
  success: Type.Literal(true),
  id: Type.Integer({ description: "Id of the pause", examples: [2] }),
});
