import { Type } from "typebox";

export const EventsQuery = Type.Object({
  kinds: Type.Optional(Type.String({ maxLength: 200 })),
  follow: Type.Optional(Type.Boolean()),
  last_event_id: Type.Optional(Type.String({ maxLength: 40 })),
});
