import { Type } from "typebox";

export const FollowQuery = Type.Object({
  tail: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
  follow: Type.Optional(Type.Boolean()),
  last_event_id: Type.Optional(Type.String({ maxLength: 40 })),
});
