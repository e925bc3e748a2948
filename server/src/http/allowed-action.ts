import { Type } from "typebox";
import { model } from "./model.ts";

/** An action that a thing accepts now, or the reason why it does not (base/allowed-action.ts). */
export const Allowed = model("AllowedAction", { allowed: Type.Boolean(), reason: Type.Optional(Type.String()) });
