import { Type } from "typebox";
import { model } from "../../../http/model.ts";
import type { HttpScope } from "../../../http/server.ts";

/** A setting of this server. */
export type SettingInForce = {
  readonly name: string;
  readonly meaning: string;
  readonly byDefault: string;
  /** The option of `./berth up` that sets it as well. */
  readonly option: string | undefined;
  readonly isSecret: boolean;
  readonly isShared: boolean;
  readonly isSet: boolean;
  /** The value in force; undefined for a secret. */
  readonly value: string | undefined;
};

const text = (description: string, example: string) => Type.String({ description, examples: [example] });

const SettingsResponse = Type.Object({
  success: Type.Literal(true),
  settings: Type.Array(
    model("Setting", {
      name: text("Environment variable of the setting", "BERTH_LEASE_SECONDS"),
      meaning: text("Meaning in a phrase", "Seconds for which a host may be cut off"),
      value: Type.Union([Type.String(), Type.Null()], {
        description: "Value in force; null for a secret",
        examples: ["600"],
      }),
      set_by: Type.Union([Type.Literal("environment"), Type.Literal("default")], {
        description: "`environment` for a value that the environment or an option of `./berth up` gave, else `default`",
        examples: ["default"],
      }),
      by_default: text("Value when the setting is not given", "600"),
      option: Type.Union([Type.String(), Type.Null()], {
        description: "Option of `./berth up` that sets it; null without one",
        examples: [null],
      }),
      is_secret: Type.Boolean({ description: "True when the value is never shown", examples: [false] }),
      is_shared: Type.Boolean({
        description: "True when all servers of one database must have the same value",
        examples: [true],
      }),
    }),
    { description: "Settings of the server that answers" },
  ),
});

/** The route that shows settings as they are in force. */
export function settingRoutes({ app }: HttpScope, listSettings: () => readonly SettingInForce[]): void {
  app.get(
    "/api/v0/admin/settings/",
    {
      config: { access: { operation: "api.admin.settings", permission: "admin" } },
      schema: {
        tags: ["Administration"],
        summary: "Show settings as they are in force",
        response: { 200: SettingsResponse },
      },
    },
    async () => ({
      success: true as const,
      settings: listSettings().map(({ name, meaning, value, byDefault, option, isSet, isSecret, isShared }) => ({
        ...{ name, meaning, value: value ?? null, by_default: byDefault, option: option ?? null },
        set_by: isSet ? ("environment" as const) : ("default" as const),
        ...{ is_secret: isSecret, is_shared: isShared },
      })),
    }),
  );
}
